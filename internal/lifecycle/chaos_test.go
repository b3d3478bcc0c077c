package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// world is a rig with a history that the test knows by itself: it never asks the lifecycle what should happen.
type world struct {
	*rig
	rnd    *rand.Rand
	issues []*simulated
	tags   map[string]map[string]bool // release -> hashes whose content it holds
	main   map[string]bool            // hashes whose content the default branch holds
	// branches are tags beside the default branch; what a compare of them says.
	branches map[string][]ghapi.Commit
	nth      int
}

// simulated is what really happened to an issue.
type simulated struct {
	n        int
	exempt   bool
	question time.Time   // of the running period
	answers  []time.Time // of the reporter
	fixes    []string
	byHand   bool
}

// RoundTrip answers compares of tags beside the default branch, which the fake does not know.
func (w *world) RoundTrip(q *http.Request) (*http.Response, error) {
	_, pair, ok := strings.Cut(q.URL.Path, "/compare/")
	if _, tag, _ := strings.Cut(pair, "..."); ok && w.branches[tag] != nil {
		commits := []map[string]any{}
		for _, c := range w.branches[tag] {
			commits = append(commits, map[string]any{"sha": c.SHA, "commit": map[string]any{"message": c.Message}})
		}
		body, err := json.Marshal(map[string]any{"status": "diverged", "ahead_by": len(commits), "behind_by": 9, "commits": commits})
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: q}, err
	}
	return w.Transport().RoundTrip(q)
}

func (w *world) sweepOnce() {
	o := w.ClientOptions()
	o.Sleep, o.HTTP = func(time.Duration) {}, w
	c, err := ghapi.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	lifecycle.Sweep(w.t.Context(), c, lifecycle.Options{
		Config: w.config, Texts: w.texts, Now: w.now, Mode: lifecycle.ModeAll, Writer: func() ghapi.Writer { return ghapi.NewWriter(c) },
	})
	w.now = w.now.Add(time.Minute)
}

func (w *world) say(format string, args ...any) {
	w.t.Errorf("day %s: "+format, append([]any{w.now.Format(time.DateOnly)}, args...)...)
}

// act lets people do something.
func (w *world) act() {
	x := w.issues[w.rnd.IntN(len(w.issues))]
	i := w.get(x.n)
	w.now = w.now.Add(time.Minute)
	switch w.rnd.IntN(14) {
	case 0, 1, 2: // the assistant asks
		if i.State == "open" && !i.HasLabel("needs-info") {
			w.nth++
			w.own(x.n, comment.Marker{Kind: "analysis", Language: []string{"en", "de", "ja"}[w.nth%3], Questions: true}, "Which version?")
			x.question = w.now
			w.now = w.now.Add(20 * time.Second)
			if w.rnd.IntN(6) == 0 { // an answer before the label
				w.AddComment(x.n, "reporter", "Version 3")
				x.answers = append(x.answers, w.now)
				w.now = w.now.Add(20 * time.Second)
			}
			w.LabelAs(x.n, bot, true, "needs-info")
		}
	case 3, 4: // the reporter answers; the event's workflow is lost
		w.AddComment(x.n, "reporter", "Version "+strconv.Itoa(w.nth))
		x.answers = append(x.answers, w.now)
	case 5:
		w.EditIssue(x.n, "reporter", "More facts "+w.now.String())
		x.answers = append(x.answers, w.now)
	case 6:
		w.AddComment(x.n, "reporter", "Thanks!")
	case 7:
		w.AddComment(x.n, "stranger", "Me too")
	case 8: // a maintainer asks by label alone, or takes it away
		on := !i.HasLabel("needs-info")
		w.LabelAs(x.n, "mona", on, "needs-info")
		if on {
			x.question = w.now
		}
	case 9:
		w.AddComment(x.n, "mona", "And the log?")
		x.question = w.now
	case 10: // merged
		_, sha := w.merge("", x.n)
		x.fixes = append(x.fixes, sha)
		w.main[sha] = true
	case 11: // fixed by a commit
		sha := w.commit("Mend it, fixes #" + itoa(x.n))
		x.fixes = append(x.fixes, sha)
		w.main[sha] = true
	case 12: // a person sets or takes the label of a fix
		w.LabelAs(x.n, "mona", !i.HasLabel(fixedLabel), fixedLabel)
		x.byHand = true
	case 13: // reverted
		if len(x.fixes) > 0 {
			sha := x.fixes[w.rnd.IntN(len(x.fixes))]
			if w.main[sha] {
				delete(w.main, sha)
				w.commit("Revert it\n\nThis reverts commit " + sha + ".")
			}
		}
	}
}

