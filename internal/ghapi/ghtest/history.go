package ghtest

import (
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// timeline is the part of an issue's timeline that GraphQL is asked for.
func (c *call) timeline(i *issueState) []node {
	kinds := map[string]string{"labeled": "LabeledEvent", "unlabeled": "UnlabeledEvent", "closed": "ClosedEvent", "reopened": "ReopenedEvent"}
	var out []node
	for _, e := range i.events {
		if kinds[e.Kind] == "" {
			continue
		}
		n := node{"__typename": kinds[e.Kind], "actor": c.gqlActor(e.Actor), "createdAt": stamp(e.CreatedAt), "stateReason": upper(e.Reason)}
		if e.Label != "" {
			n["label"] = node{"__typename": "Label", "name": e.Label}
		}
		out = append(out, n)
	}
	return out
}

// EditIssue changes an issue's body as a person does on the web.
func (s *Server) EditIssue(issue int, login, body string) {
	s.change(issue, func(i *issueState) {
		i.Body, i.editedAt, i.editor, i.UpdatedAt = body, s.now(), s.user(login), s.now()
	})
}

// EditIssueAt is [Server.EditIssue] with the time of the edit.
func (s *Server) EditIssueAt(issue int, login, body string, at time.Time) {
	s.change(issue, func(i *issueState) {
		i.Body, i.editedAt, i.editor, i.UpdatedAt = body, at, s.user(login), at
	})
}

// LabelAs puts labels on an issue, or takes them off, as a person does on the web.
func (s *Server) LabelAs(issue int, login string, add bool, names ...string) {
	s.change(issue, func(i *issueState) {
		for _, n := range names {
			kept, had := []string{}, false
			for _, l := range i.Labels {
				if (ghapi.Issue{Labels: []string{l}}).HasLabel(n) {
					had = true
					continue
				}
				kept = append(kept, l)
			}
			kind := "unlabeled"
			if add {
				kept, kind = append(kept, n), "labeled"
				if s.findLabel(n) < 0 {
					s.addLabel(ghapi.Label{Name: n})
				}
			}
			i.Labels = kept
			if had != add {
				s.event(i, ghapi.Event{Kind: kind, Label: n, Actor: ghapi.User{Login: login}})
			}
		}
		i.UpdatedAt = s.now()
	})
}

// SetStateAs closes or reopens an issue as a person does on the web.
func (s *Server) SetStateAs(issue int, login, state, reason string) {
	s.change(issue, func(i *issueState) {
		if i.State == state {
			return
		}
		i.State, i.StateReason, i.UpdatedAt = state, reason, s.now()
		kind := "reopened"
		i.ClosedAt = time.Time{}
		if state == "closed" {
			kind, i.ClosedAt, i.ClosedBy = "closed", s.now(), s.user(login)
		}
		s.event(i, ghapi.Event{Kind: kind, Reason: reason, Actor: ghapi.User{Login: login}})
	})
}
