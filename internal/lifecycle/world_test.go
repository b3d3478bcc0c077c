package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

// place is a repository that people work in: the fake GitHub, or [memory].
type place interface {
	AddIssue(i ghapi.Issue) int
	AddComment(issue int, login, body string) int64
	EditIssue(issue int, login, body string)
	LabelAs(issue int, login string, add bool, names ...string)
	SetStateAs(issue int, login, state, reason string)
	AddCommit(c ghapi.Commit)
	AddPullRequest(p ghapi.PullRequest) int
	AddRelease(r ghapi.Release)
	SetRef(ref, sha string)
	Branch(tag string, commits []ghapi.Commit)
	Issue(number int) (ghapi.Issue, bool)
	Comments(issue int) []ghapi.Comment
	Events(issue int) []ghapi.Event
	Chaos(seed uint64, rate float64)
	Calm()
	// open gives what a sweep reads and writes.
	open() (lifecycle.GitHub, func() ghapi.Writer)
}

// wired is the fake GitHub behind the product's own client.
type wired struct {
	*rig
	// branches are tags beside the default branch, which the fake does not know, with what a comparison says of them.
	branches map[string][]ghapi.Commit
}

func (w wired) Branch(tag string, commits []ghapi.Commit) { w.branches[tag] = commits }

// RoundTrip answers comparisons of tags beside the default branch.
func (w wired) RoundTrip(q *http.Request) (*http.Response, error) {
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

func (w wired) open() (lifecycle.GitHub, func() ghapi.Writer) {
	w.ClearLog()
	o := w.ClientOptions()
	o.Sleep, o.HTTP = func(time.Duration) {}, w
	c, err := ghapi.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return c, func() ghapi.Writer { return ghapi.NewWriter(c) }
}

// world is a place with a history that the test knows by itself: it never asks the lifecycle what should happen.
type world struct {
	place
	t         testing.TB
	now       time.Time
	config    config.Config
	texts     comment.Catalog
	rnd       *rand.Rand
	issues    []*simulated
	order     []string                   // releases, oldest first
	tags      map[string]map[string]bool // release -> hashes whose content it holds
	beside    map[string]bool            // releases of other branches
	published map[string]time.Time
	main      map[string]bool // hashes whose content the default branch holds
	nth       int
	shas      int
	bugs      int // what did not hold

	started int // triages
}

// simulated is what really happened to an issue.
type simulated struct {
	n        int
	exempt   bool
	question time.Time   // of the running period
	answers  []time.Time // of the reporter
	fixes    []fix
	reopened time.Time // by a person
	before   ghapi.Issue
	comments int // that were judged
}

type fix struct {
	sha, revert string // revert: the hash of what took it back, the last time
	pull        int
	at          time.Time
	reverted    time.Time // the last time
	back        time.Time // and brought back
}

// newWorld makes a world of a number of issues. Quick: in memory alone.
func newWorld(t testing.TB, seed uint64, count int, quick bool) *world {
	t.Helper()
	w := &world{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), tags: map[string]map[string]bool{}, beside: map[string]bool{}, published: map[string]time.Time{}, main: map[string]bool{}}
	r := newRig(t)
	w.config, w.texts, w.now = r.config, r.texts, start
	w.place = wired{rig: r, branches: map[string][]ghapi.Commit{}}
	if quick {
		w.place = newMemory(func() time.Time { return w.now })
	} else {
		r.clock = func() time.Time { return w.now }
	}
	w.commit("start")
	for k := range count {
		x := &simulated{n: w.AddIssue(ghapi.Issue{Title: "It breaks", Body: "The program is broken when I start it"}), exempt: k%10 == 0, question: w.now}
		if x.exempt {
			w.LabelAs(x.n, "mona", true, "pinned")
		}
		w.issues = append(w.issues, x)
	}
	return w
}

func (w *world) get(n int) ghapi.Issue {
	i, ok := w.Issue(n)
	if !ok {
		w.t.Fatalf("#%d is gone", n)
	}
	return i
}

func (w *world) commit(message string) string {
	w.shas++
	sha := fmt.Sprintf("%08x%s", w.shas, strings.Repeat("c", 32))
	w.AddCommit(ghapi.Commit{SHA: sha, Message: message, Date: w.now})
	return sha
}

