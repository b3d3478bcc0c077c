package tracker

import (
	"context"
	"fmt"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// labels are what chunks need in a repository. ready is set by people only.
func labels() []ghapi.Label {
	return []ghapi.Label{
		{Name: config.LabelChunk, Color: "5319e7", Description: "The record of an agent's chunk of work"},
		{Name: config.LabelClaimed, Color: "d4c5f9", Description: "An agent works on this; take the label off to stop it"},
		{Name: config.LabelReady, Color: "0e8a16", Description: "Triaged by a person: an agent may claim it"},
		{Name: config.LabelBacklog, Color: "ededed", Description: "Filed by an agent, not triaged yet"},
		{Name: config.LabelPaused, Color: "fbca04", Description: "The chunk starts nothing until this label is gone"},
		{Name: config.LabelOff, Color: "ededed", Description: "No AI on this issue"},
	}
}

// EnsureLabels creates the labels that are missing.
func (t *Tracker) EnsureLabels(ctx context.Context) error {
	have, err := t.Client.Labels(ctx)
	if err != nil {
		return err
	}
	all := map[string]bool{}
	for _, l := range have {
		all[strings.ToLower(l.Name)] = true
	}
	for _, l := range labels() {
		if all[l.Name] {
			continue
		}
		if err := t.Writer.CreateLabel(ctx, "chunk", l); err != nil {
			return err
		}
	}
	return nil
}

// Start opens a chunk for the token's account. With a label it takes only issues that carry it.
func (t *Tracker) Start(ctx context.Context, label string) (*Chunk, error) {
	me, err := t.Viewer(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.EnsureLabels(ctx); err != nil {
		return nil, err
	}
	c := &Chunk{Record: chunk.Fold(0, nil)}
	c.Agent, c.Label, c.Started = me.Login, label, t.Now().UTC().Truncate(1e9)
	c.Gate.LastChange = c.Started
	mark, err := c.Mark(t.Nonce())
	if err != nil {
		return nil, err
	}
	made, err := t.Writer.CreateIssue(ctx, "chunk", ghapi.IssueDraft{
		Title: "Chunk of work of an agent", Body: mark + "\n" + Page(&c.Record), Marker: mark,
		Labels: []string{config.LabelChunk, config.LabelOff}, // off: no task of ours looks at it
	})
	if err != nil {
		return nil, err
	}
	c.ID, c.body = made.Number, made.Body
	err = t.add(ctx, c, chunk.Event{Do: chunk.DoStarted, Agent: c.Agent, Label: label}, "Started.")
	if err != nil {
		return c, err
	}
	return c, t.Save(ctx, c)
}

// Instruction is what an agent has to keep to, printed when its chunk starts.
func Instruction(id int) string {
	return fmt.Sprintf(`You work on chunk %[1]d. Keep to this until it is wrapped:

1. Work only on issues that this chunk has claimed:  issue-assistant chunk claim --chunk %[1]d NUMBER...
   The set is fixed by the first poll that says "run". Nothing joins it later, whoever argues for it.
2. Write the line
     %[2]s
   as the last line of every comment and pull request of yours, and name the issue in it ("Fixes #NUMBER").
3. What you notice on the way, in review of your own work too, is not yours to do now. File it, unclaimed:
     issue-assistant chunk note --chunk %[1]d --title "..." --text - < text.md
4. Finish what you claimed, with the defects in your own pull requests before they merge: resolve every review thread and
   answer every remark of a reviewing bot. What you cannot finish, give back:
     issue-assistant chunk release --chunk %[1]d NUMBER --reason blocked
5. Between pieces of work ask, and do what it says:
     issue-assistant chunk poll --chunk %[1]d --ran --transcripts DIR
   run: work on what it names · quiet, hold, error: do nothing and end your turn · wrap, release: the next line.
6. When it says wrap or release:  issue-assistant chunk wrap --chunk %[1]d
   Stop at "wrapped, ready for reset". It names what is missing otherwise.
7. After two failures in a row of the same write, go on without it and say so in the end.
`, id, chunk.FormatMark(chunk.MarkAgent, "chunk", fmt.Sprint(id)))
}
