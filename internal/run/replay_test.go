package run

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// reviewSchema is the schema of the recorded runs.
const reviewSchema = `{"type":"object","properties":{"verdict":{"enum":["ok","problems"]},"findings":{"type":"array"}},"required":["verdict","findings"]}`

func TestReplayRecordedRuns(t *testing.T) {
	t.Parallel()
	logs := filepath.Join(testtool.Root(t), "testdata", "cases", "engine-logs")
	for file, want := range map[string]struct {
		ended  engine.Ended
		status int
		answer bool
	}{
		"claude-recommended-flags.jsonl":                    {ended: engine.Finished, answer: true},
		"claude-structured-bad-then-good.jsonl":             {ended: engine.Finished, answer: true},
		"action-success-structured.json":                    {ended: engine.Finished, answer: true},
		"action-cli332-success-structured.json":             {ended: engine.Finished, answer: true},
		"claude-structured-always-bad.jsonl":                {ended: engine.BadAnswer},
		"claude-structured-text-only.jsonl":                 {ended: engine.NoAnswer},
		"claude-success-3-turns.jsonl":                      {ended: engine.NoAnswer},
		"claude-budget-exceeded-on-structured-turn.jsonl":   {ended: engine.Finished, answer: true},
		"claude-error-max-budget-structured.jsonl":          {ended: engine.Budget},
		"claude-error-max-budget.jsonl":                     {ended: engine.Budget},
		"claude-error-max-turns.jsonl":                      {ended: engine.Turns},
		"action-error-max-turns-structured.json":            {ended: engine.Turns},
		"claude-max-turns-one-short-of-structured.jsonl":    {ended: engine.Turns},
		"claude-max-turns-reached-on-structured-turn.jsonl": {ended: engine.Finished, answer: true},
		"claude-api-401.jsonl":                              {ended: engine.NotSignedIn},
		"claude-api-403.jsonl":                              {ended: engine.NotSignedIn},
		"claude-api-404-model.jsonl":                        {ended: engine.UnknownModel},
		"claude-api-429.jsonl":                              {ended: engine.RateLimited},
		"claude-api-529.jsonl":                              {ended: engine.ProviderError, status: 529},
		"claude-api-500-mid-run.jsonl":                      {ended: engine.ProviderError, status: 500},
		"claude-refusal-mid-run.jsonl":                      {ended: engine.ModelRefused},
		"claude-killed-sigint.jsonl":                        {ended: engine.Interrupted},
		"claude-killed-sigterm.jsonl":                       {ended: engine.Unfinished},
		"action-cli-SIGKILL.json":                           {ended: engine.Unfinished},
		"action-bad-flag.json":                              {ended: engine.NotStarted},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(filepath.Join(logs, file))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			o := options(t)
			o.Schema = []byte(reviewSchema)
			res, err := Replay(t.Context(), o, f)
			if err != nil {
				t.Fatal(err)
			}
			if res.Ended != want.ended || res.Status != want.status || (res.Answer != "") != want.answer {
				t.Errorf("ended %s %d, answer %q; want %+v (%s)", res.Ended, res.Status, res.Answer, want, res.Reason)
			}
			end := framed(t, o.ExecutionFile)
			if end["cost_basis"] == "meter" {
				t.Error("a log without a meter says that there was one")
			}
		})
	}
}

// TestReplayOfOurOwnFile plays what a run wrote: the same end, the same numbers, whatever stands in front.
func TestReplayOfOurOwnFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		calls []engine.CallRecord
		ops   []string
	}{
		"finished": {ops: []string{"print=" + initLine, "call", "print=text", "call", "print=" + success(okAnswer)}},
		"refused": {
			calls: []engine.CallRecord{{Status: 200, Turn: true, CostUSD: 0.5}, {Status: 402, Refused: engine.Budget, ReservedUSD: 0.6}},
			ops:   []string{"print=" + initLine, "call", "call", "print=" + resultLine("success", true, "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, test.ops...)
			o.StartMeter = fakeMeterOf(test.calls...)
			first, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := os.ReadFile(o.ExecutionFile)
			if err != nil {
				t.Fatal(err)
			}
			o.ExecutionFile += ".again"
			again, err := Replay(t.Context(), o, strings.NewReader("\xef\xbb\xbf"+string(recorded)))
			if err != nil {
				t.Fatal(err)
			}
			first.ExecutionFile, first.Protection, first.Reason = again.ExecutionFile, again.Protection, again.Reason
			if diff := cmp.Diff(first, again); diff != "" {
				t.Error(diff)
			}
			framed(t, o.ExecutionFile)
		})
	}
}

func TestReplayOfWhatIsNoRecording(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "text": "hello\n", "cut array": `[{"type":"system"},{"type":`, "own records of the wrong type": `{"type":"issue_assistant.call","n":"x"}` + "\n" + `{"type":"issue_assistant.end","ended":"won"}` + "\n" + `{"type":"issue_assistant.other"}`,
		"array of texts": `["a", {"type":"issue_assistant.run"}]`,
	} {
		o := options(t)
		res, err := Replay(t.Context(), o, strings.NewReader(text))
		if err != nil || res.Ended == engine.Finished || res.Answer != "" {
			t.Errorf("%s: %+v %v", name, res, err)
		}
		framed(t, o.ExecutionFile)
	}
	o := options(t)
	res, err := Replay(t.Context(), o, io.MultiReader(strings.NewReader(initLine+"\n"), failing{}))
	if err != nil || res.Ended != engine.Unfinished {
		t.Errorf("a reader that fails: %+v %v", res, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	if res, err := Replay(ctx, options(t), strings.NewReader(success(okAnswer))); err != nil || res.Ended != engine.Interrupted {
		t.Errorf("interrupted: %+v %v", res, err)
	}
	if res, err := Replay(t.Context(), Options{}, strings.NewReader("")); err != nil || res.Ended != engine.NotStarted {
		t.Errorf("no options: %+v %v", res, err)
	}
}
