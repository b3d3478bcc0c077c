package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/registry"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// engineReplay plays a recording instead of starting an engine.
const engineReplay = "replay"

type tryFlags struct {
	repo, engine, answerFile, cli, task string
}

func newTryCmd(a *app) *cobra.Command {
	var f tryFlags
	cmd := &cobra.Command{
		Use:   "try [SAMPLE | ISSUE.json | NUMBER]",
		Short: "Play the whole job on this machine; nothing is written to GitHub",
		Long: "Plays a task from its limits to the comment as it would be posted, against a repository in memory.\n" +
			"Without an argument a built-in issue is used, with a recorded run of Claude Code.\n\n" +
			"  SAMPLE      " + strings.Join(sampleNames(), ", ") + "\n" +
			"  ISSUE.json  GitHub's issue object, its comments in comments_list\n" +
			"  NUMBER      an issue that is read from --repo; public ones need no token",
		Example: "  issue-assistant try\n" +
			"  issue-assistant try issue.json --answer-file answer.json\n" +
			"  issue-assistant try 12 --repo octo-org/demo --engine claude",
		GroupID: groupPeople,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			what := sampleNames()[0]
			if len(args) == 1 {
				what = args[0]
			}
			return a.try(cmd.Context(), what, f)
		},
	}
	cmd.Flags().StringVar(&f.repo, "repo", "", "`owner/name`, for NUMBER")
	cmd.Flags().StringVar(&f.engine, "engine", engineReplay, "replay, or "+listOf(engine.Names)+" with the key in the environment")
	cmd.Flags().StringVar(&f.answerFile, "answer-file", "", "a `file` with the answer: no engine is asked; - is the standard input")
	cmd.Flags().StringVar(&f.cli, "cli", "", "`path` of the engine's program; empty: it is installed into a temporary folder")
	cmd.Flags().StringVar(&f.task, "task", string(task.Triage), "the `task`: "+listOf(task.Names))
	return cmd
}

// try plays the steps of a workflow one after another, as a runner would, in a temporary folder.
func (a *app) try(ctx context.Context, what string, f tryFlags) error {
	name, err := task.Parse(f.task)
	if err != nil {
		return usage(err)
	}
	if f.engine == engineReplay && f.answerFile == "" && name != task.Triage && name != task.Reanalyze {
		return usage(withHint(fmt.Errorf("no run of %s is recorded", name), "give --engine, or an answer with --answer-file"))
	}
	if f.engine != engineReplay {
		if _, err := registry.Find(engine.Name(f.engine)); err != nil {
			return usage(err)
		}
	}
	stage, err := a.newTrial(ctx, what, f)
	if err != nil {
		return err
	}
	defer stage.close()
	stage.task = name
	if err := stage.play(ctx, f); err != nil {
		return err
	}
	return stage.show()
}

// play runs the commands of the analyze and the apply job.
func (s *trial) play(ctx context.Context, f tryFlags) error {
	number := strconv.Itoa(s.issue)
	ready := string(engine.Claude)
	if f.engine != engineReplay {
		ready = f.engine
	}
	args := []string{"engine", "--task", string(s.task), "--issue", number, "--ready-engines", ready}
	if f.engine != engineReplay && f.cli == "" {
		args = append(args, "--install")
	}
	limits, err := s.step(ctx, args...)
	if err != nil {
		return err
	}
	if limits["ready"] != "true" {
		return problem(fmt.Errorf("the task is not started: %s", limits["reason"]))
	}
	material, err := s.step(ctx, "context", "--task", string(s.task), "--issue", number)
	if err != nil {
		return err
	}
	if material["material"] == "" {
		return problem(errors.New("there is nothing to read: the issue is gone"))
	}
	if err := s.answer(ctx, f, limits, material); err != nil {
		return err
	}
	if s.ended != engine.Finished {
		return nil
	}
	file := filepath.Join(s.temp, "answer.json")
	if err := os.WriteFile(file, []byte(s.raw), 0o600); err != nil {
		return failure(err)
	}
	_, err = s.step(ctx, "apply", "--task", string(s.task), "--issue", number, "--comment", material["comment"], "--engine", limits["engine"], "--answer-file", file)
	return err
}

