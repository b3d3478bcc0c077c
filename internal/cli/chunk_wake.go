package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/chunk/tracker"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghaction"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// wake switches the poll of [chunk] on again after an event that its gate may want to see: the schedule switches itself
// off, and a workflow that is off has no triggers of its own.
func (e *eventRun) wake(ctx context.Context, dry bool) {
	if dry || !e.concernsChunks() {
		return
	}
	c, ds, err := config.LoadRepo(os.DirFS(e.Dir))
	if err != nil || diag.HasErrors(ds) || c.Chunk == nil { // wrong settings are said where they are needed
		return
	}
	client := e.client
	if client == nil {
		if client, err = e.github(); err != nil {
			return
		}
	}
	e.wakePoll(ctx, client)
}

// concernsChunks: a label of chunks came or went, or something happened to an issue that carries one.
func (e *eventRun) concernsChunks() bool {
	of := func(name string) bool {
		switch strings.ToLower(name) {
		case config.LabelChunk, config.LabelClaimed, config.LabelReady, config.LabelBacklog, config.LabelPaused:
			return true
		}
		return false
	}
	f := e.facts
	if f.Sender.Bot || f.Comment.Ours || f.Fork || (f.Event != "issues" && f.Event != "issue_comment") {
		return false
	}
	if e.payload.Label != nil && of(e.payload.Label.Name) {
		return true
	}
	return slices.ContainsFunc(f.Issue.Labels, of)
}

func (a *app) wakePoll(ctx context.Context, client *ghapi.Client) {
	t := tracker.Tracker{Client: client, Writer: ghapi.NewWriter(client), Now: a.Now, Sleep: a.Sleep}
	woken, err := t.Wake(ctx)
	switch {
	case err != nil:
		ghaction.FromEnv(a.Getenv, a.Stdout, a.Stderr).Warning("the poll's schedule could not be switched on: " + err.Error())
	case woken:
		a.sayf("the poll's schedule is switched on")
	}
}
