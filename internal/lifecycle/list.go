package lifecycle

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
)

// ListName is the artifact, and with .jsonl the file, of the list of issues.
const ListName = "issue-assistant-issues"

// Line is one issue of the list. Title and body are as the AI may read them: hidden parts gone.
type Line struct {
	Number      int       `json:"number"`
	Title       string    `json:"title"`
	Body        string    `json:"body"`
	State       string    `json:"state"`
	StateReason string    `json:"state_reason,omitempty"`
	Labels      []string  `json:"labels"`
	Comments    int       `json:"comments"`
	Created     time.Time `json:"created_at"`
	Closed      time.Time `json:"closed_at,omitzero"`
	Updated     time.Time `json:"updated_at"`
}

// The bounds of the list.
const (
	maxListZip  = 64 << 20
	maxListFile = 256 << 20
	maxListLine = 1 << 20
	maxIssues   = 50_000
	excerpt     = 1_500
	titleLength = 300
)

func lineOf(i ghapi.Issue) Line {
	l := Line{
		Number: i.Number, Title: shorten.To(titleLength, sanitize.Material(i.Title)), Body: shorten.To(excerpt, sanitize.Material(i.Body)), State: i.State,
		StateReason: i.StateReason, Labels: i.Labels, Comments: i.Comments, Created: i.CreatedAt, Closed: i.ClosedAt, Updated: i.UpdatedAt,
	}
	if l.Labels == nil {
		l.Labels = []string{}
	}
	return l
}

// ListSource is what the list is read from; [*ghapi.Client] is one.
type ListSource interface {
	Repo() string
	Artifacts(ctx context.Context, name string, n int) ([]ghapi.Artifact, error)
	Run(ctx context.Context, id int64) (ghapi.Run, error)
	DownloadArtifact(ctx context.Context, id, limit int64) ([]byte, error)
	Issues(ctx context.Context, f ghapi.IssueFilter) iter.Seq2[ghapi.Issue, error]
	// IssuesSince lists what changed at or after a time, oldest change first.
	IssuesSince(ctx context.Context, since time.Time) iter.Seq2[ghapi.Issue, error]
}

// IssueList brings the list of issues of the last sweep up to date: what changed since by a few requests, everything
// when there is none yet, and on the first of a month, so that deleted issues leave it. Branch is the default one. One
// issue is in memory at a time, and each comes once.
func IssueList(ctx context.Context, source ListSource, branch string, now time.Time) (iter.Seq2[Line, error], error) {
	var kept last
	if now.UTC().Day() != 1 {
		var err error
		if kept, err = lastList(ctx, source, branch); err != nil {
			kept = last{} // a list that cannot be read is made anew
		}
	}
	if kept.zip == nil {
		return everything(ctx, source), nil
	}
	changed := map[int]Line{}
	for i, err := range source.IssuesSince(ctx, kept.since) {
		if err != nil {
			return nil, fmt.Errorf("list what changed: %w", err)
		}
		if !i.IsPullRequest {
			changed[i.Number] = lineOf(i)
		}
	}
	return kept.with(changed), nil
}

func everything(ctx context.Context, source ListSource) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		n := 0
		for i, err := range source.Issues(ctx, ghapi.IssueFilter{}) {
			if err != nil {
				yield(Line{}, fmt.Errorf("list the issues: %w", err))
				return
			}
			if n++; !yield(lineOf(i), nil) || n == maxIssues {
				return
			}
		}
	}
}

// last is the list of the last sweep, packed.
type last struct {
	zip   []byte
	since time.Time // when its run began: what changed later may be missing
}

// with yields what changed, the newest first, and of the list what did not.
func (l last) with(changed map[int]Line) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		n := 0
		for _, number := range slices.Backward(slices.Sorted(maps.Keys(changed))) {
			if n++; !yield(changed[number], nil) || n == maxIssues {
				return
			}
		}
		for line, err := range l.lines() {
			if _, newer := changed[line.Number]; newer && err == nil {
				continue
			}
			if n++; !yield(line, err) || n == maxIssues {
				return
			}
		}
	}
}

