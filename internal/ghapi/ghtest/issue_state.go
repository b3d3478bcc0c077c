package ghtest

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// AddIssue adds an issue and returns its number. What is left empty is filled in; its labels become labels of the
// repository.
func (s *Server) AddIssue(i ghapi.Issue) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addIssue(i).Number
}

func (s *Server) addIssue(i ghapi.Issue) *issueState {
	st := &s.state
	if i.Number == 0 {
		i.Number = st.nextNumber
	}
	st.nextNumber = max(st.nextNumber, i.Number+1)
	if i.ID == 0 {
		i.ID = s.id()
	}
	if i.NodeID == "" {
		i.NodeID = fmt.Sprintf("I_%d", i.ID)
	}
	if i.State == "" {
		i.State = "open"
	}
	if i.Author.Login == "" {
		i.Author.Login = "reporter"
	}
	i.Author = s.user(i.Author.Login)
	if i.AuthorAssociation == "" {
		i.AuthorAssociation = s.association(i.Author.Login)
	}
	if i.CreatedAt.IsZero() {
		i.CreatedAt = s.now()
	}
	if i.UpdatedAt.IsZero() {
		i.UpdatedAt = i.CreatedAt
	}
	if i.State == "closed" && i.ClosedAt.IsZero() {
		i.ClosedAt = i.UpdatedAt
	}
	kind := "issues"
	if i.IsPullRequest {
		kind = "pull"
	}
	i.URL = fmt.Sprintf("%s/%s/%d", s.htmlRepo(), kind, i.Number)
	for _, l := range i.Labels {
		if s.findLabel(l) < 0 {
			s.addLabel(ghapi.Label{Name: l})
		}
	}
	added := &issueState{Issue: i}
	added.Labels = append([]string{}, i.Labels...)
	st.issues[i.Number] = added
	return added
}

// AddComment adds a comment of an account and returns its id.
func (s *Server) AddComment(issue int, login, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addComment(issue, login, body, s.now()).ID
}

// AddCommentAt is [Server.AddComment] with the time of posting.
func (s *Server) AddCommentAt(issue int, login, body string, at time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addComment(issue, login, body, at).ID
}

func (s *Server) addComment(issue int, login, body string, at time.Time) *commentState {
	id := s.id()
	c := &commentState{issue: issue, Comment: ghapi.Comment{
		ID: id, NodeID: fmt.Sprintf("IC_%d", id), Body: body, Author: s.user(login), AuthorAssociation: s.association(login),
		CreatedAt: at, UpdatedAt: at, URL: fmt.Sprintf("%s/issues/%d#issuecomment-%d", s.htmlRepo(), issue, id),
	}}
	i := s.state.issues[issue]
	if i == nil {
		i = s.addIssue(ghapi.Issue{Number: issue})
	}
	i.comments = append(i.comments, c)
	if at.After(i.UpdatedAt) {
		i.UpdatedAt = at
	}
	return c
}

// AddEvent adds an event to an issue's history; id and time are filled in.
func (s *Server) AddEvent(issue int, e ghapi.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.state.issues[issue]; i != nil {
		s.event(i, e)
	}
}

func (s *Server) event(i *issueState, e ghapi.Event) {
	if e.ID == 0 {
		e.ID = s.id()
	}
	if e.CreatedAt.IsZero() {
		e.CreatedAt = s.now()
	}
	if e.Actor.Login == "" {
		e.Actor.Login = cmp.Or(s.acting, s.opts.Viewer)
	}
	e.Actor = s.user(e.Actor.Login)
	i.events = append(i.events, e)
}

// AddReaction adds a reaction of an account to an issue, or to one of its comments.
func (s *Server) AddReaction(issue int, comment int64, login, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := ghapi.Reaction{ID: s.id(), Content: content, User: s.user(login), CreatedAt: s.now()}
	i := s.state.issues[issue]
	if i == nil {
		return
	}
	if comment == 0 {
		i.reactions = append(i.reactions, r)
		return
	}
	for _, c := range i.comments {
		if c.ID == comment {
			c.reactions = append(c.reactions, r)
		}
	}
}

// SetNullBody makes GitHub say null for the body of an issue.
func (s *Server) SetNullBody(issue int) {
	s.change(issue, func(i *issueState) { i.Body, i.nullBody = "", true })
}

// DeleteIssue makes an issue answer 410.
func (s *Server) DeleteIssue(issue int) { s.change(issue, func(i *issueState) { i.deleted = true }) }

// TransferIssue makes an issue answer 301 to the address of another repository's issue.
func (s *Server) TransferIssue(issue int, location string) {
	s.change(issue, func(i *issueState) { i.movedTo = location })
}

// LockIssue locks the conversation.
func (s *Server) LockIssue(issue int, reason string) {
	s.change(issue, func(i *issueState) { i.Locked, i.LockReason = true, reason })
}

func (s *Server) change(issue int, f func(*issueState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.state.issues[issue]; i != nil {
		f(i)
	}
}

// Issue is the present state of an issue.
func (s *Server) Issue(number int) (ghapi.Issue, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.state.issues[number]
	if i == nil || i.deleted {
		return ghapi.Issue{}, false
	}
	out := i.Issue
	out.Labels = append([]string{}, i.Labels...)
	out.Comments = len(i.comments)
	return out, true
}

// Comments are the comments of an issue, oldest first.
func (s *Server) Comments(number int) []ghapi.Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []ghapi.Comment
	if i := s.state.issues[number]; i != nil {
		for _, c := range i.comments {
			out = append(out, c.Comment)
		}
	}
	return out
}

// Events are the events of an issue, oldest first.
func (s *Server) Events(number int) []ghapi.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.state.issues[number]; i != nil {
		return append([]ghapi.Event{}, i.events...)
	}
	return nil
}

// Dump is the state that a run can change, as text without ids and times: two runs with the same end state give the
// same text.
func (s *Server) Dump() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	var numbers []int
	for n := range s.state.issues {
		numbers = append(numbers, n)
	}
	sort.Ints(numbers)
	for _, n := range numbers {
		i := s.state.issues[n]
		labels := append([]string{}, i.Labels...)
		sort.Strings(labels)
		fmt.Fprintf(&b, "#%d %s %s milestone=%d labels=%q title=%q body=%q\n", n, i.State, i.StateReason, i.MilestoneNumber, labels, i.Title, i.Body)
		for _, r := range i.reactions {
			fmt.Fprintf(&b, "  reaction %s by %s\n", r.Content, r.User.Login)
		}
		for _, c := range i.comments {
			fmt.Fprintf(&b, "  comment by %s: %q\n", c.Author.Login, c.Body)
			for _, r := range c.reactions {
				fmt.Fprintf(&b, "    reaction %s by %s\n", r.Content, r.User.Login)
			}
		}
	}
	for _, l := range s.state.labels {
		fmt.Fprintf(&b, "label %q %s %q\n", l.Name, l.Color, l.Description)
	}
	for _, m := range s.state.milestones {
		fmt.Fprintf(&b, "milestone %d %q %s\n", m.Number, m.Title, m.State)
	}
	for _, w := range s.state.workflows {
		fmt.Fprintf(&b, "workflow %s %s\n", w.Path, w.State)
	}
	for _, a := range s.state.alerts {
		fmt.Fprintf(&b, "alert %d %s\n", a.Number, a.State)
	}
	return b.String()
}
