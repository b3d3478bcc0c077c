package lifecycle_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lifecycle"
)

// memory is a repository for the long simulation: a reader and a writer without requests, hundreds of times faster than
// the fake GitHub behind HTTP. TestMemoryIsTheFake lives the same days on both and compares what came of it.
type memory struct {
	now     func() time.Time
	items   []*remembered // by number less one
	commits []ghapi.Commit
	at      map[string]int // hash -> place in commits
	tags    map[string]int // tag -> place in commits
	beside  map[string][]ghapi.Commit
	rel     []ghapi.Release // newest first
	miles   []ghapi.Milestone
	nextID  int64
	runs    []ghapi.Run // triages that a sweep started

	rnd  *rand.Rand // nil: nothing fails
	rate float64
}

type remembered struct {
	ghapi.Issue
	comments []ghapi.Comment
	events   []ghapi.Event
	editedAt time.Time
	editor   ghapi.User
	pull     *ghapi.PullRequest
	closers  []*ghapi.PullRequest
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, at: map[string]int{}, tags: map[string]int{}, beside: map[string][]ghapi.Commit{}}
}

var errDown = &ghapi.Error{Op: "GET /x", Kind: ghapi.KindServer, Status: 502, Message: "Bad Gateway"}

// Chaos lets requests fail at random.
func (m *memory) Chaos(seed uint64, rate float64) {
	m.rnd, m.rate = rand.New(rand.NewPCG(seed, 1)), rate
}

// Calm ends all faults.
func (m *memory) Calm() { m.rnd = nil }

func (m *memory) down() error {
	if m.rnd != nil && m.rnd.Float64() < m.rate {
		return errDown
	}
	return nil
}

func who(login string) ghapi.User {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return ghapi.User{Login: login, Type: kind, ID: int64(len(login))}
}

func (m *memory) id() int64 { m.nextID++; return m.nextID }

// What people do.

func (m *memory) AddIssue(i ghapi.Issue) int {
	i.Number, i.State, i.Author = len(m.items)+1, cmp.Or(i.State, "open"), who(cmp.Or(i.Author.Login, "reporter"))
	i.CreatedAt = m.now()
	if i.UpdatedAt.IsZero() {
		i.UpdatedAt = i.CreatedAt
	}
	i.Labels = slices.Clone(i.Labels)
	m.items = append(m.items, &remembered{Issue: i})
	return i.Number
}

func (m *memory) item(n int) *remembered {
	if n < 1 || n > len(m.items) {
		return nil
	}
	return m.items[n-1]
}

func (m *memory) AddComment(n int, login, body string) int64 {
	i, c := m.item(n), ghapi.Comment{ID: m.id(), Body: body, Author: who(login), CreatedAt: m.now(), UpdatedAt: m.now()}
	i.comments, i.UpdatedAt = append(i.comments, c), m.now()
	return c.ID
}

func (m *memory) EditIssue(n int, login, body string) {
	i := m.item(n)
	i.Body, i.editedAt, i.editor, i.UpdatedAt = body, m.now(), who(login), m.now()
}

func (m *memory) event(i *remembered, e ghapi.Event, login string) {
	e.ID, e.CreatedAt, e.Actor = m.id(), m.now(), who(login)
	i.events = append(i.events, e)
	i.UpdatedAt = m.now()
}

func (m *memory) LabelAs(n int, login string, add bool, names ...string) {
	i := m.item(n)
	for _, name := range names {
		if i.HasLabel(name) == add {
			continue
		}
		kind := "labeled"
		if add {
			i.Labels = append(slices.Clone(i.Labels), name)
		} else {
			kind, i.Labels = "unlabeled", slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool { return strings.EqualFold(l, name) })
		}
		m.event(i, ghapi.Event{Kind: kind, Label: name}, login)
	}
	i.UpdatedAt = m.now()
}

func (m *memory) SetStateAs(n int, login, state, reason string) {
	i := m.item(n)
	if i.State == state {
		return
	}
	i.State, i.StateReason, i.ClosedAt = state, reason, time.Time{}
	kind := "reopened"
	if state == "closed" {
		kind, i.ClosedAt = "closed", m.now()
	}
	m.event(i, ghapi.Event{Kind: kind, Reason: reason}, login)
}

func (m *memory) AddCommit(c ghapi.Commit) {
	m.at[c.SHA] = len(m.commits)
	m.commits = append(m.commits, c)
}

