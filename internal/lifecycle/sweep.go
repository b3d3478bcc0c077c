package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// Mode is how much a sweep does.
type Mode string

// The modes.
const (
	ModeAll     Mode = "all"     // daily
	ModeMerge   Mode = "merge"   // after a merge: marks what it fixed, and takes back what it reverted
	ModeRelease Mode = "release" // after a release: closes what it settles
)

// Options are what a sweep needs besides GitHub.
type Options struct {
	Config config.Config
	Texts  comment.Catalog
	Now    time.Time
	Mode   Mode
	// Writer gives each issue a writer of its own, so that what fails at one says nothing about the next. A dry run
	// gives the same recorder each time.
	Writer  func() ghapi.Writer
	Backlog int     // start the triage of this many old issues
	MaxUSD  float64 // that these may cost together
}

// The bounds of a sweep. A merge's own sweep looks back for a few days only; the daily one finds what it missed.
const (
	lookBack      = 60 * 24 * time.Hour
	lookBackMerge = 3 * 24 * time.Hour
	tidyBack      = 8 * 24 * time.Hour
	maxPulls      = 500
	maxCommits    = 500
	maxPerEvent   = 50 // pull requests, and issues, after a merge
	maxListed     = 2000
	maxReleases   = 50
	maxInARow     = 10 // issues that fail one after another: then GitHub is not working
)

// sweep is one run.
type sweep struct {
	o        Options
	client   GitHub
	branch   string
	owner    comment.Owner
	reverts  Reverts
	fixes    map[int][]Fix // found in this run, by issue, oldest first
	releases []ghapi.Release
	compared map[string]compared
	handled  map[int]bool
	inARow   int
	actor    *actor
	res      Result
}

// Sweep does everything that is due. It never stops at one issue: what failed stands in the result.
func Sweep(ctx context.Context, client GitHub, o Options) Result {
	s := &sweep{
		o: o, client: client, fixes: map[int][]Fix{}, compared: map[string]compared{}, handled: map[int]bool{},
		res: Result{Mode: o.Mode},
	}
	s.actor = &actor{sweep: s}
	repo, err := client.Repository(ctx)
	if err != nil {
		s.res.Fatal = "read the repository: " + brief(err)
		return s.res
	}
	s.branch = repo.DefaultBranch
	if o.Config.Lifecycle.CloseWithRelease {
		s.scan(ctx)
	}
	numbers := s.list(ctx)
	histories, failed := client.Histories(ctx, numbers)
	for _, n := range numbers {
		if err := failed[n]; err != nil && !ghapi.IsGone(err) {
			s.fail(n, "read it", err)
		}
	}
	if s.owner, err = s.whose(ctx, histories); err != nil {
		s.res.Fatal = brief(err)
		return s.res
	}
	facts := s.facts(ctx, numbers, histories)
	if o.Config.Lifecycle.CloseWithRelease {
		s.fixed(ctx, facts)
		if o.Mode != ModeMerge {
			s.released(ctx, facts)
		}
	}
	if o.Mode == ModeAll {
		s.waiting(ctx, facts)
		s.duplicates(ctx, facts)
		s.closed(ctx, facts)
		s.triage(ctx)
	}
	return s.res
}

