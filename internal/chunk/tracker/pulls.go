package tracker

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// pulls finds the chunk's pull requests and what is still open on them.
func (l *look) pulls(ctx context.Context) error {
	changed := map[int]time.Time{}
	for p, err := range l.Client.PullRequests(ctx) {
		if err != nil {
			return err
		}
		if p.UpdatedAt.Before(l.c.Started) {
			break
		}
		changed[p.Number] = p.UpdatedAt
		if l.c.Pull(p.Number) == nil {
			if err := l.join(ctx, p); err != nil {
				return err
			}
		}
	}
	for i := range l.c.Pulls {
		if err := l.pull(ctx, &l.c.Pulls[i], changed[l.c.Pulls[i].Number]); err != nil {
			return err
		}
	}
	return nil
}

// join decides whether a pull request is one of this chunk's: opened by it, and for an issue of the fixed set.
func (l *look) join(ctx context.Context, p ghapi.PullRequest) error {
	m, marked := chunk.ParseMark(p.Body)
	marked = marked && m.Kind == chunk.MarkAgent
	byAgent := strings.EqualFold(p.Author.Login, l.c.Agent) && p.Number > l.c.ID
	switch {
	case marked && m.Int("chunk") != l.c.ID, !marked && !byAgent:
		return nil
	case marked && !byAgent:
		if ok, err := l.trusts(ctx, p.Author); err != nil || !ok {
			return err
		}
	}
	var refs []int
	for _, n := range l.references(p) {
		if h := l.c.Find(n); h != nil && h.State != chunk.ClaimReleased && h.State != chunk.ClaimTakenOver {
			refs = append(refs, n)
		}
	}
	if len(refs) > 0 {
		if !l.c.Fixed { // the work has begun without a poll
			l.note(ctx, chunk.Event{Do: chunk.DoFixed}, fixedWords(l.c))
		}
		l.note(ctx, chunk.Event{Do: chunk.DoTracked, Pull: p.Number, Refs: refs}, fmt.Sprintf("Tracks pull request %d.", p.Number))
		return nil
	}
	key := "pull-" + strconv.Itoa(p.Number)
	if !marked || !l.c.Fixed || slices.ContainsFunc(l.c.Findings, func(f chunk.Finding) bool { return f.Key == key && f.Filed }) {
		return nil
	}
	l.Warn(fmt.Sprintf("pull request %d of this chunk references no claimed issue: not tracked, filed as a finding", p.Number))
	if _, err := l.Note(ctx, l.c, Draft{Key: key, Title: fmt.Sprintf("Pull request %d of an agent references no claimed issue", p.Number), Text: fmt.Sprintf("It was opened by chunk `#%d` for none of its issues. Triage it: close the pull request, or name its issue.", l.c.ID), Pull: p.Number}); err != nil {
		l.Warn(err.Error())
	}
	return nil
}

// pull reads the state of a tracked pull request, also after its merge, and what nobody has answered yet.
func (l *look) pull(ctx context.Context, p *chunk.Tracked, changed time.Time) error {
	f, err := l.Client.Feedback(ctx, p.Number)
	switch {
	case ghapi.KindOf(err) == ghapi.KindForbidden:
		p.State = chunk.PullUnknown
		return nil
	case ghapi.IsGone(err):
		p.State = chunk.PullClosed
		return nil
	case err != nil:
		return err
	}
	if state := chunk.PullState(f.State); state != p.State {
		p.State = state
		l.entries = append(l.entries, chunk.Entry{Item: p.Number, ID: -int64(p.Number), At: changed})
	}
	// Commits are the agent's, whoever pushes them: they show that it got on.
	if heads := l.c.Gate.Heads; heads[p.Number] != f.Head {
		if heads == nil {
			l.c.Gate.Heads = map[int]string{}
		}
		if heads[p.Number] != "" {
			l.c.Gate.NoProgress = 0
		}
		l.c.Gate.Heads[p.Number] = f.Head
	}
	l.reading.Feedback += f.OpenThreads
	var asked time.Time // the newest remark of a bot
	answered := time.Time{}
	for _, r := range f.Remarks {
		l.comment(p.Number, ghapi.Comment{ID: r.ID, Body: r.Body, Author: r.Author, CreatedAt: r.At, UpdatedAt: r.At})
		ours := comment.JobToken().Wrote(r.Author) || strings.EqualFold(r.Author.Login, l.c.Agent)
		switch {
		case r.Author.IsBot() && !ours:
			asked = later(asked, r.At)
		default:
			answered = later(answered, r.At)
		}
	}
	if !asked.IsZero() && !answered.After(asked) {
		l.reading.Feedback++
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

var issueWord = lazy.Regexp(`(?:^|[^A-Za-z0-9_/&])#([1-9][0-9]{0,8})\b`)

// references are the issues of this repository that a pull request closes or names.
func (t *Tracker) references(p ghapi.PullRequest) []int {
	var all []int
	for _, ref := range p.Closes {
		if strings.EqualFold(ref.Repo, t.Client.Repo()) {
			all = append(all, ref.Number)
		}
	}
	for _, m := range allMatches(issueWord(), p.Title+"\n"+p.Body) {
		if n, err := strconv.Atoi(m); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func allMatches(re *regexp.Regexp, text string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(text, 500) {
		out = append(out, m[1])
	}
	return out
}

// openReferences are the issues that an open pull request references.
func (t *Tracker) openReferences(ctx context.Context) (map[int]bool, error) {
	refs := map[int]bool{}
	for p, err := range t.Client.PullRequests(ctx, "open") {
		if err != nil {
			return nil, err
		}
		for _, n := range t.references(p) {
			refs[n] = true
		}
	}
	return refs, nil
}