func (m *memory) AddPullRequest(p ghapi.PullRequest) int {
	p.Number, p.Base = m.AddIssue(ghapi.Issue{Title: p.Title, Body: p.Body, State: "closed", IsPullRequest: true}), "main"
	for k, ref := range p.Closes {
		p.Closes[k].Repo = m.Repo()
		i := m.item(ref.Number)
		i.closers = append(i.closers, &p)
	}
	m.item(p.Number).pull = &p
	return p.Number
}

func (m *memory) AddRelease(r ghapi.Release) {
	r.URL = m.ServerURL() + "/" + m.Repo() + "/releases/tag/" + r.Tag
	m.rel = append([]ghapi.Release{r}, m.rel...)
}

func (m *memory) SetRef(ref, sha string) { m.tags[strings.TrimPrefix(ref, "tags/")] = m.at[sha] }

// Branch makes a tag beside the default branch known by what a comparison says of it.
func (m *memory) Branch(tag string, commits []ghapi.Commit) { m.beside[tag] = commits }

// What the test and the sweep read.

func (m *memory) Issue(n int) (ghapi.Issue, bool) {
	i := m.item(n)
	if i == nil {
		return ghapi.Issue{}, false
	}
	out := i.Issue
	out.Comments = len(i.comments)
	return out, true
}

func (m *memory) Comments(n int) []ghapi.Comment { return slices.Clone(m.item(n).comments) }
func (m *memory) Events(n int) []ghapi.Event     { return slices.Clone(m.item(n).events) }

func (m *memory) open() (lifecycle.GitHub, func() ghapi.Writer) {
	return reader{m}, func() ghapi.Writer { return writer{memory: m} }
}

// reader is the repository as the sweep sees it.
type reader struct{ *memory }

func (m *memory) Repo() string      { return "octo/demo" }
func (m *memory) ServerURL() string { return "https://github.com" }

func (r reader) Viewer(context.Context) (ghapi.User, error) { return who(bot), r.down() }

func (r reader) Repository(context.Context) (ghapi.Repository, error) {
	return ghapi.Repository{FullName: r.Repo(), DefaultBranch: "main"}, r.down()
}

func (r reader) CanWrite(_ context.Context, login string) (bool, error) {
	return login == "mona", r.down()
}

func (r reader) Issue(_ context.Context, n int) (ghapi.Issue, error) {
	i, ok := r.memory.Issue(n)
	if !ok {
		return i, &ghapi.Error{Kind: ghapi.KindNotFound}
	}
	return i, r.down()
}

// pages yields a list with a chance of a fault before each hundred.
func pages[T any](r reader, all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for k := 0; k == 0 || k < len(all); k++ {
			if k%100 == 0 {
				if err := r.down(); err != nil {
					yield(*new(T), err)
					return
				}
			}
			if k < len(all) && !yield(all[k], nil) {
				return
			}
		}
	}
}

func (r reader) Issues(_ context.Context, f ghapi.IssueFilter) iter.Seq2[ghapi.Issue, error] {
	var all []ghapi.Issue
	for _, i := range r.items {
		if i.pull != nil || f.State != "" && i.State != f.State || i.UpdatedAt.Before(f.Since) {
			continue
		}
		if len(f.Labels) == 0 || slices.ContainsFunc(f.Labels, i.HasLabel) {
			x, _ := r.memory.Issue(i.Number)
			all = append(all, x)
		}
	}
	if !f.OldestFirst {
		slices.Reverse(all)
	}
	return pages(r, all)
}

func (r reader) Histories(_ context.Context, numbers []int) (map[int]ghapi.History, map[int]error) {
	got, failed := map[int]ghapi.History{}, map[int]error{}
	for _, n := range numbers {
		i := r.item(n)
		if i == nil || i.pull != nil {
			failed[n] = &ghapi.Error{Kind: ghapi.KindNotFound}
			continue
		}
		if err := r.down(); err != nil {
			failed[n] = err
			continue
		}
		h := ghapi.History{Comments: i.comments, EditedAt: i.editedAt, Editor: i.editor}
		h.Issue, _ = r.memory.Issue(n)
		for _, e := range i.events[max(0, len(i.events)-100):] {
			if e.Kind == "labeled" || e.Kind == "unlabeled" || e.Kind == "closed" || e.Kind == "reopened" {
				h.Events = append(h.Events, e)
			}
		}
		for _, p := range i.closers[:min(len(i.closers), 10)] {
			h.Closers = append(h.Closers, *p)
		}
		got[n] = h
	}
	return got, failed
}

func (r reader) CommentReactions(context.Context, int64) ([]ghapi.Reaction, error) {
	return nil, r.down()
}

func (r reader) Milestones(context.Context) ([]ghapi.Milestone, error) {
	if err := r.down(); err != nil {
		return nil, err
	}
	return slices.Clone(r.miles), nil
}

