package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/issue-assistant/issue-assistant/engines"
	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/registry"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/material"
	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/version"
)

// sessionContext decides in `context`: the facts of the run about to start, and what the thread keeps of earlier ones.
type sessionContext struct {
	app      *app
	client   *ghapi.Client
	settings settings
	in       taskInputs
	rules    string
	state    session.State // set by earlier
}

// earlier is the hook of the material: it decides, keeps the decision in state and hands on the checkpoint.
func (s *sessionContext) earlier(ctx context.Context) func(material.Thread) material.Earlier {
	return func(t material.Thread) material.Earlier {
		mode := session.Mode(s.settings.config.Sessions.Mode)
		facts, err := s.facts(t)
		if err != nil {
			s.app.sayf("sessions: no decision: %v", err)
			return material.Earlier{}
		}
		in := session.Input{
			Mode: mode, Now: s.app.Now().UTC(), CacheTTLSeconds: int64(session.CacheTTL / time.Second), Wake: s.wake(),
			Task: string(s.in.task), Key: &facts.Key, Permission: facts.Permission, Limits: session.DefaultLimits(),
			Material: session.Material{BodyHash: facts.BodyHash}, Store: session.StoreOK, // what a kept transcript would have meant; none is kept between runs
			Current: session.Current{
				Engine: facts.Engine, EngineVersion: facts.EngineVersion, Model: facts.Model, Effort: *facts.Effort,
				RulesHash: facts.RulesHash, ConfigHash: facts.ConfigHash, ToolsHash: facts.ToolsHash, Workspace: facts.Workspace,
				RepositoryID: facts.RepositoryID, Head: facts.Head,
			},
		}
		own, kept, found := t.Kept(facts.Key)
		in.ForceFresh = s.forced(t, kept.Through)
		if found {
			in.Saved = &kept.Record
			facts.Warm = kept.Warm // what was counted stays, whatever is decided
			in.Profile = session.ProfileOf(string(s.in.task), &kept)
			in.Current.SavedHeadIsAncestor = s.isAncestor(ctx, kept.Head, facts.Head)
			in.Material.IngestedCommentsChanged = session.Ingested(t.Ingested(), kept.Through) != kept.Ingested
		}
		price := s.app.priceOf(s.settings.config, facts.Model)
		d := session.Decide(in, price)
		s.state = session.StateOf(mode, d, session.Compare(in, price), facts)
		s.app.sayf("sessions, %s: %s", mode, sessionLine(d))
		e := material.Earlier{Delta: true} // for a second start in this job
		if d.Prompt == session.PromptFullCheckpoint {
			e.Checkpoint = s.checkpoint(own, kept)
		}
		return e
	}
}

// facts is the record of the run about to start, without its results.
func (s *sessionContext) facts(t material.Thread) (session.Kept, error) {
	a, name := s.app, string(s.in.task)
	limits, err := a.limitsOfJob(name)
	if err != nil {
		return session.Kept{}, err
	}
	driver, err := registry.Find(limits.Engine)
	if err != nil {
		return session.Kept{}, err
	}
	schema, err := answer.Schema(s.in.task, answer.LabelsOf(s.settings.labels, s.settings.config.Labels.Deny))
	if err != nil {
		return session.Kept{}, err
	}
	set, err := json.Marshal(limits)
	if err != nil {
		return session.Kept{}, fmt.Errorf("encode the limits: %w", err)
	}
	tools, err := toolsHash(driver, limits)
	if err != nil {
		return session.Kept{}, err
	}
	now, ingested := a.Now().UTC(), t.Ingested()
	var through int64
	for _, c := range ingested {
		through = max(through, c.ID)
	}
	return session.Kept{
		Record: session.Record{
			Schema: session.RecordVersion, Key: session.KeyOf(name, s.client.Repo(), s.in.issue), Engine: string(limits.Engine),
			EngineVersion: pinnedVersion(limits.Engine), Model: limits.Model, Effort: &limits.Effort,
			RulesHash: session.Hash(s.rules), ConfigHash: session.Hash(string(set), string(schema), version.String()),
			ToolsHash: tools, Permission: session.PermissionRead, Workspace: session.Hash(a.Dir), RepositoryID: a.repositoryID(),
			Head: a.Getenv("GITHUB_SHA"), BodyHash: session.Hash(t.Issue.Title, t.Issue.Body), Ended: string(engine.Unfinished),
			Runs: 1, Created: now, LastUsed: now,
		},
		Ingested: session.Ingested(ingested, through), Through: through,
	}, nil
}

// repositoryID is the repository's number by the runner, else by the event; 0 when neither says it, which counts as
// different.
func (a *app) repositoryID() int64 {
	if id, err := strconv.ParseInt(a.Getenv("GITHUB_REPOSITORY_ID"), 10, 64); err == nil && id > 0 {
		return id
	}
	data, err := os.ReadFile(a.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return 0
	}
	var event struct {
		Repository struct {
			ID int64 `json:"id"`
		} `json:"repository"`
	}
	if json.Unmarshal(data, &event) != nil {
		return 0
	}
	return max(event.Repository.ID, 0)
}

