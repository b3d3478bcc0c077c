package ghapi

import (
	"strconv"
	"strings"

	"github.com/google/go-github/v66/github"
)

func userOf(u *github.User) User {
	if u == nil {
		return User{}
	}
	return User{Login: u.GetLogin(), ID: u.GetID(), Type: u.GetType()}
}

func issueOf(i *github.Issue) Issue {
	out := Issue{
		Number: i.GetNumber(), ID: i.GetID(), NodeID: i.GetNodeID(), Title: i.GetTitle(), Body: i.GetBody(),
		State: i.GetState(), StateReason: i.GetStateReason(), Locked: i.GetLocked(), LockReason: i.GetActiveLockReason(),
		IsPullRequest: i.IsPullRequest(), Author: userOf(i.User), AuthorAssociation: i.GetAuthorAssociation(),
		ClosedBy: userOf(i.ClosedBy), Milestone: i.GetMilestone().GetTitle(), MilestoneNumber: i.GetMilestone().GetNumber(),
		Comments: i.GetComments(), CreatedAt: i.GetCreatedAt().Time, UpdatedAt: i.GetUpdatedAt().Time,
		ClosedAt: i.GetClosedAt().Time, URL: i.GetHTMLURL(),
		Labels:    convert(i.Labels, (*github.Label).GetName),
		Assignees: convert(i.Assignees, (*github.User).GetLogin),
	}
	return out
}

func commentOf(c *github.IssueComment) Comment {
	return Comment{
		ID: c.GetID(), NodeID: c.GetNodeID(), Body: c.GetBody(), Author: userOf(c.User),
		AuthorAssociation: c.GetAuthorAssociation(), CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
		URL: c.GetHTMLURL(),
	}
}

func labelOf(l *github.Label) Label {
	return Label{Name: l.GetName(), Color: l.GetColor(), Description: l.GetDescription()}
}

func releaseOf(r *github.RepositoryRelease) Release {
	return Release{
		ID: r.GetID(), Tag: r.GetTagName(), Name: r.GetName(), Body: r.GetBody(), Draft: r.GetDraft(),
		Prerelease: r.GetPrerelease(), CreatedAt: r.GetCreatedAt().Time, PublishedAt: r.GetPublishedAt().Time, URL: r.GetHTMLURL(),
	}
}

func milestoneOf(m *github.Milestone) Milestone {
	return Milestone{
		Number: m.GetNumber(), Title: m.GetTitle(), Description: m.GetDescription(), State: m.GetState(), DueOn: m.GetDueOn().Time,
	}
}

func reactionOf(r *github.Reaction) Reaction {
	return Reaction{ID: r.GetID(), Content: r.GetContent(), User: userOf(r.User)}
}

func runOf(r *github.WorkflowRun) Run {
	path, _, _ := strings.Cut(r.GetPath(), "@") // reusable files carry @ref
	return Run{
		ID: r.GetID(), WorkflowID: r.GetWorkflowID(), Attempt: r.GetRunAttempt(), Name: r.GetName(), Path: path,
		Event: r.GetEvent(), Status: r.GetStatus(), Conclusion: r.GetConclusion(), HeadBranch: r.GetHeadBranch(),
		HeadSHA: r.GetHeadSHA(), HeadRepo: r.GetHeadRepository().GetFullName(), Actor: userOf(r.Actor),
		CreatedAt: r.GetCreatedAt().Time, UpdatedAt: r.GetUpdatedAt().Time, URL: r.GetHTMLURL(),
	}
}

func workflowOf(w *github.Workflow) Workflow {
	return Workflow{ID: w.GetID(), Name: w.GetName(), Path: w.GetPath(), State: w.GetState()}
}

func alertOf(a *github.Alert) Alert {
	loc := a.GetMostRecentInstance().GetLocation()
	severity := a.GetRule().GetSecuritySeverityLevel()
	if severity == "" {
		severity = a.GetRule().GetSeverity()
	}
	return Alert{
		Number: a.GetNumber(), State: a.GetState(), Tool: a.GetTool().GetName(), Rule: a.GetRule().GetID(),
		Severity: severity, Path: loc.GetPath(), Line: loc.GetStartLine(), URL: a.GetHTMLURL(),
	}
}

func commitOf(c *github.RepositoryCommit) Commit {
	return Commit{
		SHA: c.GetSHA(), Message: c.GetCommit().GetMessage(), Author: userOf(c.Author),
		Date: c.GetCommit().GetCommitter().GetDate().Time, URL: c.GetHTMLURL(),
	}
}

// restEvent is an entry of the events or of the timeline. go-github has a type for each and lacks fields in both.
type restEvent struct {
	ID          int64             `json:"id"`
	Event       string            `json:"event"`
	Actor       *github.User      `json:"actor"`
	User        *github.User      `json:"user"`
	CreatedAt   *github.Timestamp `json:"created_at"`
	SubmittedAt *github.Timestamp `json:"submitted_at"`
	CommitID    string            `json:"commit_id"`
	SHA         string            `json:"sha"`
	StateReason string            `json:"state_reason"`
	Label       *github.Label     `json:"label"`
	Source      *struct {
		Issue *github.Issue `json:"issue"`
	} `json:"source"`
}

func eventOf(e *restEvent) Event {
	out := Event{ID: e.ID, Kind: e.Event, Actor: userOf(e.Actor), Label: e.Label.GetName(), Commit: e.CommitID, Reason: e.StateReason}
	if e.Actor == nil {
		out.Actor = userOf(e.User)
	}
	if out.Commit == "" {
		out.Commit = e.SHA
	}
	switch {
	case e.CreatedAt != nil:
		out.CreatedAt = e.CreatedAt.Time
	case e.SubmittedAt != nil:
		out.CreatedAt = e.SubmittedAt.Time
	}
	if e.Source != nil && e.Source.Issue != nil {
		out.Source, out.SourceURL = e.Source.Issue.GetNumber(), e.Source.Issue.GetHTMLURL()
		out.SourcePR = e.Source.Issue.IsPullRequest()
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }

func itoa64(n int64) string { return strconv.FormatInt(n, 10) }