// answer gets the answer from a file, a recording or a real engine; the last two leave an execution file and a line.
func (s *trial) answer(ctx context.Context, f tryFlags, limits, material map[string]string) error {
	if f.answerFile != "" {
		data, err := s.user.readInput(f.answerFile)
		if err != nil {
			return usage(err)
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return usage(withHint(errors.New("the file of --answer-file is empty"), "write the JSON of one answer into it, as schema/ describes it"))
		}
		s.raw, s.ended, s.line = string(data), engine.Finished, "no run: the answer is the one of "+filepath.Base(f.answerFile)
		return nil
	}
	execution := filepath.Join(s.temp, "execution.jsonl")
	var err error
	if f.engine == engineReplay {
		err = s.replay(ctx, limits, material, execution)
	} else {
		err = s.realRun(ctx, f, limits, material, execution)
	}
	if err != nil {
		return err
	}
	before := s.summary()
	_, err = s.step(ctx, "usage", "--task", string(s.task), "--issue", strconv.Itoa(s.issue), "--execution-file", execution, "--ended", string(s.ended))
	s.line = strings.TrimSpace(strings.TrimPrefix(s.summary(), before))
	return err
}

func (s *trial) replay(ctx context.Context, limits, material map[string]string, execution string) error {
	if s.recording == nil {
		return usage(withHint(errors.New("there is no recorded run for this issue"),
			"--answer-file FILE with an answer of your own, or --engine claude to ask a real engine"))
	}
	driver, err := registry.Find(engine.Claude)
	if err != nil {
		return failure(err)
	}
	schema, err := os.ReadFile(material["schema-file"])
	if err != nil {
		return failure(err)
	}
	l, err := s.limits(limits)
	if err != nil {
		return failure(err)
	}
	res, err := run.Replay(ctx, run.Options{
		Task: string(s.task), Issue: s.issue, Driver: driver, Limits: l, Schema: schema, ExecutionFile: execution,
		Temp: s.temp, Checkout: s.dir, Material: material["material"], RulesFile: material["rules-file"], Now: s.recordedClock(),
	}, bytes.NewReader(s.recording))
	if err != nil {
		return failure(err)
	}
	s.raw, s.ended = string(res.Answer), res.Ended
	return nil
}

// recordedClock lets a played run take the time that the recorded one took.
func (s *trial) recordedClock() func() time.Time {
	begin, took := s.app.Now(), time.Duration(0)
	for line := range bytes.Lines(s.recording) {
		var result struct {
			Type string `json:"type"`
			MS   int64  `json:"duration_ms"`
		}
		if json.Unmarshal(line, &result) == nil && result.Type == "result" {
			took = time.Duration(result.MS) * time.Millisecond
		}
	}
	first := true
	return func() time.Time {
		if first {
			first = false
			return begin
		}
		return begin.Add(took)
	}
}

func (s *trial) limits(outputs map[string]string) (run.Limits, error) {
	turns, err1 := strconv.Atoi(outputs["max-turns"])
	budget, err2 := strconv.ParseFloat(outputs["max-budget-usd"], 64)
	minutes, err3 := strconv.Atoi(outputs["timeout-minutes"])
	return run.Limits{
		Model: outputs["model"], Effort: outputs["effort"], MaxTurns: turns, MaxBudgetUSD: budget, TimeoutMinutes: minutes,
	}, errors.Join(err1, err2, err3)
}

// show prints what a maintainer would see.
func (s *trial) show() error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of #%d: %s\n", s.task, s.issue, diag.Printable(s.title))
	comments := s.ours()
	if len(comments) == 0 {
		b.WriteString("\nNo comment would be posted.\n")
	}
	for _, body := range comments {
		b.WriteString("\nThe comment as it would be posted:\n\n")
		for line := range strings.Lines(body) {
			b.WriteString("  | " + diag.Printable(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	fmt.Fprintf(&b, "\nLabels: %s\n", s.labelChange())
	fmt.Fprintf(&b, "\nThe line in the job summary:\n\n  %s\n", diag.Printable(s.line))
	for _, note := range s.notes() {
		b.WriteString("\n" + diag.Printable(note) + "\n")
	}
	b.WriteString("\nNothing was written to GitHub.\n")
	if _, err := fmt.Fprint(s.user.Stdout, b.String()); err != nil {
		return failure(err)
	}
	if s.ended != engine.Finished {
		return silent(ExitProblem)
	}
	return nil
}

// labelChange says which labels came and went.
func (s *trial) labelChange() string {
	now := s.labels()
	var words []string
	for _, l := range now {
		if !slices.Contains(s.before, l) {
			words = append(words, "+"+diag.Printable(l))
		}
	}
	for _, l := range s.before {
		if !slices.Contains(now, l) {
			words = append(words, "-"+diag.Printable(l))
		}
	}
	if len(words) == 0 {
		return "no change"
	}
	return strings.Join(words, " ")
}
