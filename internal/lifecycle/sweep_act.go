package lifecycle

import (
	"context"
	"errors"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

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
