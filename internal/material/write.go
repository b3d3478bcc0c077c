package material

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// Reader is what the material is read from; [ghapi.Client] is one.
type Reader interface {
	Repo() string
	Issue(ctx context.Context, number int) (ghapi.Issue, error)
	Comment(ctx context.Context, id int64) (ghapi.Comment, error)
	Comments(ctx context.Context, number int) ([]ghapi.Comment, error)
	CommentsSince(ctx context.Context, number int, since time.Time) ([]ghapi.Comment, error)
	Issues(ctx context.Context, f ghapi.IssueFilter) iter.Seq2[ghapi.Issue, error]
	Discussions(ctx context.Context, n int) ([]ghapi.Discussion, error)
	PullRequests(ctx context.Context, states ...string) iter.Seq2[ghapi.PullRequest, error]
	LatestRelease(ctx context.Context) (ghapi.Release, bool, error)
	CanWrite(ctx context.Context, login string) (bool, error)
	Viewer(ctx context.Context) (ghapi.User, error)
}

// Options say for what the material is.
type Options struct {
	Task      task.Name
	Issue     int
	Comment   int64  // the comment that woke the task; 0: none
	Dir       string // where the files go; made when it is not there
	Shown     string // the same folder as the prompt names it
	Labels    answer.Labels
	Languages []string // that have texts
	Secrets   []string
	// Issues are all issues of the repository; nil: they are read from GitHub.
	Issues iter.Seq2[ghapi.Issue, error]
	// Cleaned says that [sanitize.Material] went through them already: parsing each again is most of the time that
	// tens of thousands take.
	Cleaned bool
	// Earlier decides what the run is told of earlier work, once the thread was read; nil: sessions are off.
	Earlier func(Thread) Earlier
}

// Result is what was written.
type Result struct {
	Prompt   string // the text of prompt.md
	LastRead int64  // the newest comment of a person that stands in the material; 0: none
	Notes    []string
}

// The files of the material.
const (
	FileIssue       = "issue.md"
	FileComment     = "comment.md"
	FileCandidates  = "candidates.md"
	FileIssues      = "issues.jsonl"
	FileDiscussions = "discussions.jsonl"
	FilePulls       = "pulls.jsonl"
	FileRelease     = "release.md"
	FileLabels      = "labels.md"
	FilePrompt      = "prompt.md"
	FileSchema      = "schema.json"
	FileCheckpoint  = "checkpoint.md"
	FileDelta       = "prompt-delta.md"
)

// ErrPullRequest is a number that is no issue's.
var ErrPullRequest = errors.New("it is a pull request, not an issue")

// maxAuthors bounds how many commenters' permissions are asked for; the newest count.
const maxAuthors = 20

// folder writes the files of one run.
type folder struct {
	root  *os.Root
	shown string
	lines []string // of the prompt's list of files
}

// Write reads what the task needs and writes the files. A yes-or-no task takes at most three requests.
func Write(ctx context.Context, r Reader, o Options) (res Result, err error) {
	t, err := read(ctx, r, o)
	if err != nil {
		return res, err
	}
	f, err := openFolder(o)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, f.root.Close()) }()
	res.LastRead = t.LastRead()
	if err := f.put(FileIssue, "the issue with its comments", []byte(t.IssueFile())); err != nil {
		return res, err
	}
	if err := f.put(FileComment, "the comments that came since", []byte(t.CommentFile(o.Task))); err != nil {
		return res, err
	}
	release := ""
	if !o.Task.IsReply() {
		if release, err = f.more(ctx, r, o, t, &res); err != nil {
			return res, err
		}
	}
	if err := f.earlier(o, t); err != nil {
		return res, err
	}
	return res, f.ask(o, r.Repo(), release, &res)
}

// ask writes the task and the schema of its answer.
func (f *folder) ask(o Options, repo, release string, res *Result) error {
	schema, err := answer.Schema(o.Task, o.Labels)
	if err != nil {
		return err
	}
	prompt, err := task.Prompt(o.Task, task.PromptFacts{
		Repository: repo, Issue: o.Issue, Release: release, Files: f.lines, Languages: o.Languages,
	})
	if err != nil {
		return err
	}
	res.Prompt = prompt
	if err := f.put(FileSchema, "", schema); err != nil {
		return err
	}
	return f.put(FilePrompt, "", []byte(prompt))
}

// read takes the issue and its comments. Roles cost a request for each commenter: the yes-or-no tasks go without them
// and take the account that woke them for what the event found it to be.
func read(ctx context.Context, r Reader, o Options) (Thread, error) {
	issue, err := r.Issue(ctx, o.Issue)
	if err != nil {
		return Thread{}, fmt.Errorf("read the issue: %w", err)
	}
	if issue.IsPullRequest {
		return Thread{}, fmt.Errorf("#%d: %w", o.Issue, ErrPullRequest)
	}
	comments, err := readComments(ctx, r, o, issue)
	if err != nil {
		return Thread{}, fmt.Errorf("read the comments: %w", err)
	}
	t := Thread{Issue: issue, Comments: comments, Owner: comment.JobToken(), Waking: o.Comment, Secrets: o.Secrets}
	if o.Task.IsReply() {
		t.Maintainer = associated(issue, comments)
		return t, nil
	}
	if t.Owner, err = comment.OwnerOf(ctx, r, comments); err != nil {
		return Thread{}, err
	}
	t.Maintainer = permitted(ctx, r, issue, comments)
	return t, nil
}

