package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
)

// size is how much a recorded run reads: a small, a middle and a large repository.
type size struct {
	name  string
	files int // of the checkout, beside the material
	bytes int // of each; 0: the files of the sample
	talk  int // bytes of the conversation beside the sample's
}

func sizes() []size {
	return []size{{"small", 3, 0, 0}, {"middle", 6, 8_000, 6_000}, {"large", 12, 14_000, 24_000}}
}

// Tokens of the recorded runs: what the stand-in bills for a byte, and thinking before each call and before the answer.
const (
	tokensPerByte    = 0.3
	thinkingTokens   = 200
	thinkingAtTheEnd = 600
)

// recorder runs the real Claude Code by the program's own `run`, against a provider on this machine that reads what it is
// told to read and then answers.
type recorder struct {
	binary, engine string
	model          string // empty: the settings' own
	size           size
}

// newRecorder builds the program into the folder.
func newRecorder(ctx context.Context, root, temp string, sz size) (*recorder, error) {
	engine, err := claude.Driver{}.Binary(filepath.Join(root, "engines", "claude"), runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	r := &recorder{binary: filepath.Join(temp, "issue-assistant"), engine: engine, size: sz}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", r.binary, "./cmd/issue-assistant")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return r, nil
}

// reads are the files of a run: two for a yes-or-no reply, else the material and files of the checkout as well.
func (r *recorder) reads(s *story, name string) ([]string, error) {
	files := []string{".issue-assistant/material/issue.md"}
	if name != string(task.Triage) {
		files = append(files, ".issue-assistant/material/comment.md")
	}
	if name == string(task.MaintainerReply) || name == string(task.ReleaseReply) {
		return files, nil
	}
	files = append(files, ".issue-assistant/material/candidates.md")
	if r.size.bytes == 0 {
		return append(files, listFile, sortFile, rulesFile), nil
	}
	n := r.size.files
	if name == string(task.FollowUp) {
		n /= 2 // its turns are half as many
	}
	for i := range n {
		file := fmt.Sprintf("internal/big/file%02d.go", i)
		if err := write(filepath.Join(s.dir, file), []byte(code(r.size.bytes, i))); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// code is Go source of about n bytes.
func code(n, seed int) string {
	var b strings.Builder
	b.WriteString("package big\n")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "\n// part%d moves the files of box %d.\nfunc part%d(paths []string) (moved int) {\n\tfor _, path := range paths {\n\t\tif len(path) > %d {\n\t\t\tmoved++\n\t\t}\n\t}\n\treturn moved\n}\n", i, seed, i, i+seed)
	}
	return b.String()
}

// run plays the engine's part of a task and leaves its execution file.
func (r *recorder) run(ctx context.Context, s *story, st step, out map[string]string) (err error) {
	files, err := r.reads(s, st.task)
	if err != nil {
		return err
	}
	if r.size.talk > 0 {
		if err := pad(filepath.Join(s.dir, ".issue-assistant", "material", "issue.md"), r.size.talk); err != nil {
			return err
		}
	}
	answer, err := complete(st.answer)
	if err != nil {
		return err
	}
	server := anthropic.New(anthropic.Script{
		Counter: anthropic.Counter{Min: tokensPerByte, Max: tokensPerByte},
		Next: func(q *anthropic.Request) anthropic.Step {
			if q.Main > len(files) || q.Says(meter.LastNote) { // the meter asks for the answer when another call would not fit
				return anthropic.Step{HiddenTokens: thinkingAtTheEnd, Answer: answer}
			}
			input := map[string]any{"file_path": filepath.Join(s.dir, files[q.Main-1])}
			return anthropic.Step{HiddenTokens: thinkingTokens, Tools: []anthropic.Tool{{Name: "Read", Input: input}}}
		},
	})
	defer server.Close()
	ctx, stop := withTimeout(ctx)
	defer stop()
	args := []string{"run", "--task", st.task, "--issue", strconv.Itoa(number), "--cli", r.engine, "--rules-file", out["rules-file"], "--execution-file", s.execution()}
	if r.model != "" {
		args = append(args, "--model", r.model)
	}
	cmd := exec.CommandContext(ctx, r.binary, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.temp, "RUNNER_TEMP=" + s.temp,
		"ANTHROPIC_API_KEY=sk-ant-api03-TESTKEY0000", "ANTHROPIC_BASE_URL=" + server.URL,
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run: %w: %s", err, said)
	}
	if n := len(server.MainRequests()); n > len(files)+1 {
		return fmt.Errorf("%d calls for %d files: %s", n, len(files), said)
	}
	return nil
}

func withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 3*time.Minute)
}

// pad adds a conversation to the file.
func pad(file string, n int) (err error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line := "I see the same with the list that our backup writes every night, and only for some of the folders.\n"
	_, err = f.WriteString("\n" + strings.Repeat(line, n/len(line)))
	return err
}

func (s *story) execution() string { return filepath.Join(s.temp, "issue-assistant-execution.jsonl") }

// runsDir holds what the recorded runs cost: the meter's lines of their execution files.
const runsDir = "internal/tools/pictures/testdata/runs"

// light is the model of the yes-or-no replies when one is set.
const light = "claude-haiku-5-5"

// recordAll plays the story once for each size, the replies with a light model too, and keeps what the runs cost.
func recordAll(ctx context.Context, root, out string) error {
	for _, sz := range sizes() {
		for _, model := range []string{"", light} {
			if err := recordOne(ctx, root, out, sz, model); err != nil {
				return fmt.Errorf("%s %s: %w", sz.name, model, err)
			}
		}
	}
	return nil
}

// recordOne plays the story once and writes what each run cost into the folder out.
func recordOne(ctx context.Context, root, out string, sz size, model string) (err error) {
	s, err := newStory(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r, err := newRecorder(ctx, root, s.temp, sz)
	if err != nil {
		return err
	}
	r.model = model
	s.execute = func(ctx context.Context, s *story, st step, outputs map[string]string) error {
		name := st.task + "-" + sz.name
		if model != "" {
			if st.task != string(task.MaintainerReply) && st.task != string(task.ReleaseReply) {
				return nil
			}
			name += "-light"
		}
		if err := r.run(ctx, s, st, outputs); err != nil {
			return err
		}
		data, err := os.ReadFile(s.execution())
		if err != nil {
			return err
		}
		rec, err := month.Parse(data)
		if err != nil {
			return err
		}
		rec.End.SessionID = ""
		if data, err = rec.Encode(); err != nil {
			return err
		}
		fmt.Println(name, rec.End.Ended, rec.End.Turns, rec.End.CostUSD)
		return write(filepath.Join(out, name+".jsonl"), data)
	}
	for _, st := range steps() {
		if _, err := s.play(ctx, st); err != nil {
			return err
		}
	}
	return nil
}
