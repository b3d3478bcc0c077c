package ghapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func TestIssueAndComments(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddIssue(ghapi.Issue{
		Title: "Crash", Body: "b", Labels: []string{"bug", "a/b c#100%"}, Assignees: []string{"octo"}, Author: ghapi.User{Login: "alice"},
	})
	s.SetNullBody(n)
	m := s.AddMilestone(ghapi.Milestone{Title: "v1", DueOn: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)})
	w := ghapi.NewWriter(c)
	if err := w.SetMilestone(bg(t), n, "release", m); err != nil {
		t.Fatal(err)
	}
	for i := range 205 {
		s.AddComment(n, fmt.Sprintf("user%d", i%3), fmt.Sprintf("comment %d", i))
	}
	s.LockIssue(n, "resolved")

	i := must[ghapi.Issue](t)(c.Issue(bg(t), n))
	if i.Body != "" || !i.HasLabel("BUG") || !i.HasLabel("a/b c#100%") || i.Milestone != "v1" || !i.Locked || i.LockReason != "resolved" ||
		i.Comments != 205 || i.Author.Login != "alice" || i.State != "open" || i.IsPullRequest || i.Assignees[0] != "octo" {
		t.Errorf("issue %+v", i)
	}
	if want := c.IssueURL(n); i.URL != want || c.RepoURL() != "https://github.com/octo/demo" {
		t.Errorf("url %s, want %s", i.URL, want)
	}
	list := must[[]ghapi.Comment](t)(c.Comments(bg(t), n))
	if len(list) != 205 || list[204].Body != "comment 204" || list[0].Author.Login != "user0" || list[0].ID >= list[1].ID {
		t.Fatalf("%d comments", len(list))
	}
	if got := requests(s, "GET", fmt.Sprintf("/repos/octo/demo/issues/%d/comments", n)); got != 3 {
		t.Errorf("%d requests for 205 comments, want 3", got)
	}
	one := must[ghapi.Comment](t)(c.Comment(bg(t), list[7].ID))
	if diff := cmp.Diff(list[7], one); diff != "" {
		t.Error(diff)
	}
	late := s.AddCommentAt(n, "alice", "late", s.Now().Add(time.Hour))
	since := must[[]ghapi.Comment](t)(c.CommentsSince(bg(t), n, s.Now().Add(30*time.Minute)))
	if len(since) != 1 || since[0].ID != late {
		t.Errorf("since: %+v", since)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddIssue(ghapi.Issue{Title: "a"})
	other := s.AddIssue(ghapi.Issue{Title: "b", Body: "see #1"})
	pull := s.AddPullRequest(ghapi.PullRequest{Title: "fix", Author: ghapi.User{Login: "dev"}})
	s.AddLabel(ghapi.Label{Name: "bug"})
	s.AddEvent(n, ghapi.Event{Kind: "cross-referenced", Actor: ghapi.User{Login: "bob"}, Source: other, SourceURL: c.IssueURL(other)})
	s.AddEvent(n, ghapi.Event{Kind: "cross-referenced", Actor: ghapi.User{Login: "bob"}, Source: pull})
	s.AddEvent(n, ghapi.Event{Kind: "referenced", Actor: ghapi.User{Login: "bob"}, Commit: strings.Repeat("a", 40)})
	w := ghapi.NewWriter(c)
	for _, err := range []error{
		w.AddLabels(bg(t), n, "kind", "bug"), w.Close(bg(t), n, "sweep", "not_planned", 0), w.Reopen(bg(t), n, "again"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.AddComment(n, "bob", "hello")
	kinds := func(list []ghapi.Event) string {
		var out []string
		for _, e := range list {
			out = append(out, e.Kind)
		}
		return strings.Join(out, " ")
	}
	events := must[[]ghapi.Event](t)(c.Events(bg(t), n))
	if got, want := kinds(events), "referenced labeled closed reopened"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if events[0].Commit != strings.Repeat("a", 40) || events[1].Label != "bug" || events[2].Reason != "not_planned" || events[2].Actor.Login != "github-actions[bot]" {
		t.Errorf("events %+v", events)
	}
	line := must[[]ghapi.Event](t)(c.Timeline(bg(t), n))
	if got, want := kinds(line), "cross-referenced cross-referenced referenced labeled closed reopened commented"; got != want {
		t.Errorf("timeline %s, want %s", got, want)
	}
	if line[0].Source != other || line[0].SourcePR || line[1].Source != pull || !line[1].SourcePR || line[6].Actor.Login != "bob" {
		t.Errorf("timeline %+v", line)
	}
}

func TestReactions(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddIssue(ghapi.Issue{})
	id := s.AddComment(n, "bob", "x")
	s.AddReaction(n, 0, "alice", "-1")
	s.AddReaction(n, id, "alice", "heart")
	w := ghapi.NewWriter(c)
	for range 2 { // the second changes nothing
		if err := errors.Join(w.AddReaction(bg(t), n, id, "seen", "eyes"), w.AddReaction(bg(t), n, 0, "seen", "+1")); err != nil {
			t.Fatal(err)
		}
	}
	contents := func(list []ghapi.Reaction, err error) string {
		var out []string
		for _, r := range must[[]ghapi.Reaction](t)(list, err) {
			out = append(out, r.User.Login+" "+r.Content)
		}
		return strings.Join(out, ", ")
	}
	if got, want := contents(c.IssueReactions(bg(t), n)), "alice -1, github-actions[bot] +1"; got != want {
		t.Errorf("issue: %s, want %s", got, want)
	}
	if got, want := contents(c.CommentReactions(bg(t), id)), "alice heart, github-actions[bot] eyes"; got != want {
		t.Errorf("comment: %s, want %s", got, want)
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	s.SetPermission("dev", "write")
	s.SetPermission("reader", "read")
	for login, want := range map[string]bool{"octo": true, "Dev": true, "reader": false, "nobody-at-all": false} {
		got, err := c.CanWrite(bg(t), login)
		if err != nil || got != want {
			t.Errorf("%s: %v %v", login, got, err)
		}
	}
	before := len(s.Log())
	if level := must[string](t)(c.Permission(bg(t), "DEV")); level != "write" || len(s.Log()) != before {
		t.Errorf("level %s, %d requests: want the one that is known", level, len(s.Log())-before)
	}
	// A name with a slash stays one segment.
	if can, err := c.CanWrite(bg(t), "../../octo"); can || err != nil {
		t.Errorf("%v %v", can, err)
	}
	if path := s.Log()[len(s.Log())-1].Path; path != "/repos/octo/demo/collaborators/..%2F..%2Focto/permission" {
		t.Errorf("path %s", path)
	}
	v := must[ghapi.User](t)(c.Viewer(bg(t)))
	if v.Login != "github-actions[bot]" || !v.IsBot() {
		t.Errorf("viewer %+v", v)
	}
	// An error is not "no" silently.
	s.AddFault(failing("GET", "/repos/octo/demo/collaborators/x/permission", 403))
	if can, err := c.CanWrite(bg(t), "x"); can || ghapi.KindOf(err) != ghapi.KindForbidden {
		t.Errorf("%v %v", can, err)
	}
}

func TestIssuesByGraphQL(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	for i := range 250 {
		issue := ghapi.Issue{Title: fmt.Sprint(i), Author: ghapi.User{Login: "app[bot]"}, Labels: []string{"l"}}
		if i%2 == 0 {
			issue.State, issue.StateReason = "closed", "duplicate"
		}
		s.AddIssue(issue)
	}
	s.AddPullRequest(ghapi.PullRequest{Title: "no issue"})
	all := must[[]ghapi.Issue](t)(ghapi.Collect(c.Issues(bg(t), ghapi.IssueFilter{}), -1))
	if len(all) != 250 || all[0].Number != 250 || requests(s, "POST", "/graphql") != 3 {
		t.Fatalf("%d issues, first #%d, %d requests", len(all), all[0].Number, requests(s, "POST", "/graphql"))
	}
	if a := all[0]; a.Author.Login != "app[bot]" || !a.Author.IsBot() || a.State != "open" || a.Labels[0] != "l" || a.CreatedAt.IsZero() || a.ID == 0 {
		t.Errorf("issue %+v", a)
	}
	if a := all[1]; a.State != "closed" || a.StateReason != "duplicate" || a.ClosedAt.IsZero() {
		t.Errorf("issue %+v", a)
	}
	open := must[[]ghapi.Issue](t)(ghapi.Collect(c.Issues(bg(t), ghapi.IssueFilter{State: "open", OldestFirst: true, Labels: []string{"l"}}), 3))
	if len(open) != 3 || open[0].Number != 2 {
		t.Errorf("open: %+v", open)
	}
	recent := must[[]ghapi.Issue](t)(ghapi.Collect(c.Issues(bg(t), ghapi.IssueFilter{Since: s.Now().Add(time.Hour), UpdatedAtSort: true}), -1))
	if len(recent) != 0 {
		t.Errorf("since: %d", len(recent))
	}
}

func TestIssuesSince(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	base := s.Now()
	for i := range 120 {
		s.AddIssue(ghapi.Issue{Title: fmt.Sprint(i), CreatedAt: base.Add(time.Duration(i) * time.Minute), Labels: []string{"x y"}})
	}
	pull := s.AddPullRequest(ghapi.PullRequest{UpdatedAt: base.Add(1000 * time.Minute)})
	got := must[[]ghapi.Issue](t)(ghapi.Collect(c.IssuesSince(bg(t), base.Add(10*time.Minute)), -1))
	if len(got) != 111 || got[0].Number != 11 || got[110].Number != pull || !got[110].IsPullRequest {
		t.Errorf("%d, first #%d", len(got), got[0].Number)
	}
	open := must[[]ghapi.Issue](t)(c.OpenIssuesWithLabel(bg(t), "x y"))
	if len(open) != 120 || open[0].Number != 1 {
		t.Errorf("%d with the label", len(open))
	}
}

// What was read before an error stands.
func TestListKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	for range 150 {
		s.AddIssue(ghapi.Issue{})
	}
	for range 130 {
		s.AddComment(1, "bob", "x")
	}
	s.AddFault(skipping(failing("POST", "/graphql", 403), 1))
	got, err := ghapi.Collect(c.Issues(bg(t), ghapi.IssueFilter{}), -1)
	_ = wantKind(t, err, ghapi.KindForbidden)
	if len(got) != 100 {
		t.Errorf("%d issues", len(got))
	}
	s.AddFault(skipping(failing("GET", "/repos/octo/demo/issues/1/comments", 403), 1))
	comments, err := c.Comments(bg(t), 1)
	_ = wantKind(t, err, ghapi.KindForbidden)
	if len(comments) != 100 {
		t.Errorf("%d comments", len(comments))
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	for i := range 140 {
		s.AddIssue(ghapi.Issue{Title: fmt.Sprintf("Crash %d", i)})
	}
	s.AddPullRequest(ghapi.PullRequest{Title: "Crash fixed"})
	got := must[[]ghapi.Issue](t)(c.SearchIssues(bg(t), "crash", 120))
	if len(got) != 120 || got[0].Number != 140 {
		t.Errorf("%d", len(got))
	}
	if q := s.Log()[0].Query.Get("q"); q != "repo:octo/demo is:issue crash" {
		t.Errorf("query %q", q)
	}
}

func TestRepositoryReads(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	if _, found, err := c.LatestRelease(bg(t)); found || err != nil {
		t.Errorf("a release in an empty repository: %v %v", found, err)
	}
	sha := func(b string) string { return strings.Repeat(b, 40) }
	for _, b := range []string{"a", "b", "c"} {
		s.AddCommit(ghapi.Commit{SHA: sha(b), Message: "fix #" + b, Author: ghapi.User{Login: "dev"}})
	}
	s.SetRef("tags/v1.0 rc", sha("a"))
	s.SetRef("heads/feature/x", sha("b"))
	s.SetTree(sha("c"), ghapi.TreeEntry{Path: "a b/ü.go", Kind: "blob", Mode: "100644", SHA: sha("d"), Size: 7})
	s.AddRelease(ghapi.Release{Tag: "v1", Name: "One", Body: "notes"})
	s.AddRelease(ghapi.Release{Tag: "v2-rc", Prerelease: true})
	s.AddRelease(ghapi.Release{Tag: "v3", Draft: true})

	r := must[ghapi.Repository](t)(c.Repository(bg(t)))
	if r.FullName != "octo/demo" || r.DefaultBranch != "main" || r.Private || r.ID != s.RepoID() || !r.HasIssues || r.Visibility != "public" {
		t.Errorf("repository %+v", r)
	}
	latest, found, err := c.LatestRelease(bg(t))
	if err != nil || !found || latest.Tag != "v1" || latest.Body != "notes" || latest.PublishedAt.IsZero() {
		t.Errorf("latest %+v %v", latest, err)
	}
	all := must[[]ghapi.Release](t)(c.Releases(bg(t), 30))
	if len(all) != 3 || !all[0].Draft || !all[0].PublishedAt.IsZero() {
		t.Errorf("releases %+v", all)
	}
	cmpr := must[ghapi.Comparison](t)(c.Compare(bg(t), "v1.0 rc", "main"))
	if !cmpr.Contains() || cmpr.Ahead != 2 || len(cmpr.Commits) != 2 || cmpr.Commits[0].SHA != sha("b") {
		t.Errorf("comparison %+v", cmpr)
	}
	if back := must[ghapi.Comparison](t)(c.Compare(bg(t), "main", "feature/x")); back.Contains() || back.Behind != 1 {
		t.Errorf("comparison %+v", back)
	}
	if _, err := c.Compare(bg(t), "a..b", "c"); ghapi.KindOf(err) != ghapi.KindInvalid {
		t.Errorf("two dots in a name: %v", err)
	}
	commits := must[[]ghapi.Commit](t)(c.Commits(bg(t), "", time.Time{}, 2))
	if len(commits) != 2 || commits[0].SHA != sha("c") || commits[0].Message != "fix #c" || commits[0].Author.Login != "dev" {
		t.Errorf("commits %+v", commits)
	}
	for name, want := range map[string]bool{"aaaaaaa": true, sha("b"): true, "deadbee": false, "../../x": false} {
		if got, err := c.HasCommit(bg(t), name); got != want || (err != nil && want) {
			t.Errorf("commit %s: %v %v", name, got, err)
		}
	}
	if got, found, err := c.Ref(bg(t), "heads/feature/x"); err != nil || !found || got != sha("b") {
		t.Errorf("ref %s %v %v", got, found, err)
	}
	if _, found, err := c.Ref(bg(t), "heads/none"); found || err != nil {
		t.Errorf("ref %v %v", found, err)
	}
	tree := must[[]ghapi.TreeEntry](t)(c.Tree(bg(t), sha("c")))
	if diff := cmp.Diff([]ghapi.TreeEntry{{Path: "a b/ü.go", Kind: "blob", Mode: "100644", SHA: sha("d"), Size: 7}}, tree); diff != "" {
		t.Error(diff)
	}
	s.AddMilestone(ghapi.Milestone{Title: "m", State: "closed"})
	if ms := must[[]ghapi.Milestone](t)(c.Milestones(bg(t))); len(ms) != 1 || ms[0].State != "closed" {
		t.Errorf("milestones %+v", ms)
	}
}

func TestPullRequests(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	n := s.AddIssue(ghapi.Issue{})
	p := s.AddPullRequest(ghapi.PullRequest{
		Title: "fix", State: "merged", MergeCommit: strings.Repeat("a", 40), Author: ghapi.User{Login: "dev"},
		Closes: []ghapi.IssueRef{{Number: n}, {Repo: "other/repo", Number: 3, State: "open"}},
	})
	open := s.AddPullRequest(ghapi.PullRequest{Title: "wip"})
	s.SetReviewThreads(p, true, false, false)

	merged := must[[]ghapi.PullRequest](t)(ghapi.Collect(c.PullRequests(bg(t), "merged"), -1))
	if len(merged) != 1 || merged[0].Number != p || merged[0].MergedAt.IsZero() || merged[0].Base != "main" || merged[0].MergeCommit == "" {
		t.Fatalf("merged %+v", merged)
	}
	want := []ghapi.IssueRef{{Repo: "octo/demo", Number: n, State: "open"}, {Repo: "other/repo", Number: 3, State: "open"}}
	if diff := cmp.Diff(want, merged[0].Closes); diff != "" {
		t.Error(diff)
	}
	if all := must[[]ghapi.PullRequest](t)(ghapi.Collect(c.PullRequests(bg(t)), -1)); len(all) != 2 {
		t.Errorf("%d pull requests", len(all))
	}
	closers := must[[]ghapi.PullRequest](t)(c.ClosingPullRequests(bg(t), n))
	if len(closers) != 1 || closers[0].Number != p {
		t.Errorf("closers %+v", closers)
	}
	if got := must[int](t)(c.OpenReviewThreads(bg(t), p)); got != 2 {
		t.Errorf("%d open threads", got)
	}
	if got := must[int](t)(c.OpenReviewThreads(bg(t), open)); got != 0 {
		t.Errorf("%d open threads", got)
	}
	_, err := c.ClosingPullRequests(bg(t), 99)
	_ = wantKind(t, err, ghapi.KindNotFound)
	_, err = c.OpenReviewThreads(bg(t), 99)
	_ = wantKind(t, err, ghapi.KindNotFound)
}

func TestDiscussions(t *testing.T) {
	t.Parallel()
	s, c := fake(t)
	for i := range 120 {
		s.AddDiscussion(ghapi.Discussion{Title: fmt.Sprint(i), Body: "b", Author: ghapi.User{Login: "bob"}, UpdatedAt: s.Now().Add(time.Duration(i) * time.Hour)})
	}
	n := s.AddDiscussion(ghapi.Discussion{Title: "how", Answer: "so", Category: "Q&A"})
	got := must[[]ghapi.Discussion](t)(c.Discussions(bg(t), 110))
	if len(got) != 110 || got[0].Title != "119" || requests(s, "POST", "/graphql") != 2 {
		t.Errorf("%d, first %q", len(got), got[0].Title)
	}
	d := must[ghapi.Discussion](t)(c.Discussion(bg(t), n))
	if d.Answer != "so" || !d.Answered || d.Category != "Q&A" || d.Author.Login != "" {
		t.Errorf("discussion %+v", d)
	}
	_, err := c.Discussion(bg(t), 9999)
	_ = wantKind(t, err, ghapi.KindNotFound)
}
