package lifecycle

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

var (
	// docs.github.com: "Linking a pull request to an issue", the nine closing keywords.
	closing = lazy.Regexp(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+(\S+)`)
	target  = lazy.Regexp(`^(?:(?:GH-)|([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)?#|https?://[^/\s]+/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/issues/)([0-9]{1,9})\b`)
	// What git revert and git cherry-pick -x write.
	revertOf = lazy.Regexp(`\b[Tt]his reverts commit ([0-9a-fA-F]{7,40})\b`)
	pickOf   = lazy.Regexp(`\(cherry picked from commit ([0-9a-fA-F]{7,40})\)`)
	// What GitHub writes into a pull request that reverts another.
	revertPR = lazy.Regexp(`(?m)^\s*[Rr]everts (?:([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+))?#([0-9]{1,9})\b`)
	// The first line of the commit of a merged or squashed pull request.
	mergeOf = lazy.Regexp(`^(?:Merge pull request #([0-9]{1,9}) |[^\n]*\(#([0-9]{1,9})\)[ \t]*(?:\r?\n|$))`)
)

// Closes lists the issues of this repository that a message closes by GitHub's keywords, each once.
func Closes(message, repo string) []int {
	var out []int
	for _, m := range closing().FindAllStringSubmatch(message, -1) {
		t := target().FindStringSubmatch(m[1])
		if t == nil {
			continue
		}
		if other := t[1] + t[2]; other != "" && !strings.EqualFold(other, repo) {
			continue
		}
		if n, err := strconv.Atoi(t[3]); err == nil && n > 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// named lists the commits that a message names by a pattern. Both patterns hold the word that is looked for first: a
// comparison can bring hundreds of messages, and few name a commit.
func named(pattern func() *regexp.Regexp, message string) []string {
	var out []string
	if !strings.Contains(message, "commit ") {
		return nil
	}
	for _, m := range pattern().FindAllStringSubmatch(message, -1) {
		out = append(out, strings.ToLower(m[1]))
	}
	return out
}

// Standing is how a release stands to a fix.
type Standing int

// The standings.
const (
	Lacks     Standing = iota // the release came without it
	HasIt                     // by the commit itself or by a cherry-pick of it
	TakenBack                 // it came and was reverted before the release
)

// StandingOf reads a comparison whose base is the fix and whose head is the release's tag.
func StandingOf(cmp ghapi.Comparison, repo string, fix Fix) Standing {
	reverts := revertsOf(cmp.Commits, repo)
	out := Lacks
	if cmp.Contains() {
		if !reverts.Has(fix) {
			return HasIt
		}
		out = TakenBack
	}
	sha := strings.ToLower(fix.Commit)
	for _, c := range cmp.Commits {
		for _, from := range named(pickOf, c.Message) {
			if !strings.HasPrefix(sha, from) {
				continue
			}
			if !reverts.Has(Fix{Commit: c.SHA}) {
				return HasIt
			}
			out = TakenBack
		}
	}
	return out
}

// said finds the assistant's comment about a fix.
func (f Facts) said(fix Fix) (Comment, bool) {
	for _, c := range f.own(task.MarkFixed) {
		if fix.Pull != 0 && c.Marker.Pull == fix.Pull || fix.Pull == 0 && strings.EqualFold(c.Marker.Commit, fix.Commit) {
			return c, true
		}
	}
	return Comment{}, false
}

// autoClose is how soon after a merge GitHub closes the issues of a pull request.
const autoClose = time.Hour

// MarkFixed decides about an issue that a fix on the default branch names.
func MarkFixed(f Facts, fix Fix, c config.Lifecycle) Decision {
	if exempt, _ := f.Exempt(c); exempt || !c.CloseWithRelease || f.reopenedAfter(fix.At) {
		return Decision{}
	}
	for _, r := range f.own(task.MarkReleased) {
		if !r.CreatedAt.Before(fix.At) {
			return Decision{} // its release was told already
		}
	}
	labeled, ever := f.lastEvent("labeled", config.LabelFixed, nil)
	since := fix.At
	told, said := f.said(fix)
	if said {
		since = told.CreatedAt
	}
	// Set once: a label that a maintainer took away stays away. Clocks and the order of writes differ by a moment.
	done := f.Issue.HasLabel(config.LabelFixed) || ever && !labeled.CreatedAt.Before(since.Add(-time.Minute))
	if f.Issue.State == "closed" {
		closed := f.Issue.ClosedAt
		byMerge := f.Issue.StateReason != "not_planned" && f.Issue.StateReason != "duplicate" &&
			!closed.Before(fix.At.Add(-autoClose)) && !closed.After(fix.At.Add(autoClose))
		if done || !byMerge || f.closedByUs() {
			return Decision{}
		}
		return Decision{Topic: TopicFixed, Steps: f.add(config.LabelFixed)}
	}
	waits := f.remove(config.LabelNeedsInfo, config.LabelStale)
	if said && done {
		// What broke off is completed; what was asked since the fix still waits.
		waits = slices.DeleteFunc(waits, func(s Step) bool {
			e, ok := f.lastEvent("labeled", s.Label, nil)
			return !ok || e.CreatedAt.After(since)
		})
		if len(waits) == 0 {
			return Decision{}
		}
		return Decision{Topic: TopicFixed, Steps: optional(waits)}
	}
	d := Decision{Topic: TopicFixed}
	if !said {
		d.Steps = append(d.Steps, say(comment.Marker{Kind: task.MarkFixed, Pull: fix.Pull, Commit: fix.Commit}))
	}
	d.Steps = append(d.Steps, f.add(config.LabelFixed)...)
	d.Steps = append(d.Steps, optional(waits)...)
	return d
}

// Known lists the fixes of an issue that count for its release: those of its pull requests and of the assistant's own
// comments, without what was taken back and without what a person did not accept by opening the issue again.
func Known(f Facts, reverts Reverts) (live []Fix, reverted int) {
	all := slices.Clone(f.Fixes)
	for _, c := range f.own(task.MarkFixed) {
		m := c.Marker
		if m.Commit == "" || slices.ContainsFunc(all, func(x Fix) bool { return strings.EqualFold(x.Commit, m.Commit) }) {
			continue
		}
		all = append(all, Fix{Pull: m.Pull, Commit: m.Commit, At: c.CreatedAt, About: true})
	}
	for _, x := range all {
		switch {
		case reverts.Has(x):
			reverted++
		case !f.reopenedAfter(x.At):
			live = append(live, x)
		}
	}
	return live, reverted
}

// Reverted decides about an issue whose fixes were all taken back.
func Reverted(f Facts, c config.Lifecycle, reverts Reverts) Decision {
	live, reverted := Known(f, reverts)
	if exempt, _ := f.Exempt(c); exempt || len(live) > 0 || reverted == 0 || !f.Issue.HasLabel(config.LabelFixed) {
		return Decision{}
	}
	d := Decision{Topic: TopicReverted}
	if f.Issue.State == "open" {
		d.Steps = optional(f.add(config.LabelNeedsTriage))
	}
	d.Steps = append(d.Steps, f.remove(config.LabelFixed)...)
	return d
}

// Candidates are the releases that may hold a fix, oldest first: no drafts, no prereleases, none from before the merge.
func Candidates(releases []ghapi.Release, fixes []Fix) []ghapi.Release {
	var out []ghapi.Release
next:
	for _, r := range releases {
		if r.Draft || r.Prerelease || r.PublishedAt.IsZero() || r.Tag == "" {
			continue
		}
		for _, x := range fixes {
			if !x.About && r.PublishedAt.Before(x.At) {
				continue next
			}
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b ghapi.Release) int { return a.PublishedAt.Compare(b.PublishedAt) })
	return out
}

// Released decides about an issue whose fixes are in a release.
func Released(f Facts, c config.Lifecycle, release ghapi.Release) Decision {
	if exempt, why := f.Exempt(c); exempt {
		return Decision{Topic: TopicExempt, Note: why}
	}
	d := Decision{Topic: TopicReleased}
	m := comment.Marker{Kind: task.MarkReleased, Tag: release.Tag, Since: release.PublishedAt.Unix()}
	told, said := f.notice(task.MarkReleased, release.PublishedAt)
	if said && f.Issue.State == "open" && f.reopenedAfter(told.CreatedAt) {
		return Decision{Topic: TopicReopened, Note: "by a person after the release", Steps: f.remove(config.LabelFixed)}
	}
	if !said {
		d.Steps = append(d.Steps, Step{Verb: VerbComment, Marker: m, Release: release})
	}
	if f.Issue.MilestoneNumber == 0 { // a maintainer's own stays
		d.Steps = append(d.Steps, Step{Verb: VerbMilestone, Release: release, Optional: true})
	}
	if f.Issue.State == "open" {
		d.Steps = append(d.Steps, Step{Verb: VerbClose, Reason: "completed"})
	}
	d.Steps = append(d.Steps, optional(f.remove(config.LabelNeedsTriage, config.LabelNeedsInfo, config.LabelStale))...)
	// The last step: until it is done, the next sweep finds the issue again.
	d.Steps = append(d.Steps, f.remove(config.LabelFixed)...)
	return d
}