// readComments reads all comments; of a long thread a yes-or-no task reads the end only.
func readComments(ctx context.Context, r Reader, o Options, issue ghapi.Issue) ([]ghapi.Comment, error) {
	const twoPages = 200
	if !o.Task.IsReply() || issue.Comments <= twoPages || o.Comment == 0 {
		return r.Comments(ctx, o.Issue)
	}
	waking, err := r.Comment(ctx, o.Comment)
	if err != nil {
		return nil, err
	}
	return r.CommentsSince(ctx, o.Issue, waking.CreatedAt)
}

// associated takes GitHub's word in the comments themselves for roles.
func associated(issue ghapi.Issue, comments []ghapi.Comment) func(string) bool {
	may := map[string]bool{comment.Login(issue.Author): insider(issue.AuthorAssociation)}
	for _, c := range comments {
		may[comment.Login(c.Author)] = insider(c.AuthorAssociation)
	}
	return func(login string) bool { return may[login] }
}

func insider(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}

// permitted asks for the permissions of the reporter and the newest commenters. An error there means no.
func permitted(ctx context.Context, r Reader, issue ghapi.Issue, comments []ghapi.Comment) func(string) bool {
	may := map[string]bool{}
	ask := func(u ghapi.User) {
		login := comment.Login(u)
		if _, asked := may[login]; asked || login == task.Ghost || u.IsBot() || len(may) >= maxAuthors {
			return
		}
		ok, err := r.CanWrite(ctx, login)
		may[login] = err == nil && ok
	}
	ask(issue.Author)
	for _, c := range slices.Backward(comments) {
		ask(c.Author)
	}
	return func(login string) bool { return may[login] }
}

// more writes what the tasks with a search read: other issues, discussions, pull requests, labels, the release. What
// cannot be read is left out and noted; the issue itself is what matters.
func (f *folder) more(ctx context.Context, r Reader, o Options, t Thread, res *Result) (release string, err error) {
	if err := f.issues(ctx, r, o, t, res); err != nil {
		return "", err
	}
	discussions, err := r.Discussions(ctx, 100)
	if err != nil {
		res.Notes = append(res.Notes, "no discussions: "+err.Error())
	}
	threads := make([]DiscussionRecord, len(discussions))
	for i, d := range discussions {
		threads[i] = discussionOf(d, o.Secrets)
	}
	if err := putLines(f, FileDiscussions, "the newest discussions, one JSON object in each line", threads); err != nil {
		return "", err
	}
	if err := f.pulls(ctx, r, o, res); err != nil {
		return "", err
	}
	if err := f.put(FileLabels, "the labels to choose from", []byte(labelsFile(o.Labels))); err != nil {
		return "", err
	}
	latest, ok, err := r.LatestRelease(ctx)
	switch {
	case err != nil:
		res.Notes = append(res.Notes, "no release: "+err.Error())
		return "", nil
	case !ok:
		return "", nil
	}
	return tagOf(latest), f.put(FileRelease, "the notes of the latest release", []byte(releaseFile(latest, o.Secrets)))
}

// pulls writes the open pull requests, at most a hundred.
func (f *folder) pulls(ctx context.Context, r Reader, o Options, res *Result) error {
	const most = 100
	list, err := ghapi.Collect(r.PullRequests(ctx, "open"), most)
	if err != nil {
		res.Notes = append(res.Notes, "no pull requests: "+err.Error())
	}
	records := make([]PullRecord, len(list))
	for i, p := range list {
		records[i] = pullOf(p, r.Repo(), o.Secrets)
	}
	return putLines(f, FilePulls, "open pull requests, one JSON object in each line: a fix may be under way", records)
}

// tagOf is the release's tag as it may stand in the task: a maintainer's word, but in one line and short.
func tagOf(r ghapi.Release) string { return comment.Code(excerpt(r.Tag, 100, nil)) }

// openFolder makes the folder anew. A link in its place is refused: it would lead the files somewhere else.
func openFolder(o Options) (*folder, error) {
	if info, err := os.Lstat(o.Dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder: remove it", o.Dir)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the material's folder: %w", err)
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the material's folder: %w", err)
	}
	f := &folder{root: root, shown: o.Shown}
	for _, name := range []string{FileIssue, FileComment, FileCandidates, FileIssues, FileDiscussions, FilePulls, FileRelease, FileLabels, FilePrompt, FileSchema, FileCheckpoint, FileDelta} {
		if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("remove the material of an earlier run: %w", err), root.Close())
		}
	}
	return f, nil
}

// put writes a file; with a description it is listed in the prompt.
func (f *folder) put(name, description string, data []byte) error {
	if err := f.root.WriteFile(name, data, 0o644); err != nil {
		return fmt.Errorf("write the material: %w", err)
	}
	if description != "" {
		f.list(name, description)
	}
	return nil
}

// list names a file in the prompt.
func (f *folder) list(name, description string) {
	f.lines = append(f.lines, "`"+filepath.ToSlash(filepath.Join(f.shown, name))+"`: "+description)
}

func putLines[T any](f *folder, name, description string, list []T) error {
	var b bytes.Buffer
	if err := writeLines(&b, list); err != nil {
		return err
	}
	return f.put(name, description, b.Bytes())
}
