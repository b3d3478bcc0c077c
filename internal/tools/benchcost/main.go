// Command benchcost shows the same month to ccusage and to `issue-assistant cost`, and writes docs/benchmarks/cost.md.
//
//	go run ./internal/tools/benchcost -ccusage PATH [-out FILE]
//
// ccusage reads the transcripts that Claude Code leaves in a home folder, `cost` the records that `usage` makes of
// execution files. Both are written from the same recorded runs.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/cli"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
	"github.com/issue-assistant/issue-assistant/internal/usage/report"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("benchcost", flag.ContinueOnError)
	flags.SetOutput(stderr)
	ccusage := flags.String("ccusage", "", "ccusage's program")
	out := flags.String("out", "docs/benchmarks/cost.md", "where the page goes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := bench(ctx, ".", *ccusage, *out); err != nil {
		_, _ = fmt.Fprintln(stderr, "benchcost:", err) // nobody is left to tell
		return 1
	}
	return 0
}

const runsDir = "internal/tools/pictures/testdata/runs"

// bench shows the runs that root holds to both programs and writes the page.
func bench(ctx context.Context, root, ccusage, out string) (err error) {
	if ccusage == "" {
		return errors.New("-ccusage is missing")
	}
	recorded, err := month.Load(filepath.Join(root, filepath.FromSlash(runsDir)))
	if err != nil {
		return err
	}
	runs, err := month.Make(recorded)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "benchcost-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	ours, err := cost(ctx, filepath.Join(temp, "ours"), runs)
	if err != nil {
		return err
	}
	actions := filepath.Join(temp, "actions")
	for _, r := range runs {
		if err := writeTranscript(actions, fmt.Sprintf("run-%d", r.ID), r); err != nil {
			return err
		}
	}
	plain, err := daily(ctx, ccusage, actions)
	if err != nil {
		return err
	}
	prices, err := writePrices(filepath.Join(temp, "prices.json"))
	if err != nil {
		return err
	}
	theirs, err := daily(ctx, ccusage, actions, "--config", prices)
	if err != nil {
		return err
	}
	developer := filepath.Join(temp, "developer")
	if err := writeTranscript(developer, "interactive", interactive(recorded)); err != nil {
		return err
	}
	person, err := daily(ctx, ccusage, developer, "--config", prices)
	if err != nil {
		return err
	}
	version, err := program(ctx, ccusage, temp, "--version")
	if err != nil {
		return err
	}
	m := measured{version: strings.TrimSpace(string(version)), runs: runs, ours: ours, plain: plain, theirs: theirs, person: person}
	text, err := m.page()
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// interactive is what a developer did on a machine of their own: no run of the assistant.
func interactive(recorded map[string]month.Recorded) month.Run {
	r := month.Run{Recorded: recorded["triage-large"]}
	r.Run.Started = month.Begin().AddDate(0, 0, 9).Add(15 * time.Hour)
	return r
}

// cost makes a record of each run with `usage`, adds them up with `cost`.
func cost(ctx context.Context, dir string, runs []month.Run) (rep report.Report, err error) {
	if err := os.MkdirAll(filepath.Join(dir, "records"), 0o750); err != nil {
		return rep, err
	}
	for _, r := range runs {
		data, err := r.Encode()
		if err != nil {
			return rep, err
		}
		if err := os.WriteFile(filepath.Join(dir, "execution.jsonl"), data, 0o600); err != nil {
			return rep, err
		}
		vars := map[string]string{"GITHUB_RUN_ID": fmt.Sprint(r.ID), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_REPOSITORY": "example/tidybox"}
		if _, err := command(ctx, dir, vars, "usage", "--execution-file", "execution.jsonl", "--record", filepath.Join("records", fmt.Sprint(r.ID)+".json")); err != nil {
			return rep, err
		}
	}
	text, err := command(ctx, dir, nil, "cost", "--since", "20d", "--records", "records", "--json")
	if err != nil {
		return rep, err
	}
	return rep, json.Unmarshal(text, &rep)
}

func command(ctx context.Context, dir string, vars map[string]string, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	code := cli.Main(ctx, cli.Env{
		Args: args, Dir: dir, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Sleep: func(time.Duration) {},
		Getenv: func(name string) string { return vars[name] }, Environ: func() []string { return nil }, Now: month.End,
	})
	if code != cli.ExitOK {
		return nil, fmt.Errorf("%s: exit %d: %s", args[0], code, said.String())
	}
	return out.Bytes(), nil
}

type object = map[string]any

// writeTranscript writes a run as Claude Code keeps it below a home folder: one line for each answer.
func writeTranscript(home, session string, r month.Run) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	at := r.Run.Started
	for _, c := range r.Calls {
		at = at.Add(time.Duration(c.DurationMS) * time.Millisecond)
		err := e.Encode(object{
			"type": "assistant", "sessionId": session, "uuid": fmt.Sprintf("%s-%d", session, c.N), "requestId": fmt.Sprintf("req_%s_%d", session, c.N),
			"timestamp": at.Format("2006-01-02T15:04:05.000Z"), "version": r.Run.EngineVersion, "cwd": "/home/runner/work/tidybox/tidybox",
			"message": object{
				"id": fmt.Sprintf("msg_%s_%d", session, c.N), "type": "message", "role": "assistant", "model": c.Model,
				"usage": object{
					"input_tokens": c.Input, "output_tokens": c.Output, "cache_read_input_tokens": c.CachedInput,
					"cache_creation_input_tokens": c.CacheWrite5m + c.CacheWrite1h,
					"cache_creation":              object{"ephemeral_5m_input_tokens": c.CacheWrite5m, "ephemeral_1h_input_tokens": c.CacheWrite1h},
				},
			},
		})
		if err != nil {
			return err
		}
	}
	dir := filepath.Join(home, ".claude", "projects", "-home-runner-work-tidybox-tidybox")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, session+".jsonl"), b.Bytes(), 0o600)
}

