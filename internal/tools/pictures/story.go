package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/cli"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

const (
	repo       = "example/tidybox"
	number     = 42
	reporter   = "mira-example"
	maintainer = "ada-example"
	bot        = "github-actions[bot]"
	commit     = "0123456789abcdef0123456789abcdef01234567" // stands for the analyzed commit in links
)

// began is the day of the samples' issue.
func began() time.Time { return time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC) }

// story is one issue of the sample repository on its way through all five tasks, played by the program's own commands
// against a GitHub in memory.
type story struct {
	*ghtest.Server

	root, dir, temp string
	execute         func(ctx context.Context, s *story, step step, out map[string]string) error // the engine's run
	seen            map[int64]string                                                            // comments that a block has shown
	events          int
}

// step is one task of the story.
type step struct {
	task   string
	answer any
	// before is what somebody writes before the task starts.
	login, says string
	released    string // the release that closed the issue before
}

// block is a piece of a picture.
type block struct {
	Kind  string // comment, event or summary
	Login string
	Badge string
	Text  string
}

// newStory sets the repository up. Close it.
func newStory(ctx context.Context, root string) (*story, error) {
	temp, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return nil, err
	}
	s := &story{
		Server: ghtest.New(ghtest.Options{Repo: repo}), root: root, dir: filepath.Join(temp, "tidybox"), temp: temp,
		seen: map[int64]string{},
	}
	s.Advance(began().Sub(s.Now()))
	if err := s.set(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *story) close() error { return os.RemoveAll(s.temp) }

func (s *story) set(ctx context.Context) error {
	if err := os.Chmod(s.temp, 0o755); err != nil {
		return err
	}
	sample := filepath.Join(s.root, "internal", "cli", "sample")
	if err := copyTree(filepath.Join(sample, "checkout"), s.dir); err != nil {
		return err
	}
	for _, name := range []string{config.Dir + "/config.toml", config.LabelsPath, config.Dir + "/rules.md"} {
		data, err := assets.FS.ReadFile(name)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(s.dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "x"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.temp, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return s.fill(sample)
}

// fill gives GitHub the issues, labels and people of the sample.
func (s *story) fill(sample string) error {
	file, diags, err := config.LoadLabels(os.DirFS(s.dir))
	if err != nil || len(diags) > 0 {
		return fmt.Errorf("labels: %w %v", err, diags)
	}
	for _, l := range file.Labels {
		s.AddLabel(ghapi.Label{Name: l.Name, Color: l.Color, Description: l.Description})
	}
	s.SetPermission(maintainer, "write")
	var others []json.RawMessage
	data, err := os.ReadFile(filepath.Join(sample, "issues.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &others); err != nil {
		return err
	}
	if data, err = os.ReadFile(filepath.Join(sample, "bug", "issue.json")); err != nil {
		return err
	}
	for _, issue := range append(others, data) {
		if _, err := s.LoadIssue(issue); err != nil {
			return err
		}
	}
	for _, c := range s.Comments(number) {
		s.seen[c.ID] = c.Body
	}
	s.events = len(s.Events(number))
	return nil
}

// command runs the program and returns its outputs.
func (s *story) command(ctx context.Context, env map[string]string, args ...string) (map[string]string, error) {
	outputs := filepath.Join(s.temp, "outputs")
	if err := write(outputs, nil); err != nil {
		return nil, err
	}
	vars := map[string]string{
		"PATH": os.Getenv("PATH"), "GITHUB_REPOSITORY": repo, "GITHUB_TOKEN": "none-needed", "GITHUB_REF": "refs/heads/main",
		"GITHUB_SHA": commit, "RUNNER_TEMP": s.temp, "GITHUB_STEP_SUMMARY": filepath.Join(s.temp, "summary.md"), "HOME": s.temp,
	}
	maps.Copy(vars, env)
	var out, said bytes.Buffer
	code := cli.Main(ctx, cli.Env{
		Args: args, Getenv: func(name string) string { return vars[name] }, Environ: func() []string { return nil },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Now: s.Now, Sleep: s.Advance, Dir: s.dir, HTTP: s.Transport(),
	})
	if code != cli.ExitOK {
		return nil, fmt.Errorf("%s: exit %d: %s", strings.Join(args, " "), code, said.String())
	}
	values := map[string]string{"stdout": out.String()}
	for line := range strings.Lines(out.String()) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "="); ok {
			values[name] = value
		}
	}
	return values, nil
}

// play runs one task and returns what people see of it: what was written before, the comment, what happened to the issue,
// and last the job summary.
func (s *story) play(ctx context.Context, st step) ([]block, error) {
	if st.released != "" {
		if err := s.release(st.released); err != nil {
			return nil, err
		}
	}
	var blocks []block
	if err := os.RemoveAll(filepath.Join(s.temp, "summary.md")); err != nil {
		return nil, err
	}
	trigger, err := s.event(ctx, st)
	if err != nil {
		return nil, err
	}
	blocks = append(blocks, s.news()...)
	out, err := s.command(ctx, nil, "engine", "--task", st.task, "--issue", strconv.Itoa(number), "--ready-engines", "claude")
	if err != nil {
		return nil, err
	}
	if out["ready"] != "true" {
		return nil, fmt.Errorf("%s is not ready: %s", st.task, out["reason"])
	}
	out, err = s.command(ctx, nil, "context", "--task", st.task, "--issue", strconv.Itoa(number), "--comment", trigger)
	if err != nil {
		return nil, err
	}
	if err := s.execute(ctx, s, st, out); err != nil {
		return nil, err
	}
	whole, err := complete(st.answer)
	if err != nil {
		return nil, err
	}
	answer, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.temp, "answer.json")
	if err := write(file, answer); err != nil {
		return nil, err
	}
	if _, err := s.command(ctx, nil, "apply", "--task", st.task, "--issue", strconv.Itoa(number), "--comment", out["comment"], "--engine", "claude", "--answer-file", file); err != nil {
		return nil, err
	}
	blocks = append(blocks, s.news()...)
	summary, err := os.ReadFile(filepath.Join(s.temp, "summary.md"))
	if err != nil {
		return nil, err
	}
	s.Advance(time.Hour)
	return append(blocks, block{Kind: "summary", Text: strings.TrimSpace(string(summary)) + "\n"}), nil
}