func (w *world) merge(body string, issues ...int) (number int, sha string) {
	sha = w.commit(strings.TrimSpace("Merge\n\n" + body))
	p := ghapi.PullRequest{Title: "x", Body: body, State: "merged", MergeCommit: sha, MergedAt: w.now, UpdatedAt: w.now}
	for _, n := range issues {
		p.Closes = append(p.Closes, ghapi.IssueRef{Number: n})
	}
	return w.AddPullRequest(p), sha
}

func (w *world) sweepOnce() {
	client, writer := w.open()
	lifecycle.Sweep(w.t.Context(), client, lifecycle.Options{
		Config: w.config, Texts: w.texts, Now: w.now, Mode: lifecycle.ModeAll, Writer: writer,
	})
	w.now = w.now.Add(time.Minute)
}

func (w *world) say(format string, args ...any) {
	w.bugs++
	w.t.Errorf("day %s: "+format, append([]any{w.now.Format(time.DateOnly)}, args...)...)
}

// act lets people do something.
func (w *world) act() {
	x := w.issues[w.rnd.IntN(len(w.issues))]
	i := w.get(x.n)
	w.now = w.now.Add(time.Minute)
	switch w.rnd.IntN(17) {
	case 0, 1, 2: // the assistant asks
		if i.State == "open" && !i.HasLabel("needs-info") {
			w.nth++
			m := comment.Marker{Kind: "analysis", Language: []string{"en", "de", "ja"}[w.nth%3], Questions: true}
			w.AddComment(x.n, bot, m.String()+"\nWhich version?")
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
	case 10, 14: // merged
		pull, sha := w.merge("", x.n)
		x.fixes = append(x.fixes, fix{sha: sha, pull: pull, at: w.now})
		w.main[sha] = true
	case 11: // fixed by a commit
		sha := w.commit("Mend it, fixes #" + itoa(x.n))
		x.fixes = append(x.fixes, fix{sha: sha, at: w.now})
		w.main[sha] = true
	case 12: // a person sets or takes the label of a fix
		w.LabelAs(x.n, "mona", !i.HasLabel(fixedLabel), fixedLabel)
	case 13: // reverted, by a commit or a pull request; or what was reverted comes back
		if len(x.fixes) == 0 {
			return
		}
		f := &x.fixes[w.rnd.IntN(len(x.fixes))]
		switch {
		case w.main[f.sha] && f.pull != 0 && w.rnd.IntN(2) == 0:
			_, f.revert = w.merge("Reverts #" + itoa(f.pull))
		case w.main[f.sha]:
			f.revert = w.commit("Revert it\n\nThis reverts commit " + f.sha + ".")
		default:
			w.commit("Take it back\n\nThis reverts commit " + f.revert + ".")
		}
		if w.main[f.sha] = !w.main[f.sha]; !w.main[f.sha] {
			f.reverted = w.now
		} else {
			f.back = w.now
		}
	case 15: // a person opens it again
		if i.State == "closed" && w.rnd.IntN(4) == 0 {
			w.SetStateAs(x.n, "mona", "open", "reopened")
			x.reopened, x.question = w.now, w.now
		}
	case 16: // or closes it
		if i.State == "open" && w.rnd.IntN(8) == 0 {
			w.SetStateAs(x.n, "mona", "closed", "completed")
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
			for _, f := range x.fixes {
				if w.main[f.sha] && !holds[f.sha] {
					holds[f.sha] = true
					list = append(list, ghapi.Commit{SHA: fmt.Sprintf("%040x", 1<<44+day*100+k*30+len(list)), Message: "x\n\n(cherry picked from commit " + f.sha + ")"})
				}
				if w.rnd.IntN(2) == 0 {
					break
				}
			}
		}
		w.Branch(tag, list)
		w.beside[tag] = true
	} else {
		maps.Copy(holds, w.main)
		w.SetRef("tags/"+tag, w.commit("Release "+tag))
	}
	w.AddRelease(ghapi.Release{Tag: tag, CreatedAt: w.now, PublishedAt: w.now})
	w.tags[tag] = holds
	w.order = append(w.order, tag)
	w.published[tag] = w.now
}

// remember keeps the issues as they are before a sweep.
func (w *world) remember() {
	for _, x := range w.issues {
		x.before = w.get(x.n)
	}
}

// judge holds what the sweep did against what happened.
func (w *world) judge() {
	if m, ok := w.place.(*memory); ok {
		today := 0
		for _, x := range m.runs {
			if x.CreatedAt.Truncate(24 * time.Hour).Equal(w.now.Truncate(24 * time.Hour)) {
				today++
			}
		}
		if today > w.config.Limits.RunsPerPersonPerDay {
			w.say("%d postponed triages were started", today)
		}
		w.started += today
	}
	for _, x := range w.issues {
		was, is := x.before, w.get(x.n)
		if is.Comments == x.comments && is.State == was.State {
			continue
		}
		all := w.Comments(x.n)
		x.comments = len(all)
		if got := len(ownOf(all, "reminder", "closed-unanswered", "fixed", "released", "reopened")); x.exempt && got > 0 {
			w.say("the exempt #%d was written to", x.n)
		}
		seen := map[string]int{}
		for _, c := range ownOf(all, "reminder", "closed-unanswered", "closed-duplicate", "fixed", "released") {
			m, _ := comment.ParseMarker(c.Body)
			m.Language = ""
			if seen[m.String()]++; seen[m.String()] > 1 {
				w.say("#%d: the notice %s stands twice", x.n, m)
			}
		}
		if was.State == "open" && is.State == "closed" {
			w.judgeClosing(x, is, all)
		}
	}
}

func (w *world) judgeClosing(x *simulated, is ghapi.Issue, all []ghapi.Comment) {
	if is.StateReason == "not_planned" {
		var reminder time.Time
		for _, c := range ownOf(all, "reminder") {
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
	released := ownOf(all, "released")
	if len(released) == 0 {
		w.say("#%d was closed as %s without a word", x.n, is.StateReason)
		return
	}
	m, _ := comment.ParseMarker(released[len(released)-1].Body)
	live := w.live(x)
	if first := w.first(live); first != m.Tag && !w.unknowable(x) {
		w.say("#%d was closed with %q, but %q is the first release that holds %v%s", x.n, m.Tag, first, live, w.story(x))
	}
}

// live are the fixes of an issue that the sweep was told of: those of pull requests, and the commits that it wrote about,
// without what was reverted and what a person did not accept by opening the issue again.
func (w *world) live(x *simulated) (out []fix) {
	told := map[string]time.Time{}
	for _, c := range ownOf(w.Comments(x.n), "fixed") {
		m, _ := comment.ParseMarker(c.Body)
		told[m.Commit] = c.CreatedAt
	}
	for _, f := range x.fixes {
		at := f.at
		if f.pull == 0 {
			at = told[f.sha]
		}
		if (w.main[f.sha] || w.forgotten(f)) && !at.IsZero() && (x.reopened.IsZero() || x.reopened.Before(at)) {
			out = append(out, f)
		}
	}
	return out
}

// forgotten reports whether a fix was reverted so long ago that a sweep no longer reads the commit, and no release since
// tells of it: the newest one that knows the fix still holds it.
func (w *world) forgotten(f fix) bool {
	for _, tag := range slices.Backward(w.order) {
		holds := w.tags[tag][f.sha]
		if !holds && w.beside[tag] {
			continue
		}
		return holds && w.now.Sub(f.reverted) > lookBack
	}
	return false
}

// lookBack is how far the sweep reads the default branch, less what a day's sweep may be early.
const lookBack = 60*24*time.Hour - time.Hour

// since is the place of the first release that counts for a fix: after the last one of the default branch that came
// without it although it had been merged.
func (w *world) since(f fix) int {
	for k, tag := range slices.Backward(w.order) {
		if !w.beside[tag] && !w.tags[tag][f.sha] && w.published[tag].After(f.at) {
			return k + 1
		}
	}
	return 0
}

// unknowable reports whether a fix came back so long ago that a sweep no longer reads the commit, and no release since
// holds it: then nothing tells the sweep that it is there.
func (w *world) unknowable(x *simulated) bool {
	return slices.ContainsFunc(x.fixes, func(f fix) bool {
		return w.main[f.sha] && !f.back.IsZero() && w.now.Sub(f.back) > lookBack && w.first([]fix{f}) == ""
	})
}

// first is the first release from which on all of some fixes are held; empty: none.
func (w *world) first(fixes []fix) string {
	from := 0
	for _, f := range fixes {
		from = max(from, w.since(f))
	}
	for _, tag := range w.order[from:] {
		if len(fixes) > 0 && !slices.ContainsFunc(fixes, func(f fix) bool { return !w.tags[tag][f.sha] }) {
			return tag
		}
	}
	return ""
}

// settle checks that a sweep without faults that left an issue alone had no reason to do something about it.
func (w *world) settle() {
	for _, x := range w.issues {
		is := w.get(x.n)
		if x.exempt {
			continue
		}
		if is.State == "open" && is.HasLabel(fixedLabel) && slices.Equal(is.Labels, x.before.Labels) && is.Comments == x.before.Comments {
			if live := w.live(x); w.first(live) != "" && !w.unknowable(x) {
				w.say("#%d is open although %s holds its fixes %v%s", x.n, w.first(live), live, w.story(x))
			}
		}
		if is.StateReason != "not_planned" || is.State != "closed" {
			continue
		}
		for _, c := range ownOf(w.Comments(x.n), "closed-unanswered") {
			for _, a := range x.answers {
				if a.After(c.CreatedAt) && a.After(x.question) && is.HasLabel("stale") {
					w.say("#%d stays closed although it was answered on %s%s", x.n, a, w.story(x))
				}
			}
		}
	}
}

// story is what happened to an issue, for the message of a failure and to compare two lives.
func (w *world) story(x *simulated) string {
	var lines []string
	for _, c := range w.Comments(x.n) {
		lines = append(lines, fmt.Sprintf("%s %s %.120q", c.CreatedAt.Format(time.DateTime), c.Author.Login, c.Body))
	}
	for _, e := range w.Events(x.n) {
		if e.Kind != "milestoned" {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", e.CreatedAt.Format(time.DateTime), e.Actor.Login, e.Kind, e.Label))
		}
	}
	for _, f := range x.fixes {
		lines = append(lines, fmt.Sprintf("%s fix %s of pull request %d, in main: %v", f.at.Format(time.DateTime), f.sha[:10], f.pull, w.main[f.sha]))
	}
	for _, tag := range w.order {
		for sha, in := range w.tags[tag] {
			if in && slices.ContainsFunc(x.fixes, func(f fix) bool { return f.sha == sha }) {
				lines = append(lines, fmt.Sprintf("%s holds %s", tag, sha[:10]))
			}
		}
	}
	slices.Sort(lines)
	is := w.get(x.n)
	return fmt.Sprintf("\n#%d %s %s %q milestone %d\n", is.Number, is.State, is.StateReason, is.Labels, is.MilestoneNumber) + strings.Join(lines, "\n")
}

func ownOf(list []ghapi.Comment, kinds ...string) (out []ghapi.Comment) {
	for _, c := range list {
		if c.Author.Login != bot {
			continue
		}
		if m, ok := comment.ParseMarker(c.Body); ok && slices.Contains(kinds, m.Kind) {
			out = append(out, c)
		}
	}
	return out
}

// live400 lives through 400 days with a sweep every few days, some of them with faults.
func (w *world) live400(seed, step int, faults bool) {
	for day := 0; day < 400 && w.bugs == 0; day += step {
		for range len(w.issues)*step/60 + 1 {
			w.act()
		}
		if w.rnd.IntN(12) == 0 {
			w.publish(day)
		}
		w.remember()
		if w.rnd.IntN(3) == 0 && faults {
			w.Chaos(uint64(seed*1000+day), 0.1)
		}
		w.sweepOnce()
		w.Calm()
		w.judge()
		if w.rnd.IntN(4) == 0 {
			w.remember()
			w.sweepOnce()
			w.judge()
			w.settle()
		}
		w.now = start.AddDate(0, 0, day+step)
	}
}
