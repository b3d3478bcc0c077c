package lifecycle

import (
	"context"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

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
