package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/cli"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
)

// picture is one picture before it is drawn.
type picture struct {
	name   string
	text   string // what it shows, in words
	width  int
	blocks []block
}

// drawnFrom is a digest of all that a picture depends on but the installed packages: text and look.
func (p picture) drawnFrom(theme string) (string, error) {
	html, err := page(p.blocks, style{theme: theme, width: p.width})
	return digest([]byte(html + fmt.Sprint(zoom, colors))), err
}

func (p picture) draw(ctx context.Context, d drawer, root, theme string) ([]byte, error) {
	modules := filepath.Join(root, "tools", "pictures", "node_modules")
	css, err := os.ReadFile(filepath.Join(modules, "github-markdown-css", "github-markdown-"+theme+".css"))
	if err != nil {
		return nil, fmt.Errorf("%w: run `make tools-pictures`", err)
	}
	html, err := page(p.blocks, style{css: string(css), mermaid: "file://" + filepath.Join(modules, "mermaid", "dist", "mermaid.min.js"), theme: theme, width: p.width})
	if err != nil {
		return nil, err
	}
	return d.draw(ctx, html, p.width)
}

// Widths of pictures, in pixels of a page: a comment, and a job summary.
const (
	commentWidth = 788
	summaryWidth = 1012
)

// list makes the sources of all pictures by running the program.
func list(ctx context.Context, root string) ([]picture, error) {
	readme, err := tryPicture(ctx, root)
	if err != nil {
		return nil, err
	}
	cost, err := costPicture(ctx, root)
	if err != nil {
		return nil, err
	}
	tasks, err := taskPictures(ctx, root)
	if err != nil {
		return nil, err
	}
	languages, err := languagePictures(root)
	return slices.Concat([]picture{readme, cost}, tasks, languages), err
}

// taskPictures are the comments of the five tasks. What only the job summary says is left to the task that posts nothing.
func taskPictures(ctx context.Context, root string) (pictures []picture, err error) {
	s, err := newStory(ctx, root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.execute = func(context.Context, *story, step, map[string]string) error { return nil } // the answers are known
	words := map[string]string{
		"triage":           "The comment on a new issue: thanks, summary, first analysis, worth trying, information needed, related issues, where to look",
		"follow-up":        "The reporter answers, and the assistant replies with what follows from it",
		"reanalyze":        "A maintainer asks for a fresh analysis with a focus, and the first comment is updated in place",
		"maintainer-reply": "A maintainer asks the reporter for something, and the label needs-info is set; no comment is posted",
		"release-reply":    "The reporter says that the problem persists with the release, and the issue is open again",
	}
	for _, st := range steps() {
		blocks, err := s.play(ctx, st)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", st.task, err)
		}
		if st.task != "maintainer-reply" {
			blocks = blocks[:len(blocks)-1]
		}
		pictures = append(pictures, picture{name: st.task, text: words[st.task], width: commentWidth, blocks: blocks})
	}
	return pictures, nil
}

// tryPicture is what `try` shows: the line of the run and the comment.
func tryPicture(ctx context.Context, root string) (picture, error) {
	out, err := command(ctx, root, began(), nil, "try")
	if err != nil {
		return picture{}, err
	}
	var body strings.Builder
	line := ""
	for l := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(l, "  | "); ok {
			body.WriteString(text)
		}
		if text, ok := strings.CutPrefix(l, "  **"); ok {
			line = "**" + text
		}
	}
	if line == "" || body.Len() == 0 {
		return picture{}, fmt.Errorf("try shows no comment or no line: %s", out)
	}
	return picture{
		name: "try", text: "The line of a run in the job summary, and the comment that the run led to", width: commentWidth,
		blocks: []block{{Kind: "summary", Text: line}, {Kind: "comment", Login: bot, Text: body.String()}},
	}, nil
}

// costPicture is the job summary of `cost` for a made-up month.
func costPicture(ctx context.Context, root string) (p picture, err error) {
	recorded, err := month.Load(filepath.Join(root, runsDir))
	if err != nil {
		return p, err
	}
	runs, err := month.Make(recorded)
	if err != nil {
		return p, err
	}
	temp, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := writeRecords(ctx, temp, runs); err != nil {
		return p, err
	}
	summary := filepath.Join(temp, "summary.md")
	vars := map[string]string{"GITHUB_STEP_SUMMARY": summary}
	if _, err := command(ctx, temp, month.End(), vars, "cost", "--since", "20d", "--records", "records"); err != nil {
		return p, err
	}
	text, err := os.ReadFile(summary)
	return picture{
		name: "cost", text: "The cost report in the job summary: a table by task, dollars per day, dollars by model, forecast and advice", width: summaryWidth,
		blocks: []block{{Kind: "summary", Text: string(text)}},
	}, err
}

// writeRecords lets `usage` make the record of every run from its execution file.
func writeRecords(ctx context.Context, dir string, runs []month.Run) error {
	for _, r := range runs {
		data, err := r.Encode()
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "execution.jsonl")
		if err := write(file, data); err != nil {
			return err
		}
		vars := map[string]string{"GITHUB_RUN_ID": fmt.Sprint(r.ID), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_REPOSITORY": repo}
		record := filepath.Join(dir, "records", fmt.Sprintf("%d.json", r.ID))
		if err := os.MkdirAll(filepath.Dir(record), 0o750); err != nil {
			return err
		}
		if _, err := command(ctx, dir, r.Run.Started.Add(time.Hour), vars, "usage", "--execution-file", file, "--record", record); err != nil {
			return err
		}
	}
	return nil
}

// languagePictures are the first golden comment of each language, which has every section.
func languagePictures(root string) ([]picture, error) {
	paths, err := filepath.Glob(filepath.Join(root, "internal", "comment", "testdata", "golden", "*.md"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no golden comments: %w", err)
	}
	pictures := make([]picture, 0, len(paths))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(data), "\n<!-- next -->\n")
		tag := strings.TrimSuffix(filepath.Base(path), ".md")
		pictures = append(pictures, picture{
			name: "language-" + tag, text: "A comment with every section, its own texts in the language " + tag, width: commentWidth,
			blocks: []block{{Kind: "comment", Login: bot, Text: first}},
		})
	}
	return pictures, nil
}

// command runs the program in a folder, without GitHub.
func command(ctx context.Context, dir string, now time.Time, vars map[string]string, args ...string) (string, error) {
	var out, said bytes.Buffer
	code := cli.Main(ctx, cli.Env{
		Args: args, Dir: dir, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Sleep: func(time.Duration) {},
		Getenv: func(name string) string { return vars[name] }, Environ: func() []string { return nil }, Now: func() time.Time { return now },
	})
	if code != cli.ExitOK {
		return "", fmt.Errorf("%s: exit %d: %s", strings.Join(args, " "), code, said.String())
	}
	return out.String(), nil
}
