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
)

// ListName is the artifact, and with .jsonl the file, of the list of issues.
const ListName = "issue-assistant-issues"

// Line is one issue of the list. Title and body are as the AI may read them: hidden parts gone, secrets masked.
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
		Number: i.Number, Title: cut(sanitize.Material(i.Title), titleLength), Body: cut(sanitize.Material(i.Body), excerpt), State: i.State,
		StateReason: i.StateReason, Labels: i.Labels, Comments: i.Comments, Created: i.CreatedAt, Closed: i.ClosedAt, Updated: i.UpdatedAt,
	}
	if l.Labels == nil {
		l.Labels = []string{}
	}
	return l
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
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
// when there is none yet, and on the first of a month, so that deleted issues leave it. Branch is the default one.
func IssueList(ctx context.Context, source ListSource, branch string, now time.Time) ([]Line, error) {
	known := map[int]Line{}
	var newest time.Time
	if now.UTC().Day() != 1 {
		last, err := lastList(ctx, source, branch)
		if err != nil {
			last = nil // a list that cannot be read is made anew
		}
		for _, l := range last {
			known[l.Number] = l
			if l.Updated.After(newest) {
				newest = l.Updated
			}
		}
	}
	if newest.After(now.Add(time.Hour)) { // no issue changes in the future: what follows from such a list would miss all changes
		known, newest = map[int]Line{}, time.Time{}
	}
	take := func(i ghapi.Issue) { known[i.Number] = lineOf(i) }
	if newest.IsZero() {
		for i, err := range source.Issues(ctx, ghapi.IssueFilter{}) {
			if err != nil {
				return nil, fmt.Errorf("list the issues: %w", err)
			}
			if take(i); len(known) >= maxIssues {
				break
			}
		}
	} else {
		for i, err := range source.IssuesSince(ctx, newest) {
			if err != nil {
				return nil, fmt.Errorf("list what changed: %w", err)
			}
			if !i.IsPullRequest {
				take(i)
			}
		}
	}
	return slices.SortedFunc(maps.Values(known), func(a, b Line) int { return a.Number - b.Number }), nil
}

// listFile is the workflow whose runs keep the list.
const listFile = ".github/workflows/issue-assistant-lifecycle.yml"

// lastList reads the newest list that a sweep of the default branch of this repository uploaded. Anybody's pull request
// can upload an artifact of that name, and so can another workflow or branch: the rules are those of the ledger of costs.
func lastList(ctx context.Context, source ListSource, branch string) ([]Line, error) {
	const most = 10
	artifacts, err := source.Artifacts(ctx, ListName, most)
	if err != nil {
		return nil, err
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
			return nil, err
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
			return nil, err
		}
		return unpack(data)
	}
	return nil, nil
}

// unpack reads the one file of the artifact, within bounds.
func unpack(data []byte) ([]Line, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("open the list: %w", err)
	}
	for _, file := range z.File {
		if file.Name != ListName+".jsonl" {
			continue
		}
		r, err := file.Open()
		if err != nil {
			return nil, fmt.Errorf("open the list: %w", err)
		}
		lines, err := ReadList(io.LimitReader(r, maxListFile))
		return lines, errors.Join(err, r.Close())
	}
	return nil, errors.New("the artifact holds no list")
}

// ReadList reads lines of JSON; a line that is none is an error.
func ReadList(r io.Reader) ([]Line, error) {
	var out []Line
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 0, 64<<10), maxListLine)
	for scan.Scan() {
		if len(bytes.TrimSpace(scan.Bytes())) == 0 {
			continue
		}
		var l Line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d of the list: %w", len(out)+1, err)
		}
		if l.Number < 1 || len(out) >= maxIssues {
			return nil, fmt.Errorf("line %d of the list holds no issue", len(out)+1)
		}
		out = append(out, l)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	return out, nil
}

// WriteList writes lines of JSON.
func WriteList(w io.Writer, lines []Line) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}
