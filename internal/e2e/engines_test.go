package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// TestTriageWithEachEngine: the three real command lines, given the same answer, end with the same comment; each
// provider saw the rules as system prompt and the task as prompt, and no other command saw the key.
func TestTriageWithEachEngine(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	bodies := map[string]int{}
	t.Cleanup(func() { // when all have ended
		if len(bodies) > 1 {
			t.Errorf("the comments differ: %v", bodies)
		}
	})
	for _, name := range engineNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := triageWith(t, name)
			mu.Lock()
			defer mu.Unlock()
			bodies[body]++
		})
	}
}

// triageWith returns the comment, without the name of the engine.
func triageWith(t *testing.T, name string) string {
	t.Helper()
	c := engineOf(t, name, answers(triage(nil)))
	w := newWorldOf(t, c, c.settings(""))
	r := w.run(t, start{event: "issues", payload: w.opened()})
	if r.code != 0 || !cmp.Equal(r.jobs, map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"}) {
		t.Errorf("rc %d, jobs %v", r.code, r.jobs)
	}
	if got := w.commands(t); got != "event engine context run usage apply" {
		t.Errorf("commands: %s", got)
	}
	comments := w.gh.Comments(number)
	if len(comments) != 1 {
		t.Fatalf("comments: %+v", comments)
	}
	issue, _ := w.gh.Issue(number)
	slices.Sort(issue.Labels)
	if diff := cmp.Diff([]string{"bug", "needs-triage"}, issue.Labels); diff != "" {
		t.Error(diff)
	}
	line := regexp.MustCompile(`^\*\*triage\*\* of #12 · ` + regexp.QuoteMeta(c.model) + ` · finished · 2 of 40 turns · (<1|\d+)s · \$0\.\d\d of \$1\.00 · .* out$`)
	if lines := r.lines("Analyze"); len(lines) != 1 || !line.MatchString(lines[0]) {
		t.Errorf("summary of analyze: %q", lines)
	}
	if os.Geteuid() == 0 && !strings.Contains(r.log, "the engine runs as another user") {
		t.Error("the engine ran as root")
	}
	c.checkCalls(t)
	w.checkKey(t)
	files := w.artifact(t, 4711, "issue-assistant-usage-1")
	if record := string(files[ledger.RecordFile]); !strings.Contains(record, `"engine":"`+c.engine+`"`) && !strings.Contains(record, `"engine": "`+c.engine+`"`) {
		t.Errorf("record: %s", record)
	}
	if left := w.engines(t); len(left) != 0 {
		t.Errorf("engines still run: %v", left)
	}
	return c.plain(comments[0].Body)
}

// checkCalls holds what a provider saw of a triage in two calls: rules in the system prompt, the task in the prompt, the
// issue only as the result of a tool.
func (c cli) checkCalls(t *testing.T) {
	t.Helper()
	calls := c.calls()
	if len(calls) != 2 {
		t.Fatalf("%d calls of the model", len(calls))
	}
	for i, call := range calls {
		for _, x := range []struct {
			what, hay, text string
			want            bool
		}{
			{"the core rules in system", call.system, "Rules of the issue assistant", true},
			{"the maintainer's rules in system", call.system, rulesWord, true},
			{"the core rules in the prompt", call.user, "Rules of the issue assistant", false},
			{"the maintainer's rules in the prompt", call.user, rulesWord, false},
			{"the task in the prompt", call.user, taskWords, true},
			{"the task in system", call.system, taskWords, false},
			{"the issue in system", call.system, issueWord, false},
			{"the issue in the prompt", call.user, issueWord, false},
			{"the reporter in the prompt", call.user, reporter, false},
			{"the issue as what a tool read", strings.Join(call.results, "\n"), issueWord, i == 1},
			{"the key in the body", call.body, c.key, false},
			{"the token in the body", call.body, theToken, false},
		} {
			if strings.Contains(x.hay, x.text) != x.want {
				t.Errorf("call %d: %s: want %t", i+1, x.what, x.want)
			}
		}
		if !call.bearer {
			t.Errorf("call %d came without the key", i+1)
		}
	}
}
