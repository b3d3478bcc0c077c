package apply

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// chaosScene is one answer applied to one repository.
type chaosScene struct {
	name  string
	setUp func(t *testing.T) (repo, Options)
}

func chaosScenes() []chaosScene {
	return []chaosScene{
		{"triage", func(t *testing.T) (repo, Options) {
			t.Helper()
			return newRepo(t), options(t, task.Triage, answerOf(t, map[string]any{
				"duplicates": []any{map[string]any{"number": 3, "confidence": "high", "reason": "the same"}},
				"related":    []any{map[string]any{"kind": "issue", "number": 4, "reason": "near"}},
			}))
		}},
		{"follow-up", func(t *testing.T) (repo, Options) {
			t.Helper()
			r := newRepo(t)
			if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil {
				t.Fatal(err)
			}
			o := options(t, task.FollowUp, followUpAnswer)
			o.Comment = r.AddComment(7, "alice", "It is 1.2")
			return r, o
		}},
		{"maintainer-reply", func(t *testing.T) (repo, Options) {
			t.Helper()
			r := newRepo(t)
			o := options(t, task.MaintainerReply, `{"waiting_for_reporter":true,"reason":"asks"}`)
			o.Comment = r.AddComment(7, "mona", "Which version?")
			return r, o
		}},
		{"release-reply", func(t *testing.T) (repo, Options) {
			t.Helper()
			r := newRepo(t)
			r.AddIssue(ghapi.Issue{Number: 8, State: "closed", StateReason: "completed", Author: ghapi.User{Login: "alice"}})
			r.issue = 8
			o := options(t, task.ReleaseReply, `{"language":"en","problem_persists":true,"reason":"still"}`)
			o.Issue, o.Comment = 8, r.AddComment(8, "alice", "still broken")
			return r, o
		}},
	}
}

// end is what must be the same whatever failed in between: state, labels and the assistant's comments.
func (r repo) end() string {
	i, _ := r.Issue(r.issue)
	var b strings.Builder
	b.WriteString(i.State + " " + strings.Join(r.labels(), ",") + "\n")
	for _, c := range r.own() {
		b.WriteString(answered.ReplaceAllString(c.Body, "N") + "\n")
	}
	return b.String()
}

// answered are ids of comments, which differ between servers that counted other requests.
var answered = regexp.MustCompile(`\b(to|read)=[0-9]+`)

// Faults at random requests, then a clean re-run: one comment, no label lost, no write sent more than twice in a run,
// and the same end as without faults. CHAOS_SEEDS sets how many seeds; the short form has 60.
func TestChaos(t *testing.T) {
	t.Parallel()
	seeds := 60
	if text := os.Getenv("CHAOS_SEEDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	for _, scene := range chaosScenes() {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			clean, o := scene.setUp(t)
			if _, err := clean.apply(t, o); err != nil {
				t.Fatal(err)
			}
			want := clean.end()
			broken := 0
			for seed := range seeds {
				r, o := scene.setUp(t)
				before := len(r.own())
				r.Chaos(uint64(seed), 0.05+0.4*float64(seed%5)/5)
				r.ClearLog()
				if res, err := r.apply(t, o); err != nil || len(res.Warnings) > 0 {
					broken++
				}
				twiceAtMost(t, r, seed)
				r.Calm()
				if _, err := r.apply(t, o); err != nil {
					t.Fatalf("seed %d: the clean re-run: %v", seed, err)
				}
				if diff := cmp.Diff(want, r.end()); diff != "" {
					t.Fatalf("seed %d: %s", seed, diff)
				}
				if scene.name != "maintainer-reply" && len(r.own()) != before+1 {
					t.Fatalf("seed %d: %d comments", seed, len(r.own())-before)
				}
				checked(t, r)
			}
			if broken == 0 {
				t.Error("no fault had an effect: this shows nothing")
			}
		})
	}
}

func twiceAtMost(t *testing.T, r repo, seed int) {
	t.Helper()
	sent := map[string]int{}
	for _, q := range r.Log() {
		if q.Write() {
			sent[q.Method+" "+q.Path+" "+q.Body]++
		}
	}
	for what, n := range sent {
		if n > 2 {
			t.Fatalf("seed %d: sent %d times: %s", seed, n, what)
		}
	}
}

// checked holds every comment of the assistant against the checker.
func checked(t *testing.T, r repo) {
	t.Helper()
	for _, c := range r.own() {
		m, ok := comment.ParseMarker(c.Body)
		if !ok {
			t.Fatalf("a comment without its marker: %s", c.Body)
		}
		p := sanitize.Policy{Owner: "octo", Repo: "demo", Reporter: "alice", Issues: map[int]bool{3: true, 4: true}, Template: []string{m.String()}}
		for line := range strings.Lines(c.Body) {
			if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "### ") || strings.HasPrefix(line, "> [!") {
				p.Template = append(p.Template, line)
			}
		}
		if problems := sanitize.CheckComment(c.Body, p); len(problems) > 0 {
			t.Fatalf("%v in %s", problems, c.Body)
		}
		if found := sanitize.FindSecrets(c.Body, nil); len(found) > 0 {
			t.Fatalf("%v in %s", found, c.Body)
		}
	}
}