// scan reads what was merged and committed on the default branch.
func (s *sweep) scan(ctx context.Context) {
	back, pulls, commits := lookBack, maxPulls, maxCommits
	if s.o.Mode != ModeAll {
		back, pulls, commits = lookBackMerge, maxPerEvent, 100
	}
	since := s.o.Now.Add(-back)
	byPull := map[int]string{}
	var more []Revert
	var reverting []ghapi.PullRequest
	count := 0
	if s.o.Mode != ModeRelease {
		for p, err := range s.client.PullRequests(ctx, "merged") {
			if err != nil {
				s.note("the merged pull requests could not be read", err)
				break
			}
			if count++; count > pulls || p.UpdatedAt.Before(since) {
				break
			}
			if p.Base != s.branch || p.MergeCommit == "" || p.MergedAt.Before(since) {
				continue
			}
			byPull[p.Number] = p.MergeCommit
			if revertedPull(p.Body, s.client.Repo()) != 0 {
				reverting = append(reverting, p)
			}
			for _, ref := range p.Closes {
				if ref.Repo == s.client.Repo() {
					s.fixes[ref.Number] = append(s.fixes[ref.Number], Fix{Pull: p.Number, Commit: p.MergeCommit, At: p.MergedAt})
				}
			}
		}
	}
	for _, p := range reverting {
		if of := byPull[revertedPull(p.Body, s.client.Repo())]; of != "" {
			more = append(more, Revert{Of: of, By: p.MergeCommit})
		}
	}
	list, err := s.client.Commits(ctx, s.branch, since, commits)
	// An empty repository has no branch to read: 409.
	if kind := ghapi.KindOf(err); err != nil && kind != ghapi.KindConflict && kind != ghapi.KindNotFound {
		s.note("the commits of the default branch could not be read", err)
	}
	s.reverts = revertsOf(list, s.client.Repo(), more...)
	if s.o.Mode != ModeRelease {
		for _, c := range list {
			for _, n := range Closes(c.Message, s.client.Repo()) {
				merged := slices.ContainsFunc(s.fixes[n], func(x Fix) bool { return x.Commit == c.SHA })
				// The commits of a pull request are fixed by it, whatever its way of merging.
				if !merged && !slices.ContainsFunc(s.fixes[n], func(x Fix) bool { return x.Pull != 0 }) {
					s.fixes[n] = append(s.fixes[n], Fix{Commit: c.SHA, At: c.Date})
				}
			}
		}
	}
	for n := range s.fixes {
		slices.SortStableFunc(s.fixes[n], func(a, b Fix) int { return a.At.Compare(b.At) })
	}
}

// list names the issues whose histories are read.
func (s *sweep) list(ctx context.Context) []int {
	var numbers []int
	seen := map[int]bool{}
	take := func(n int) {
		if !seen[n] {
			seen[n] = true
			numbers = append(numbers, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.fixes)) {
		take(n)
	}
	if s.o.Mode == ModeMerge && len(numbers) > maxPerEvent {
		numbers = numbers[:maxPerEvent] // the daily sweep reads the rest
	}
	with := func(f ghapi.IssueFilter) {
		count := 0
		for i, err := range s.client.Issues(ctx, f) {
			if err != nil {
				s.note(fmt.Sprintf("the issues labeled %s could not be listed", f.Labels), err)
				s.res.ListsFailed++
				return
			}
			take(i.Number)
			if count++; count >= maxListed {
				s.res.Notes = append(s.res.Notes, fmt.Sprintf("more than %d issues are labeled %s: the rest waits", maxListed, f.Labels))
				return
			}
		}
	}
	if s.o.Config.Lifecycle.CloseWithRelease && (s.o.Mode != ModeMerge || len(s.reverts.by) > 0) {
		with(ghapi.IssueFilter{Labels: []string{config.LabelFixed}, OldestFirst: true})
	}
	if s.o.Mode != ModeAll {
		return numbers
	}
	for _, label := range []string{config.LabelNeedsInfo, config.LabelPossible} {
		with(ghapi.IssueFilter{State: "open", Labels: []string{label}, OldestFirst: true})
	}
	for _, label := range []string{config.LabelStale, config.LabelNeedsInfo, config.LabelPossible, config.LabelNeedsTriage, config.LabelDuplicate} {
		with(ghapi.IssueFilter{State: "closed", Labels: []string{label}, Since: s.o.Now.Add(-tidyBack), OldestFirst: true})
	}
	return numbers
}

func (s *sweep) whose(ctx context.Context, histories map[int]ghapi.History) (comment.Owner, error) {
	var all []ghapi.Comment
	for _, h := range histories {
		all = append(all, h.Comments...)
	}
	return comment.OwnerOf(ctx, s.client, all)
}

func (s *sweep) facts(ctx context.Context, numbers []int, histories map[int]ghapi.History) []Facts {
	var out []Facts
	for _, n := range numbers {
		h, ok := histories[n]
		if !ok {
			continue
		}
		may := func(string) (bool, error) { return false, nil }
		if s.o.Mode == ModeAll && (h.Issue.HasLabel(config.LabelNeedsInfo) || h.Issue.State == "closed") {
			may = func(login string) (bool, error) { return s.client.CanWrite(ctx, login) }
		}
		f, err := factsOf(h, s.owner, s.branch, may)
		if err != nil {
			s.fail(n, "read who may write", err)
			continue
		}
		out = append(out, f)
	}
	return out
}