// sums is what ccusage shows of some days.
type sums struct {
	Daily  []day `json:"daily"`
	Totals day   `json:"totals"`
}

type day struct {
	Date   string  `json:"period"`
	Input  int64   `json:"inputTokens"`
	Output int64   `json:"outputTokens"`
	Write  int64   `json:"cacheCreationTokens"`
	Read   int64   `json:"cacheReadTokens"`
	USD    float64 `json:"totalCost"`
}

func daily(ctx context.Context, ccusage, home string, more ...string) (s sums, err error) {
	data, err := program(ctx, ccusage, home, append([]string{"daily", "--json", "--offline", "--timezone", "UTC"}, more...)...)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, err
	}
	if len(s.Daily) == 0 {
		return s, fmt.Errorf("ccusage shows no day: %.300s", data)
	}
	return s, nil
}

func program(ctx context.Context, name, home string, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "NO_COLOR=1"}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ccusage: %w: %.500s", err, said.String())
	}
	return out, nil
}

// writePrices gives ccusage the prices that the records rest on, for models that its own table may lack.
func writePrices(file string) (string, error) {
	prices, err := meter.Prices(month.End())
	if err != nil {
		return "", err
	}
	own := object{}
	for _, model := range []string{"claude-opus-5-5"} {
		const million = 1_000_000
		var usd [4]float64
		for i, tokens := range [4][5]int64{{million}, {0, million}, {0, 0, million}, {0, 0, 0, 0, million}} {
			price, ok := prices.Cost(model, tokens[0], tokens[1], tokens[2], tokens[3], tokens[4])
			if !ok {
				return "", fmt.Errorf("%s has no price", model)
			}
			usd[i] = price / million
		}
		own[model] = object{
			"inputCostPerToken": usd[0], "cacheReadInputTokenCost": usd[1], "cacheCreationInputTokenCost": usd[2], "outputCostPerToken": usd[3],
		}
	}
	data, err := json.Marshal(object{"defaults": object{"pricingOverrides": own}})
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, data, 0o600)
}