// release closes the issue as the sweep does, with the comment that it posts.
func (s *story) release(tag string) error {
	url := "https://github.com/" + repo + "/releases/tag/" + tag
	s.AddRelease(ghapi.Release{Tag: tag, URL: url, PublishedAt: s.Now()})
	texts, err := comment.Embedded()
	if err != nil {
		return err
	}
	page := comment.Page{
		Marker: comment.Marker{Kind: task.MarkReleased, Language: "en", Engine: "claude", Tag: tag}, Mention: reporter,
		Policy: sanitize.Policy{Owner: "example", Repo: "tidybox", Reporter: reporter},
	}
	s.AddComment(number, bot, texts.Released(page, tag, url).Body)
	s.Advance(time.Minute)
	s.SetStateAs(number, bot, "closed", "completed")
	s.Advance(time.Hour)
	return nil
}

// event tells the program what happened, as GitHub would, and returns the comment that the task begins with.
func (s *story) event(ctx context.Context, st step) (trigger string, err error) {
	issue, _ := s.Issue(number)
	user := func(login string) map[string]any { return map[string]any{"login": login, "type": "User"} }
	payload := map[string]any{
		"action": "opened", "sender": user(reporter), "repository": map[string]any{"default_branch": "main"},
		"issue": map[string]any{"number": number, "state": issue.State, "user": user(reporter)},
	}
	name := "issues"
	if st.says != "" {
		name = "issue_comment"
		id := s.AddComment(number, st.login, st.says)
		payload["action"], payload["sender"] = "created", user(st.login)
		payload["comment"] = map[string]any{"id": id, "body": st.says, "user": user(st.login)}
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.temp, "event.json")
	if err := write(file, data); err != nil {
		return "", err
	}
	out, err := s.command(ctx, map[string]string{"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": file}, "event")
	if err == nil && out["task"] != st.task {
		err = fmt.Errorf("the event starts the task %s (%s), not %s", out["task"], out["reason"], st.task)
	}
	return out["comment"], err
}

// news are the comments and events that no block has shown yet, in the order of their time.
func (s *story) news() []block {
	type dated struct {
		block
		at time.Time
	}
	var list []dated
	for _, c := range s.Comments(number) {
		if s.seen[c.ID] == c.Body {
			continue
		}
		b := block{Kind: "comment", Login: c.Author.Login, Text: c.Body}
		if s.seen[c.ID] != "" {
			b.Badge = "edited"
		}
		s.seen[c.ID] = c.Body
		list = append(list, dated{b, c.UpdatedAt})
	}
	events := s.Events(number)
	for _, e := range events[s.events:] {
		text := map[string]string{
			"labeled": "added the `" + e.Label + "` label", "unlabeled": "removed the `" + e.Label + "` label",
			"closed": "closed this", "reopened": "reopened this",
		}[e.Kind]
		if text != "" {
			list = append(list, dated{block{Kind: "event", Login: e.Actor.Login, Text: text}, e.CreatedAt})
		}
	}
	s.events = len(events)
	slices.SortStableFunc(list, func(a, b dated) int { return a.at.Compare(b.at) })
	blocks := make([]block, len(list))
	for i, d := range list {
		blocks[i] = d.block
	}
	return blocks
}

func write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// copyTree copies the sample's files without the suffix that keeps them out of the build.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return write(filepath.Join(to, strings.TrimSuffix(rel, ".txt")), data)
	})
}
