package lifecycle

import (
	"context"
	"iter"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// GitHub is what a sweep reads; [*ghapi.Client] is one. An error of it is an error of its request alone, and the tests
// of the sweep put a repository in memory in its place.
type GitHub interface {
	Repo() string
	ServerURL() string
	Viewer(ctx context.Context) (ghapi.User, error)
	Repository(ctx context.Context) (ghapi.Repository, error)
	CanWrite(ctx context.Context, login string) (bool, error)

	Issue(ctx context.Context, number int) (ghapi.Issue, error)
	Issues(ctx context.Context, f ghapi.IssueFilter) iter.Seq2[ghapi.Issue, error]
	Histories(ctx context.Context, numbers []int) (map[int]ghapi.History, map[int]error)
	CommentReactions(ctx context.Context, comment int64) ([]ghapi.Reaction, error)
	Milestones(ctx context.Context) ([]ghapi.Milestone, error)

	PullRequests(ctx context.Context, states ...string) iter.Seq2[ghapi.PullRequest, error]
	Commits(ctx context.Context, branch string, since time.Time, n int) ([]ghapi.Commit, error)
	Releases(ctx context.Context, n int) ([]ghapi.Release, error)
	Compare(ctx context.Context, base, head string) (ghapi.Comparison, error)
	Runs(ctx context.Context, f ghapi.RunFilter) ([]ghapi.Run, error)
}

var _ GitHub = (*ghapi.Client)(nil)
