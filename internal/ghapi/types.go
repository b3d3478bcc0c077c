package ghapi

import (
	"strings"
	"time"
)

// User is an account. Login carries the suffix "[bot]" for apps, also when it was read by GraphQL (which drops it).
type User struct {
	Login string
	ID    int64  // 0 when GitHub did not say
	Type  string // User, Bot, Organization, Mannequin; empty for a deleted account
}

// IsBot reports whether the account is an app.
func (u User) IsBot() bool { return u.Type == "Bot" || strings.HasSuffix(u.Login, "[bot]") }

// Issue is an issue, or a pull request seen as one ([Issue.IsPullRequest]).
type Issue struct {
	Number            int
	ID                int64
	NodeID            string
	Title             string
	Body              string // empty when GitHub says null
	State             string // open or closed
	StateReason       string // completed, not_planned, duplicate, reopened or empty
	Locked            bool
	LockReason        string
	IsPullRequest     bool
	Author            User
	AuthorAssociation string
	ClosedBy          User // REST single reads only
	Labels            []string
	Assignees         []string // logins
	Milestone         string   // title
	MilestoneNumber   int
	Comments          int // how many
	CreatedAt         time.Time
	UpdatedAt         time.Time
	ClosedAt          time.Time // zero while open
	URL               string    // for people
}

// HasLabel reports whether the issue carries the label. GitHub compares label names without regard to case.
func (i Issue) HasLabel(name string) bool {
	for _, l := range i.Labels {
		if strings.EqualFold(l, name) {
			return true
		}
	}
	return false
}

// Comment is a comment on an issue.
type Comment struct {
	ID                int64
	NodeID            string
	Body              string
	Author            User
	AuthorAssociation string
	CreatedAt         time.Time
	UpdatedAt         time.Time
	URL               string
}

// Label is a label of the repository. Color has six hexadecimal digits and no "#".
type Label struct {
	Name        string
	Color       string
	Description string
}

// Event is an entry of an issue's events or of its timeline. Which fields are set depends on Kind.
type Event struct {
	ID        int64  // 0 for entries that have none (cross-references)
	Kind      string // labeled, unlabeled, closed, reopened, cross-referenced, commented, renamed, transferred, …
	Actor     User
	CreatedAt time.Time
	Label     string // labeled, unlabeled
	Commit    string // closed by a commit, referenced
	Reason    string // closed: completed, not_planned, duplicate
	Source    int    // cross-referenced: number of the issue or pull request that names this one
	SourceURL string // cross-referenced: its page; it may belong to another repository
	SourcePR  bool
}

// Release is a published release, or a draft.
type Release struct {
	ID          int64
	Tag         string
	Name        string
	Body        string
	Draft       bool
	Prerelease  bool
	CreatedAt   time.Time
	PublishedAt time.Time // zero for a draft
	URL         string
}

// Discussion is a discussion with its accepted answer.
type Discussion struct {
	Number    int
	Title     string
	Body      string
	Category  string
	Closed    bool
	Answered  bool
	Answer    string // empty without an accepted answer
	Author    User
	CreatedAt time.Time
	UpdatedAt time.Time
	URL       string
}

// PullRequest is a pull request as the lifecycle needs it.
type PullRequest struct {
	Number      int
	Title       string
	Body        string
	State       string // open, closed, merged
	Author      User
	Base        string // branch it goes into
	HeadRepo    string // owner/name, empty when the fork is gone
	MergeCommit string
	MergedAt    time.Time
	UpdatedAt   time.Time
	URL         string
	Closes      []IssueRef // issues it closes, at most 25
}

// IssueRef names an issue together with its repository.
type IssueRef struct {
	Repo   string // owner/name
	Number int
	State  string // open or closed
}

// Milestone is a milestone of the repository.
type Milestone struct {
	Number      int
	Title       string
	Description string
	State       string // open or closed
	DueOn       time.Time
}

// Reaction is a reaction to an issue or to a comment.
type Reaction struct {
	ID        int64
	Content   string // +1, -1, laugh, confused, heart, hooray, rocket, eyes
	User      User
	CreatedAt time.Time
}

// Repository is what the product asks about the repository itself.
type Repository struct {
	ID            int64
	NodeID        string
	FullName      string
	DefaultBranch string
	Private       bool
	Visibility    string // public, private, internal
	Fork          bool
	Archived      bool
	HasIssues     bool
	OwnerType     string // User or Organization
	URL           string
}

// Comparison is how head relates to base.
type Comparison struct {
	Status  string // ahead, behind, identical, diverged
	Ahead   int
	Behind  int
	Commits []Commit // those of head that base lacks, oldest first, at most 250
}

// Contains reports whether head contains base.
func (c Comparison) Contains() bool { return c.Status == "ahead" || c.Status == "identical" }

// Commit is a commit with its message.
type Commit struct {
	SHA     string
	Message string
	Author  User
	Date    time.Time // committer's date
	URL     string
}

// TreeEntry is a path of a tree.
type TreeEntry struct {
	Path string
	Kind string // blob, tree, commit (a submodule)
	Mode string
	SHA  string
	Size int
}

// Workflow is a workflow file of the repository.
type Workflow struct {
	ID    int64
	Name  string
	Path  string // .github/workflows/x.yml
	State string // active, disabled_manually, disabled_inactivity, …
}

// Run is a run of a workflow.
type Run struct {
	ID         int64
	WorkflowID int64
	Attempt    int
	Name       string
	Path       string // workflow file, without @ref
	Event      string
	Status     string // queued, in_progress, completed, …
	Conclusion string
	HeadBranch string
	HeadSHA    string
	HeadRepo   string // owner/name; another one for a fork's pull request
	Actor      User
	CreatedAt  time.Time
	UpdatedAt  time.Time
	URL        string
}

// Artifact is an artifact of a run. Anyone's pull request can upload any name: look at HeadRepoID and HeadBranch.
type Artifact struct {
	ID         int64
	Name       string
	Size       int64
	Expired    bool
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RunID      int64
	RepoID     int64
	HeadRepoID int64
	HeadBranch string
	HeadSHA    string
}

// Alert is a code-scanning alert.
type Alert struct {
	Number   int
	State    string // open, dismissed, fixed
	Tool     string
	Rule     string
	Severity string
	Path     string // of the most recent instance
	Line     int
	URL      string
}

// Environment is a deployment environment.
type Environment struct {
	Name              string
	ProtectedBranches bool // only protected branches may deploy
	CustomBranches    bool // only branches that match Branches may deploy
	Branches          []string
	Reviewers         bool
}