// toolsHash covers every flag and setting by which the engine is told what it may do: they are the same for all issues.
func toolsHash(d engine.Driver, l task.Limits) (string, error) {
	cmd, err := d.Command(engine.Setup{
		CLI: "/cli", Checkout: "/checkout", Material: "/checkout/material", Home: "/home", Self: "/self", RulesFile: "/rules.md",
		Prompt: []byte("task"), Model: l.Model, Effort: l.Effort, MaxTurns: l.MaxTurns, MaxBudgetUSD: l.MaxBudgetUSD,
		BaseURL: "http://127.0.0.1", Credential: d.Credentials()[0],
	})
	if err != nil {
		return "", err
	}
	parts := slices.Concat(cmd.Args, cmd.Env)
	names := make([]string, 0, len(cmd.Files))
	for name := range cmd.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parts = append(parts, name, string(cmd.Files[name]))
	}
	return session.Hash(parts...), nil
}

// pinnedVersion is the version of the engine's command line that this release installs, "" when its lockfile is odd.
func pinnedVersion(name engine.Name) string {
	data, err := engines.FS.ReadFile(string(name) + "/package.json")
	if err != nil {
		return ""
	}
	var p struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if json.Unmarshal(data, &p) != nil || len(p.Dependencies) != 1 {
		return ""
	}
	for _, v := range p.Dependencies {
		return v
	}
	return ""
}

// wake names the event in the words of the decision.
func (s *sessionContext) wake() session.Wake {
	action := ""
	if path := s.app.Getenv("GITHUB_EVENT_PATH"); path != "" {
		if p, err := readPayload(path); err == nil {
			action = p.Action
		}
	}
	event := s.app.Getenv("GITHUB_EVENT_NAME")
	switch {
	case event == "issues" && action == "edited":
		return "issue_edited"
	case event == "issues" && action == "reopened":
		return "reopened"
	case event == "issues":
		return "issue_opened"
	case event == "workflow_dispatch", s.in.task == task.Reanalyze:
		return "manual"
	case s.in.task == task.MaintainerReply:
		return "maintainer_commented"
	}
	return "reporter_replied"
}

// forced reports whether a person asked for a fresh start: by the label, by a maintainer's `/assistant fresh` after
// what was read last, or by asking for a new analysis.
func (s *sessionContext) forced(t material.Thread, through int64) bool {
	asked := []bool{s.in.task == task.Reanalyze, t.Issue.HasLabel(session.LabelFresh)}
	for _, c := range t.Comments {
		if c.ID <= through || c.Author.IsBot() || t.Maintainer == nil || !t.Maintainer(comment.Login(c.Author)) {
			continue
		}
		for _, command := range task.Commands(c.Body) {
			asked = append(asked, command.Word == task.CommandFresh)
		}
	}
	return session.MergeForced(asked...)
}

// isAncestor asks GitHub whether the commit that was read before is still part of the branch. Not knowing means no.
func (s *sessionContext) isAncestor(ctx context.Context, saved, now string) bool {
	switch {
	case saved == "" || now == "":
		return false
	case saved == now:
		return true
	}
	c, err := s.client.Compare(ctx, saved, now)
	return err == nil && c.Contains()
}

// checkpoint is taken from the comment that keeps the record.
func (s *sessionContext) checkpoint(own comment.Own, kept session.Kept) *session.Checkpoint {
	parts := s.settings.texts.Split(own.Marker, own.Body)
	c := &session.Checkpoint{
		Task: string(s.in.task), Issue: s.in.issue, Done: parts.Done, Questions: parts.Questions, Files: parts.Files,
		Next: parts.Next, Through: kept.Through,
	}
	if own.Marker.Duplicate > 0 {
		c.Decisions = append(c.Decisions, fmt.Sprintf("announced as a duplicate of #%d", own.Marker.Duplicate))
	}
	if own.Marker.Questions {
		c.Decisions = append(c.Decisions, "the reporter was asked for information")
	}
	return c
}

// leave writes the decision where `run` of the same job looks for it; without one, it removes that of an earlier job.
func (s *sessionContext) leave() error {
	temp := s.app.Getenv("RUNNER_TEMP")
	if temp == "" {
		return nil
	}
	path := filepath.Join(temp, session.StateFile)
	if s.state.Mode == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the decision of an earlier job: %w", err)
		}
		return nil
	}
	data, err := json.Marshal(s.state)
	if err != nil {
		return fmt.Errorf("encode the decision on the session: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("leave the decision on the session: %w", err)
	}
	return nil
}

// priceOf takes a model's rates out of the table with the prices of the settings; nil when it has none.
func (a *app) priceOf(c config.Config, model string) *session.Price {
	prices, err := meter.Prices(a.Now())
	if err != nil {
		return nil
	}
	own := map[string]meter.Override{}
	for id, p := range c.Prices {
		own[id] = meter.Override{Input: p.Input, Output: p.Output, CachedInput: p.CachedInput}
	}
	if with, err := prices.With(own); err == nil {
		prices = with
	}
	return session.PriceOf(prices.Cost, model, session.CacheTTL)
}