// listFile is the workflow whose runs keep the list.
const listFile = ".github/workflows/issue-assistant-lifecycle.yml"

// lastList reads the newest list that a sweep of the default branch of this repository uploaded. Anybody's pull request
// can upload an artifact of that name, and so can another workflow or branch: the rules are those of the ledger of costs.
func lastList(ctx context.Context, source ListSource, branch string) (last, error) {
	const most = 10
	artifacts, err := source.Artifacts(ctx, ListName, most)
	if err != nil {
		return last{}, err
	}
	slices.SortStableFunc(artifacts, func(a, b ghapi.Artifact) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, a := range artifacts {
		if a.Name != ListName || a.Expired || a.RunID <= 0 || a.RepoID == 0 || a.HeadRepoID != a.RepoID || a.HeadBranch != branch {
			continue
		}
		run, err := source.Run(ctx, a.RunID)
		if ghapi.IsGone(err) {
			continue
		}
		if err != nil {
			return last{}, err
		}
		swept := run.Event == "schedule" || run.Event == "workflow_dispatch"
		if run.ID != a.RunID || run.HeadRepo != source.Repo() || run.HeadBranch != branch || run.Path != listFile || !swept {
			continue
		}
		data, err := source.DownloadArtifact(ctx, a.ID, maxListZip)
		if ghapi.IsGone(err) {
			continue // it has expired since it was listed
		}
		if err != nil {
			return last{}, err
		}
		found := last{zip: data, since: run.CreatedAt}
		return found, found.check()
	}
	return last{}, nil
}

// check reads the list once without keeping it: what breaks in the middle must not be half of a list.
func (l last) check() error {
	if l.since.IsZero() {
		return errors.New("the list's run has no time")
	}
	for _, err := range l.lines() {
		if err != nil {
			return err
		}
	}
	return nil
}

// lines reads the one file of the artifact, within bounds.
func (l last) lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		z, err := zip.NewReader(bytes.NewReader(l.zip), int64(len(l.zip)))
		if err != nil {
			yield(Line{}, fmt.Errorf("open the list: %w", err))
			return
		}
		for _, file := range z.File {
			if file.Name != ListName+".jsonl" {
				continue
			}
			r, err := file.Open()
			if err != nil {
				yield(Line{}, fmt.Errorf("open the list: %w", err))
				return
			}
			defer func() { _ = r.Close() }() // only read
			for line, err := range Lines(io.LimitReader(r, maxListFile)) {
				if !yield(line, err) {
					return
				}
			}
			return
		}
		yield(Line{}, errors.New("the artifact holds no list"))
	}
}

// Lines reads lines of JSON, one at a time; a line that is none is an error, and the last thing that comes.
func Lines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		scan := bufio.NewScanner(r)
		scan.Buffer(make([]byte, 0, 64<<10), maxListLine)
		n := 0
		for scan.Scan() {
			if len(bytes.TrimSpace(scan.Bytes())) == 0 {
				continue
			}
			var l Line
			err := json.Unmarshal(scan.Bytes(), &l)
			if n++; err == nil && (l.Number < 1 || n > maxIssues) {
				err = errors.New("no issue is there")
			}
			if err != nil {
				yield(Line{}, fmt.Errorf("line %d of the list: %w", n, err))
				return
			}
			if !yield(l, nil) {
				return
			}
		}
		err := scan.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("more than the %d bytes that an issue can have", maxListLine)
		}
		if err != nil {
			yield(Line{}, fmt.Errorf("line %d of the list: %w", n+1, err))
		}
	}
}

// WriteList writes lines of JSON.
func WriteList(w io.Writer, lines iter.Seq2[Line, error]) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	for l, err := range lines {
		if err != nil {
			return err
		}
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}