// publish releases the default branch, or a branch with backports.
func (w *world) publish(day int) {
	tag := "v" + strconv.Itoa(day)
	holds := map[string]bool{}
	if w.rnd.IntN(3) == 0 {
		list := []ghapi.Commit{{SHA: fmt.Sprintf("%040x", 1<<40+day), Message: "Prepare"}}
		for k := range 3 {
			x := w.issues[w.rnd.IntN(len(w.issues))]
			if len(x.fixes) == 0 {
				continue
			}
			sha := x.fixes[len(x.fixes)-1]
			holds[sha] = true
			list = append(list, ghapi.Commit{SHA: fmt.Sprintf("%040x", 1<<44+day*8+k), Message: "x\n\n(cherry picked from commit " + sha + ")"})
		}
		w.branches[tag] = list
		w.AddRelease(ghapi.Release{Tag: tag, CreatedAt: w.now, PublishedAt: w.now})
	} else {
		for sha := range w.main {
			holds[sha] = true
		}
		w.release(tag)
	}
	w.tags[tag] = holds
}

// judge holds what the sweep did against what happened.
func (w *world) judge(before map[int]ghapi.Issue) {
	for _, x := range w.issues {
		was, is := before[x.n], w.get(x.n)
		if x.exempt {
			if got := len(ownOf(w.Comments(x.n), "reminder", "closed-unanswered", "fixed", "released", "reopened")); got > 0 {
				w.say("the exempt #%d was written to", x.n)
			}
		}
		seen := map[string]int{}
		for _, c := range ownOf(w.Comments(x.n), "reminder", "closed-unanswered", "closed-duplicate", "fixed", "released") {
			m, _ := comment.ParseMarker(c.Body)
			m.Language = ""
			if seen[m.String()]++; seen[m.String()] > 1 {
				w.say("#%d: the notice %s stands twice", x.n, m)
			}
		}
		if was.State == "open" && is.State == "closed" {
			w.judgeClosing(x, is)
		}
	}
}

func (w *world) judgeClosing(x *simulated, is ghapi.Issue) {
	if is.StateReason == "not_planned" {
		var reminder time.Time
		for _, c := range ownOf(w.Comments(x.n), "reminder") {
			reminder = c.CreatedAt
		}
		if is.ClosedAt.Sub(x.question) < 30*24*time.Hour-time.Hour {
			w.say("#%d was closed %s after the question", x.n, is.ClosedAt.Sub(x.question))
		}
		if reminder.IsZero() || reminder.Before(x.question) || is.ClosedAt.Sub(reminder) < 15*24*time.Hour-time.Hour {
			w.say("#%d was closed without its reminder's time: question %s, reminder %s", x.n, x.question, reminder)
		}
		for _, a := range x.answers {
			if a.After(x.question) {
				w.say("#%d was closed although it was answered on %s", x.n, a)
			}
		}
		return
	}
	released := ownOf(w.Comments(x.n), "released")
	if len(released) == 0 {
		w.say("#%d was closed as %s without a word", x.n, is.StateReason)
		return
	}
	m, _ := comment.ParseMarker(released[len(released)-1].Body)
	for _, sha := range x.fixes {
		if w.tags[m.Tag][sha] {
			return
		}
	}
	w.say("#%d was closed with %s, which holds none of its fixes %v", x.n, m.Tag, x.fixes)
}

