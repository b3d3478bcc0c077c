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

// IssueList brings the list of issues of the last sweep up to date: what changed since by a few requests, everything
// when there is none yet, and on the first of a month, so that deleted issues leave it.
func IssueList(ctx context.Context, client *ghapi.Client, now time.Time) ([]Line, error) {
	known := map[int]Line{}
	var newest time.Time
	if now.UTC().Day() != 1 {
		last, err := lastList(ctx, client)
		if err != nil {
			known = map[int]Line{} // a list that cannot be read is made anew
		}
		for _, l := range last {
			known[l.Number] = l
			if l.Updated.After(newest) {
				newest = l.Updated
			}
		}
	}
	take := func(i ghapi.Issue) { known[i.Number] = lineOf(i) }
	if newest.IsZero() {
		for i, err := range client.Issues(ctx, ghapi.IssueFilter{}) {
			if err != nil {
				return nil, fmt.Errorf("list the issues: %w", err)
			}
			if take(i); len(known) >= maxIssues {
				break
			}
		}
	} else {
		for i, err := range client.IssuesSince(ctx, newest) {
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

// lastList reads the newest list that a sweep of the default branch of this repository uploaded: anybody's pull request
// can upload an artifact of that name.
func lastList(ctx context.Context, client *ghapi.Client) ([]Line, error) {
	artifacts, err := client.Artifacts(ctx, ListName, 10)
	if err != nil {
		return nil, err
	}
	for _, a := range artifacts {
		if a.Expired || a.RepoID == 0 || a.HeadRepoID != a.RepoID {
			continue
		}
		run, err := client.Run(ctx, a.RunID)
		if err != nil {
			return nil, err
		}
		if run.Path != ".github/workflows/issue-assistant-lifecycle.yml" || run.Event != "schedule" && run.Event != "workflow_dispatch" {
			continue
		}
		data, err := client.DownloadArtifact(ctx, a.ID, maxListZip)
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
