package cli

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/chunk/calls"
	spending "github.com/issue-assistant/issue-assistant/internal/usage"
)

// chunkUse reads the logs that the flags name; nil when none is named. Calls before the chunk's start are another one's.
func (a *app) chunkUse(o *chunkOptions, started *time.Time) (*calls.Use, error) {
	if o.transcripts == "" && o.execution == "" {
		return nil, nil //nolint:nilnil // nothing is asked for
	}
	var all calls.Use
	price := a.pricer()
	if o.transcripts != "" {
		since := time.Time{}
		if started != nil {
			since = *started
		}
		info, err := os.Stat(a.path(o.transcripts))
		if err != nil || !info.IsDir() {
			return nil, usage(fmt.Errorf("--transcripts %s is no folder that can be read", o.transcripts))
		}
		u, err := calls.Transcripts(os.DirFS(a.path(o.transcripts)), since, price)
		if err != nil {
			a.sayf("not all transcripts could be read: %v", err)
		}
		all.Add(u)
	}
	if o.execution != "" {
		file, err := os.Open(a.path(o.execution))
		if err != nil {
			return nil, usage(fmt.Errorf("--execution-file: %w", err))
		}
		defer func() { _ = file.Close() }() // it was only read
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return nil, usage(fmt.Errorf("--execution-file %s is no file", o.execution))
		}
		u, err := calls.Execution(file, info.Size(), spending.Options{Price: price})
		if err != nil {
			a.sayf("the execution file cannot be read to its end: %v", err)
		}
		all.Add(u)
	}
	return &all, nil
}

// chunkReport is what a chunk has cost. Null is unknown.
type chunkReport struct {
	Chunk         int      `json:"chunk,omitempty"`
	PullRequests  int      `json:"pull_requests"`
	Calls         *int64   `json:"calls"`
	MedianContext *int64   `json:"median_context_tokens"`
	LastContext   *int64   `json:"last_context_tokens"`
	CostUSD       *float64 `json:"cost_usd"`
	PerPullUSD    *float64 `json:"cost_per_pull_request_usd"`
}

func newChunkReportCmd(a *app, o *chunkOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Say what a chunk has cost: pull requests, calls, contexts, dollars",
		Long:  "Reads the logs that are named, or else the chunk's record. With --state it needs no GitHub.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.state != "" {
				s, err := a.chunkState(o)
				if err != nil {
					return err
				}
				if s.Chunk == nil {
					return usage(errors.New("the state holds no chunk to report"))
				}
				r := chunkReport{PullRequests: s.Chunk.PullRequestsMade, Calls: s.Chunk.Calls, LastContext: s.Chunk.ContextTokens, CostUSD: s.Chunk.CostUSD}
				used, err := a.chunkUse(o, nil)
				if err != nil {
					return err
				}
				return a.showReport(o, r, used)
			}
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			mine, err := c.one(cmd.Context())
			if err != nil {
				return err
			}
			r := chunkReport{Chunk: mine.ID, PullRequests: mine.Made, LastContext: mine.Gate.ContextTokens}
			r.Calls, r.CostUSD = mine.Gate.Sum()
			used, err := a.chunkUse(o, &mine.Started)
			if err != nil {
				return err
			}
			return a.showReport(o, r, used)
		},
	}
	return o.useFlags(o.stateFlag(cmd))
}

func (a *app) showReport(o *chunkOptions, r chunkReport, used *calls.Use) error {
	if used != nil {
		g := chunk.Gate{Use: used.Logs}
		r.Calls, r.CostUSD = g.Sum()
		r.MedianContext, r.LastContext = used.Median(), used.Last()
	}
	if r.CostUSD != nil && r.PullRequests > 0 {
		per := *r.CostUSD / float64(r.PullRequests)
		r.PerPullUSD = &per
	}
	if o.json {
		return a.writeJSON(r)
	}
	tokens := func(n *int64) string {
		if n == nil {
			return "unknown"
		}
		return strconv.FormatInt(*n, 10)
	}
	dollars := func(x *float64) string {
		if x == nil {
			return "unknown"
		}
		return fmt.Sprintf("$%.2f", *x)
	}
	_, err := fmt.Fprintf(a.Stdout, `pull requests             %d
calls                     %s
median context            %s
last context              %s
dollars                   %s
dollars per pull request  %s
`, r.PullRequests, tokens(r.Calls), tokens(r.MedianContext), tokens(r.LastContext), dollars(r.CostUSD), dollars(r.PerPullUSD))
	return err
}
