package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Start is a triage that was started, or could not be.
type Start struct {
	Number int
	Why    string // postponed, or backlog
	Failed string
}

func (s Start) line() string {
	if s.Failed != "" {
		return fmt.Sprintf("#%d (%s): **%s**", s.Number, s.Why, plain(s.Failed))
	}
	return fmt.Sprintf("#%d (%s): started", s.Number, s.Why)
}

const (
	triageFile    = "issue-assistant-triage.yml"
	postponedBack = 60 * 24 * time.Hour
	maxQueued     = 1500 // postponed issues that are listed
	maxPostponed  = 200  // of these, looked at in a day
	maxBacklog    = 5000 // issues that are looked at
)

// Affordable is how many runs may be started so that they cost at most dollars, when each costs its whole budget.
func Affordable(n int, dollars, each float64) int {
	if n <= 0 || each <= 0 || dollars <= 0 || math.IsNaN(dollars) {
		return 0
	}
	// A billionth more forgives that 0.3 / 0.1 is less than 3 in binary.
	return int(min(float64(n), math.Floor(dollars/each+1e-9)))
}

// triage starts the triage of issues that were postponed because of a stranger's limit, and of old ones on demand.
func (s *sweep) triage(ctx context.Context) {
	w := s.o.Writer()
	if n := Affordable(s.o.Backlog, s.o.MaxUSD, s.o.Config.Engine.MaxBudgetUSD); n > 0 {
		s.backlog(ctx, w, n)
	} else if s.o.Backlog > 0 {
		s.res.Notes = append(s.res.Notes, "no old issue's triage was started: one run may cost more than max-usd allows")
	}
	if s.o.Backlog == 0 {
		s.postponed(ctx, w)
	}
}

// backlog starts the oldest untriaged issues.
func (s *sweep) backlog(ctx context.Context, w ghapi.Writer, n int) {
	looked := 0
	var batch []ghapi.Issue
	for i, err := range s.client.Issues(ctx, ghapi.IssueFilter{State: "open", OldestFirst: true}) {
		if err != nil {
			s.note("the open issues could not be listed", err)
			return
		}
		batch = append(batch, i)
		if looked++; len(batch) == 25 {
			if n -= s.startSome(ctx, w, batch, n, "backlog"); n <= 0 || s.stopped() || looked >= maxBacklog {
				return
			}
			batch = nil
		}
	}
	s.startSome(ctx, w, batch, n, "backlog")
}

// postponed starts what waits, at most one person's daily share a day. New events come first: only what is older than a
// day is postponed.
func (s *sweep) postponed(ctx context.Context, w ghapi.Writer) {
	var waiting []ghapi.Issue
	var kept []int
	for i, err := range s.client.Issues(ctx, ghapi.IssueFilter{State: "open", Labels: []string{config.LabelNeedsTriage}}) {
		if err != nil {
			s.note("the postponed issues could not be listed", err)
			return
		}
		if s.o.Now.Sub(i.CreatedAt) > postponedBack || len(waiting) == maxQueued {
			break
		}
		if (Facts{Issue: i}).kept() {
			if len(kept) < 100 { // four requests a day at most
				kept = append(kept, i.Number)
			}
			continue
		}
		if today := s.o.Now.UTC().Truncate(24 * time.Hour); i.CreatedAt.Before(today) {
			waiting = append(waiting, i)
		}
	}
	s.triaged(ctx, kept)
	if len(waiting) == 0 {
		return
	}
	share := s.o.Config.Limits.RunsPerPersonPerDay
	runs, err := s.client.Runs(ctx, ghapi.RunFilter{
		Workflow: triageFile, Event: "workflow_dispatch", Since: s.o.Now.UTC().Truncate(24 * time.Hour), Max: 100,
	})
	if err != nil {
		if !ghapi.IsGone(err) { // without the workflow nothing is postponed
			s.note("the triages of today could not be counted, so none is started", err)
		}
		return
	}
	for _, r := range runs {
		if s.owner.Wrote(r.Actor) {
			return // today's share was started; its runs may still be at work
		}
		share-- // by hand
	}
	if share <= 0 {
		return
	}
	order := fair(waiting, int(s.o.Now.Unix()/86_400), share)
	order = order[:min(len(order), maxPostponed)]
	for start := 0; start < len(order) && share > 0 && !s.stopped(); start += 25 {
		share -= s.startSome(ctx, w, order[start:min(start+25, len(order))], share, "postponed")
	}
}

