package lifecycle

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// revertedPull is the pull request of this repository that another one says it reverts; 0: none.
func revertedPull(body, repo string) int {
	m := revertPR().FindStringSubmatch(body)
	if m == nil || m[1] != "" && !strings.EqualFold(m[1], repo) {
		return 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return 0
	}
	return n
}

// Reverts knows which commits were taken back. A revert that was itself reverted counts no more.
type Reverts struct {
	by    map[string][]string // commit, as named, or #pull request -> commits that revert it
	pulls map[string]int      // commit -> the pull request that it merged
}

// Revert is one commit that takes another back.
type Revert struct{ Of, By string }

// revertsOf reads the messages of commits of a repository, and what pull requests said.
func revertsOf(commits []ghapi.Commit, repo string, more ...Revert) Reverts {
	r := Reverts{by: map[string][]string{}, pulls: map[string]int{}}
	for _, c := range commits {
		sha := strings.ToLower(c.SHA)
		for _, of := range named(revertOf, c.Message) {
			r.by[of] = append(r.by[of], sha)
		}
		if strings.Contains(c.Message, "everts ") {
			if n := revertedPull(c.Message, repo); n != 0 {
				r.by[pullKey(n)] = append(r.by[pullKey(n)], sha)
			}
		}
	}
	for _, m := range more {
		r.by[strings.ToLower(m.Of)] = append(r.by[strings.ToLower(m.Of)], strings.ToLower(m.By))
	}
	for _, c := range commits {
		if len(r.by) == 0 {
			break
		}
		if m := mergeOf().FindStringSubmatch(c.Message); m != nil {
			r.pulls[strings.ToLower(c.SHA)], _ = strconv.Atoi(m[1] + m[2]) // at most nine digits
		}
	}
	return r
}

// names reports whether any commit reverts a fix, brought back or not.
func (r Reverts) names(x Fix) bool {
	sha := strings.ToLower(x.Commit)
	for of := range r.by {
		if of[0] != '#' && strings.HasPrefix(sha, of) || x.Pull != 0 && of == pullKey(x.Pull) {
			return true
		}
	}
	return false
}

// and joins what two lists of commits say.
func (r Reverts) and(more Reverts) Reverts {
	out := Reverts{by: maps.Clone(r.by), pulls: maps.Clone(r.pulls)}
	for of, by := range more.by {
		out.by[of] = append(slices.Clone(out.by[of]), by...)
	}
	maps.Copy(out.pulls, more.pulls)
	return out
}

func pullKey(n int) string { return "#" + strconv.Itoa(n) }

// Has reports whether a fix was taken back and not brought back.
func (r Reverts) Has(x Fix) bool {
	return len(r.by) > 0 && r.has(strings.ToLower(x.Commit), x.Pull, map[string]bool{})
}

func (r Reverts) has(sha string, pull int, seen map[string]bool) bool {
	if seen[sha] || len(sha) < 7 { // messages can name each other in a ring
		return false
	}
	seen[sha] = true
	defer delete(seen, sha)
	if pull == 0 {
		pull = r.pulls[sha]
	}
	for of, reverts := range r.by {
		if of[0] == '#' {
			if pull == 0 || of != pullKey(pull) {
				continue
			}
		} else if !strings.HasPrefix(sha, of) {
			continue
		}
		for _, by := range reverts {
			if by != sha && !r.has(by, 0, seen) {
				return true
			}
		}
	}
	return false
}
