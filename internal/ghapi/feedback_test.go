package ghapi_test

import (
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func TestFeedback(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	p := s.AddPullRequest(ghapi.PullRequest{Title: "fix", Author: ghapi.User{Login: "agent"}})
	threads := make([]bool, 130)
	for i := range threads {
		threads[i] = i%2 == 0
	}
	s.SetReviewThreads(p, threads...)
	s.AddReview(p, "review[bot]", "two things")
	s.AddReview(p, "review[bot]", "  ")
	s.CommentAs(p, "maintainer", "thanks")

	got := must[ghapi.Feedback](t)(c.Feedback(bg(t), p))
	if got.State != "open" || got.OpenThreads != 65 || len(got.Remarks) != 2 {
		t.Fatalf("%+v", got)
	}
	if r := got.Remarks[0]; !r.Author.IsBot() || r.Author.Login != "review[bot]" || r.Body != "two things" || r.At.IsZero() {
		t.Errorf("%+v", r)
	}
	if r := got.Remarks[1]; r.Author.IsBot() || r.At.IsZero() {
		t.Errorf("%+v", r)
	}
	s.SetPullState(p, "maintainer", "merged")
	if got := must[ghapi.Feedback](t)(c.Feedback(bg(t), p)); got.State != "merged" {
		t.Errorf("%+v", got)
	}
	_, err := c.Feedback(bg(t), 99)
	_ = wantKind(t, err, ghapi.KindNotFound)
}