// fair orders what waits so that each person has a turn before anybody has a second, however many one has queued. Each
// person's own come oldest first. Both begin at another place each day: issues whose triage never ends well do not keep
// the rest waiting.
func fair(newestFirst []ghapi.Issue, day, share int) []ghapi.Issue {
	queues := map[string][]ghapi.Issue{}
	for _, i := range slices.Backward(newestFirst) {
		who := strings.ToLower(i.Author.Login)
		queues[who] = append(queues[who], i)
	}
	people := slices.Sorted(maps.Keys(queues))
	turn := func(length, k int) int { return (day*share%length + k) % length }
	if len(people) <= share { // everybody has a turn each day
		turn = func(length, k int) int { return k % length }
	}
	order := make([]ghapi.Issue, 0, len(newestFirst))
	for round := 0; len(order) < len(newestFirst); round++ {
		for k := range people {
			queue := queues[people[turn(len(people), k)]]
			if round < len(queue) {
				from := 0
				if len(queue) > share {
					from = day * share % len(queue)
				}
				order = append(order, queue[(from+round)%len(queue)])
			}
		}
	}
	return order
}

// triaged takes the label from issues that a maintainer assigned or planned: somebody has looked at them. Where a person
// set the label, it stays.
func (s *sweep) triaged(ctx context.Context, numbers []int) {
	histories, failed := s.client.Histories(ctx, numbers)
	for _, n := range numbers {
		if err := failed[n]; err != nil && !ghapi.IsGone(err) {
			s.fail(n, "read it", err)
		}
		h, ok := histories[n]
		if !ok {
			continue
		}
		f := Facts{Issue: h.Issue, Events: h.Events, Owner: s.owner}
		exempt, _ := f.Exempt(s.o.Config.Lifecycle)
		if e, set := f.lastEvent("labeled", config.LabelNeedsTriage, nil); !exempt && set && !f.byPerson(e) && f.kept() {
			s.act(ctx, f, Decision{Topic: TopicTidied, Note: "assigned or in a milestone", Steps: f.remove(config.LabelNeedsTriage)})
		}
	}
}

// startSome starts up to n of the issues that have no analysis, and returns how many it tried.
func (s *sweep) startSome(ctx context.Context, w ghapi.Writer, list []ghapi.Issue, n int, why string) int {
	analyzed := map[int]bool{}
	var ask []int
	for _, i := range list {
		if i.Comments > 0 {
			ask = append(ask, i.Number)
		}
	}
	histories, failed := s.client.Histories(ctx, ask)
	for _, number := range ask {
		h, ok := histories[number]
		if !ok {
			analyzed[number] = true // unknown: a run too many costs money
			if err := failed[number]; !ghapi.IsGone(err) {
				s.res.Notes = append(s.res.Notes, fmt.Sprintf("#%d could not be read, its triage is not started: %s", number, brief(err)))
			}
			continue
		}
		for _, own := range comment.Owned(h.Comments, s.owner) {
			analyzed[number] = analyzed[number] || own.Marker.Kind == task.MarkAnalysis
		}
	}
	tried := 0
	for _, i := range list {
		f := Facts{Issue: i}
		exempt, _ := f.Exempt(config.Lifecycle{ExemptLabels: s.o.Config.Lifecycle.ExemptLabels})
		if tried == n || s.stopped() {
			break
		}
		if exempt || analyzed[i.Number] || i.Author.IsBot() || i.HasLabel(config.LabelInvalid) {
			continue
		}
		if why == "postponed" {
			may, err := s.client.CanWrite(ctx, comment.Login(i.Author))
			if err != nil || may { // maintainers' own issues start nothing by themselves
				continue
			}
		}
		tried++
		x := Start{Number: i.Number, Why: why}
		err := w.Dispatch(ctx, "triage-"+strconv.Itoa(i.Number), triageFile, s.branch, map[string]string{
			"issue": strconv.Itoa(i.Number), "dry-run": "false",
		})
		if err != nil {
			x.Failed = brief(err)
			var gone *ghapi.WriteError
			if ghapi.IsGone(err) && errors.As(err, &gone) {
				x.Failed = triageFile + " is not installed"
			}
		}
		s.res.Started = append(s.res.Started, x)
	}
	return tried
}

// stopped reports whether the last triage could not be started: the next one could not either.
func (s *sweep) stopped() bool {
	k := len(s.res.Started)
	return k > 0 && s.res.Started[k-1].Failed != ""
}
