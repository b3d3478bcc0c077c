package lifecycle

import (
	"context"
	"errors"
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

func (s *sweep) fixed(ctx context.Context, facts []Facts) {
	for _, f := range facts {
		if d := Reverted(f, s.o.Config.Lifecycle, s.reverts); len(d.Steps) > 0 {
			s.act(ctx, f, d)
			continue
		}
		if s.o.Mode == ModeRelease {
			continue
		}
		// The newest fix is told; what came before it is part of the same story.
		for _, fix := range slices.Backward(s.fixes[f.Issue.Number]) {
			if s.reverts.Has(fix) {
				continue
			}
			s.act(ctx, f, MarkFixed(f, fix, s.o.Config.Lifecycle))
			break
		}
	}
}

// released closes what a release holds. The releases are read only when an issue waits for one.
func (s *sweep) released(ctx context.Context, facts []Facts) {
	for _, f := range facts {
		if !f.Issue.HasLabel(config.LabelFixed) || s.handled[f.Issue.Number] {
			continue
		}
		if exempt, why := f.Exempt(s.o.Config.Lifecycle); exempt {
			s.act(ctx, f, Decision{Topic: TopicExempt, Note: why})
			continue
		}
		fixes, _ := Known(f, s.reverts)
		if len(fixes) == 0 {
			s.act(ctx, f, Decision{Topic: TopicNoFix})
			continue
		}
		if s.releases == nil {
			list, err := s.client.Releases(ctx, maxReleases)
			if err != nil {
				s.note("the releases could not be read", err)
				return
			}
			s.releases = append([]ghapi.Release{}, list...)
		}
		release, ok, err := s.first(ctx, fixes)
		switch {
		case err != nil:
			s.fail(f.Issue.Number, "compare its fix with a release", err)
		case ok:
			s.act(ctx, f, Released(f, s.o.Config.Lifecycle, release))
		default:
			s.act(ctx, f, Decision{Topic: TopicPending})
		}
	}
}

// first is the first release from which on all fixes are held. A fix that was taken back counts no more, also when its
// revert is older than what the sweep reads of the branch; one that came back waits for the next release.
func (s *sweep) first(ctx context.Context, fixes []Fix) (ghapi.Release, bool, error) {
	var live []Fix
	held := map[string][]string{} // commit -> tags; nil: never reverted, so it is asked for below
	for _, x := range fixes {
		tags, dead, err := s.heldBy(ctx, x)
		if err != nil {
			return ghapi.Release{}, false, err
		}
		if !dead {
			live, held[x.Commit] = append(live, x), tags
		}
	}
	for _, r := range Candidates(s.releases, live) {
		all := len(live) > 0
		for _, x := range live {
			if tags := held[x.Commit]; tags != nil {
				all = slices.Contains(tags, r.Tag)
			} else {
				c, err := s.compare(ctx, x, r.Tag)
				if err != nil {
					return ghapi.Release{}, false, err
				}
				all = c.standing == HasIt
			}
			if !all {
				break
			}
		}
		if all {
			return r, true, nil
		}
	}
	return ghapi.Release{}, false, nil
}

// heldBy lists the releases that hold a fix, newest first, back to the one that last came without it again. Nil: the
// newest holds it and it was never reverted, so that one comparison is enough.
func (s *sweep) heldBy(ctx context.Context, fix Fix) (tags []string, dead bool, err error) {
	tags = []string{}
	for _, r := range slices.Backward(Candidates(s.releases, []Fix{fix})) {
		c, err := s.compare(ctx, fix, r.Tag)
		if err != nil {
			return nil, false, err
		}
		switch c.standing {
		case HasIt:
			if c.straight && len(tags) == 0 {
				return nil, false, nil
			}
			tags = append(tags, r.Tag)
		case TakenBack:
			return tags, len(tags) == 0 && c.reverts.and(s.reverts).Has(fix), nil
		case Lacks: // a release of another branch knows nothing of it
		}
	}
	return tags, false, nil
}

// compared is how a release stands to a fix, and what it reverts.
type compared struct {
	standing Standing
	straight bool // it holds the commit itself and never reverted it
	reverts  Reverts
}

func (s *sweep) compare(ctx context.Context, fix Fix, tag string) (compared, error) {
	key := fix.Commit + " " + tag
	if known, ok := s.compared[key]; ok {
		return known, nil
	}
	var out compared
	cmp, err := s.client.Compare(ctx, fix.Commit, tag)
	switch kind := ghapi.KindOf(err); {
	case kind == ghapi.KindNotFound || kind == ghapi.KindInvalid: // no such tag, or the commit is gone
	case err != nil:
		return out, err
	default:
		out.standing, out.reverts = StandingOf(cmp, s.client.Repo(), fix), revertsOf(cmp.Commits, s.client.Repo())
		out.straight = cmp.Contains() && !out.reverts.names(fix)
	}
	s.compared[key] = out
	return out, nil
}

func (s *sweep) waiting(ctx context.Context, facts []Facts) {
	for _, f := range facts {
		s.act(ctx, f, Waiting(f, s.o.Config.Lifecycle, s.o.Now))
	}
}

func (s *sweep) closed(ctx context.Context, facts []Facts) {
	for _, f := range facts {
		s.act(ctx, f, comeback(f, s.o.Config.Lifecycle))
	}
}

func (s *sweep) duplicates(ctx context.Context, facts []Facts) {
	for _, f := range facts {
		c := s.o.Config.Lifecycle
		if s.handled[f.Issue.Number] {
			continue
		}
		thumbs, open := false, false
		if duplicateDue(f, c, s.o.Now) {
			var err error
			if thumbs, open, err = s.ask(ctx, f); err != nil {
				s.fail(f.Issue.Number, "look at its duplicate", err)
				continue
			}
		}
		s.act(ctx, f, Duplicate(f, c, s.o.Now, thumbs, open))
	}
}

// ask reads the reactions to the announcement and the state of the original.
func (s *sweep) ask(ctx context.Context, f Facts) (thumbs, open bool, err error) {
	said, original, _ := announced(f)
	reactions, err := s.client.CommentReactions(ctx, said.ID)
	if err != nil {
		return false, false, err
	}
	for _, r := range reactions {
		if r.Content != "-1" || r.User.Login == "" || r.User.IsBot() {
			continue
		}
		if r.User.Login == f.Issue.Author.Login {
			return true, false, nil
		}
		may, err := s.client.CanWrite(ctx, r.User.Login)
		if err != nil {
			return false, false, err
		}
		if may {
			return true, false, nil
		}
	}
	i, err := s.client.Issue(ctx, original)
	if ghapi.IsGone(err) {
		return false, false, nil
	}
	return false, err == nil && i.State == "open" && !i.IsPullRequest, err
}

// act does a decision and tells it. An issue is acted on once in a sweep: what comes next looks at facts that are old.
func (s *sweep) act(ctx context.Context, f Facts, d Decision) {
	n := f.Issue.Number
	if d.Topic == "" || s.handled[n] {
		return
	}
	if len(d.Steps) == 0 { // told, and free for what comes next
		told := slices.ContainsFunc(s.res.Items, func(i Item) bool { return i.Number == n && i.Topic == d.Topic })
		if !told {
			s.res.Items = append(s.res.Items, Item{Number: n, Topic: d.Topic, Note: d.Note})
		}
		return
	}
	s.handled[n] = true
	item := Item{Number: n, Topic: d.Topic, Note: d.Note}
	if s.inARow >= maxInARow {
		s.res.Skipped++
		return
	}
	var err error
	item.Done, item.Notes, err = s.actor.do(ctx, s.o.Writer(), f, d.Steps)
	s.res.Worked++
	s.inARow++
	if err == nil {
		s.inARow = 0
	}
	if err != nil && !ghapi.IsGone(err) {
		item.Failed = brief(err)
		s.res.Failed++
	} else if err != nil {
		item.Notes = append(item.Notes, "it is gone")
	}
	s.res.Items = append(s.res.Items, item)
}

// fail tells of an issue that could not be looked at.
func (s *sweep) fail(n int, what string, err error) {
	if s.handled[n] {
		return
	}
	s.handled[n] = true
	s.res.Failed++
	s.res.Worked++
	s.res.Items = append(s.res.Items, Item{Number: n, Failed: what + ": " + brief(err)})
}

func (s *sweep) note(what string, err error) {
	s.res.Notes = append(s.res.Notes, what+": "+brief(err))
	s.res.Broken++
	if errors.Is(err, context.Canceled) {
		s.inARow = maxInARow
	}
}