// settle checks what a quiet sweep must have reached.
func (w *world) settle() {
	for _, x := range w.issues {
		is := w.get(x.n)
		if x.exempt || is.StateReason != "not_planned" || is.State != "closed" {
			continue
		}
		for _, c := range ownOf(w.Comments(x.n), "closed-unanswered") {
			for _, a := range x.answers {
				if a.After(c.CreatedAt) && a.After(x.question) && is.HasLabel("stale") {
					w.say("#%d stays closed although it was answered on %s: %s", x.n, a, w.story(x.n))
				}
			}
		}
	}
}

// story is what happened to an issue, for the message of a failure.
func (w *world) story(n int) string {
	var lines []string
	for _, c := range w.Comments(n) {
		lines = append(lines, fmt.Sprintf("%s %s %.90q", c.CreatedAt.Format(time.DateTime), c.Author.Login, c.Body))
	}
	for _, e := range w.Events(n) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", e.CreatedAt.Format(time.DateTime), e.Actor.Login, e.Kind, e.Label))
	}
	slices.Sort(lines)
	return "\n" + strings.Join(lines, "\n")
}

func ownOf(list []ghapi.Comment, kinds ...string) (out []ghapi.Comment) {
	for _, c := range list {
		if m, ok := comment.ParseMarker(c.Body); ok && c.Author.Login == bot && slices.Contains(kinds, m.Kind) {
			out = append(out, c)
		}
	}
	return out
}

// TestChaos lives through 400 days with API faults. Short: 20 seeds with fewer issues and a sweep every few days;
// `make chaos-sweep SEEDS=1000` takes 300 issues and a sweep a day.
func TestChaos(t *testing.T) {
	t.Parallel()
	seeds, count, step := 20, 8, 16
	if text := os.Getenv("CHAOS_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		count, step = 300, 1
	}
	totals := map[string]int{}
	for seed := range seeds {
		if t.Failed() {
			break
		}
		w := &world{
			rig: newRig(t), rnd: rand.New(rand.NewPCG(uint64(seed), 7)), tags: map[string]map[string]bool{}, main: map[string]bool{},
			branches: map[string][]ghapi.Commit{},
		}
		w.commit("start")
		for k := range count {
			x := &simulated{n: w.issue(), exempt: k%10 == 0, question: w.now}
			if x.exempt {
				w.LabelAs(x.n, "mona", true, "pinned")
			}
			w.issues = append(w.issues, x)
		}
		for day := 0; day < 400 && !t.Failed(); day += step {
			for range count*step/60 + 1 {
				w.act()
			}
			if w.rnd.IntN(12) == 0 {
				w.publish(day)
			}
			before := map[int]ghapi.Issue{}
			for _, x := range w.issues {
				before[x.n] = w.get(x.n)
			}
			if w.rnd.IntN(3) == 0 {
				w.Chaos(uint64(seed*1000+day), 0.1)
			}
			w.sweepOnce()
			w.Calm()
			w.judge(before)
			if w.rnd.IntN(4) == 0 {
				for _, x := range w.issues {
					before[x.n] = w.get(x.n)
				}
				w.sweepOnce()
				w.judge(before)
				w.settle()
			}
			w.ClearLog()
			w.now = start.AddDate(0, 0, day+step)
		}
		for _, x := range w.issues {
			for _, c := range w.Comments(x.n) {
				if m, ok := comment.ParseMarker(c.Body); ok && m.Kind != task.MarkAnalysis {
					totals[m.Kind]++
				}
			}
		}
		if t.Failed() {
			t.Errorf("seed %d", seed)
		}
	}
	t.Logf("notices: %v", totals)
	for _, kind := range []string{"reminder", "closed-unanswered", "reopened", "fixed", "released"} {
		if totals[kind] == 0 {
			t.Errorf("the simulation never reached a notice %q: it shows nothing", kind)
		}
	}
}