func (r reader) PullRequests(context.Context, ...string) iter.Seq2[ghapi.PullRequest, error] {
	var all []ghapi.PullRequest
	for _, i := range r.items {
		if i.pull != nil {
			all = append(all, *i.pull)
		}
	}
	slices.SortFunc(all, func(a, b ghapi.PullRequest) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.Number, a.Number))
	})
	return pages(r, all)
}

func (r reader) Commits(_ context.Context, _ string, since time.Time, n int) ([]ghapi.Commit, error) {
	var out []ghapi.Commit
	for _, c := range slices.Backward(r.commits) {
		if len(out) == n || c.Date.Before(since) {
			break
		}
		out = append(out, c)
	}
	return out, r.down()
}

func (r reader) Releases(_ context.Context, n int) ([]ghapi.Release, error) {
	return r.rel[:min(len(r.rel), n)], r.down()
}

func (r reader) Compare(_ context.Context, base, head string) (ghapi.Comparison, error) {
	if list := r.beside[head]; list != nil {
		return ghapi.Comparison{Status: "diverged", Ahead: len(list), Behind: 9, Commits: list}, r.down()
	}
	from, known := r.at[base]
	to, tagged := r.tags[head]
	switch {
	case !known || !tagged:
		return ghapi.Comparison{}, &ghapi.Error{Kind: ghapi.KindNotFound}
	case to < from:
		return ghapi.Comparison{Status: "behind", Behind: from - to}, r.down()
	case to == from:
		return ghapi.Comparison{Status: "identical"}, r.down()
	}
	return ghapi.Comparison{Status: "ahead", Ahead: to - from, Commits: r.commits[from+1 : to+1]}, r.down()
}

func (r reader) Runs(_ context.Context, f ghapi.RunFilter) ([]ghapi.Run, error) {
	var out []ghapi.Run
	for _, x := range r.runs {
		if !x.CreatedAt.Before(f.Since) {
			out = append(out, x)
		}
	}
	return out, r.down()
}

// writer changes the repository. A write can fail before it, or be done while its answer says that it failed: the
// product's own writer finds out most of these, so this one is the harder. What the sweep has no business with panics.
type writer struct {
	ghapi.Writer
	*memory
}

var errLost = errors.New("the answer was lost")

func (w writer) do(n int, f func(i *remembered)) error {
	if err := w.down(); err != nil {
		return err
	}
	i := w.item(n)
	if i == nil {
		return fmt.Errorf("a write to #%d, which is not there", n)
	}
	f(i)
	i.UpdatedAt = w.now()
	if w.down() != nil {
		return errLost
	}
	return nil
}

func (w writer) CreateComment(_ context.Context, n int, _, body, marker string) (ghapi.Comment, error) {
	if !strings.Contains(body, marker) {
		return ghapi.Comment{}, errors.New("a comment without its marker")
	}
	return ghapi.Comment{}, w.do(n, func(*remembered) { w.AddComment(n, bot, body) })
}

func (w writer) AddLabels(_ context.Context, n int, _ string, names ...string) error {
	return w.do(n, func(*remembered) { w.LabelAs(n, bot, true, names...) })
}

func (w writer) RemoveLabel(_ context.Context, n int, _, name string) error {
	return w.do(n, func(*remembered) { w.LabelAs(n, bot, false, name) })
}

func (w writer) Close(_ context.Context, n int, _, reason string, _ int) error {
	return w.do(n, func(*remembered) { w.SetStateAs(n, bot, "closed", reason) })
}

func (w writer) Reopen(_ context.Context, n int, _ string) error {
	return w.do(n, func(*remembered) { w.SetStateAs(n, bot, "open", "reopened") })
}

func (w writer) SetMilestone(_ context.Context, n int, _ string, milestone int) error {
	return w.do(n, func(i *remembered) { i.MilestoneNumber = milestone })
}

func (w writer) CreateMilestone(_ context.Context, _ string, m ghapi.Milestone) (ghapi.Milestone, error) {
	if err := w.down(); err != nil {
		return m, err
	}
	for _, known := range w.miles {
		if known.Title == m.Title {
			return known, nil
		}
	}
	m.Number = len(w.miles) + 1
	w.miles = append(w.miles, m)
	return m, nil
}

func (w writer) Dispatch(context.Context, string, string, string, map[string]string) error {
	if err := w.down(); err != nil {
		return err
	}
	w.runs = append(w.runs, ghapi.Run{ID: w.id(), Actor: who(bot), CreatedAt: w.now()})
	if w.down() != nil {
		return errLost
	}
	return nil
}
