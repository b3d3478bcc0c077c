package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/material"
	"github.com/issue-assistant/issue-assistant/internal/run"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// sessionRun is what `run` knows of sessions: the decision that `context` left, and the record that comes of it.
type sessionRun struct {
	app    *app
	state  session.State
	facts  session.Kept
	config config.Config
}

// sessionOf reads the decision of `context`; false when sessions are off. A decision that cannot be read is said and
// left out: the run itself does not depend on it.
func (a *app) sessionOf(temp string, l task.Limits) (sessionRun, bool) {
	s := sessionRun{app: a}
	if temp == "" {
		return s, false // no job: there is no step before this one
	}
	cfg, _, err := config.LoadRepo(os.DirFS(a.Dir))
	if err != nil || cfg.Sessions.Mode == config.SessionsOff {
		return s, false
	}
	s.config = cfg
	data, err := readBounded(filepath.Join(temp, session.StateFile), session.MaxState)
	if err == nil {
		s.state, err = session.DecodeState(data)
	}
	if err == nil {
		s.facts, err = session.Decode(s.state.Facts)
	}
	switch {
	case err == nil && (string(s.state.Mode) != cfg.Sessions.Mode || !strings.HasPrefix(s.facts.Key, string(l.Task)+"/")):
		err = errors.New("it is of another task or mode")
	case err == nil && (s.facts.Model != l.Model || s.facts.Engine != string(l.Engine) || *s.facts.Effort != l.Effort):
		err = errors.New("a flag of this run changed what it was made for")
	}
	if err != nil {
		a.sayf("sessions: the decision of `context` is left out: %v", err)
		return s, false
	}
	return s, true
}

// readBounded reads a small plain file.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not what an earlier step wrote", filepath.Base(path))
	}
	return os.ReadFile(path)
}

// into hands the decision to the run and lets a run that a fault broke off go on in this job.
func (s *sessionRun) into(o *run.Options) {
	if v := o.Driver.Version(o.CLI); v != "" {
		s.facts.EngineVersion = v
	}
	reasons := make([]string, len(s.state.Reasons))
	for i, r := range s.state.Reasons {
		reasons[i] = string(r)
	}
	o.Session = &engine.SessionRecord{
		Decision: "fresh", Reasons: strings.Join(reasons, " "), Shadow: s.state.Mode == session.Shadow,
		ResumeUSD: s.state.ResumeUSD, FreshUSD: s.state.FreshUSD,
	}
	delta, err := os.ReadFile(filepath.Join(o.Material, material.FileDelta))
	if err == nil {
		o.Delta = bytes.TrimSpace(delta)
	}
	o.Retry = s.retry
}

// retry decides inside the job: everything is as it was but what the attempt has done, and the engine's rules are
// compared again with those that were decided on.
func (s *sessionRun) retry(at run.Attempt) session.Decision {
	now := s.app.Now().UTC()
	saved := s.facts.Record
	saved.AuthorIsTrusted = true // it never left the job
	// What nobody named is the same all the same: this is one job.
	saved.RepositoryID, saved.EngineVersion = max(saved.RepositoryID, 1), cmp.Or(saved.EngineVersion, "0")
	saved.Runs, saved.ContextTokens, saved.CostUSD, saved.LastUsed = 1, at.ContextTokens, at.CostUSD, now
	in := session.Input{
		Mode: session.Auto, Now: now, CacheTTLSeconds: int64(session.CacheTTL / time.Second), Wake: "retry_transient",
		Task: strings.SplitN(saved.Key, "/", 2)[0], Key: &saved.Key, Permission: saved.Permission, Saved: &saved,
		Material: session.Material{BodyHash: saved.BodyHash}, Store: session.StoreMissing, Limits: session.DefaultLimits(),
		Current: session.Current{
			Engine: saved.Engine, EngineVersion: saved.EngineVersion, Model: saved.Model, Effort: *saved.Effort,
			RulesHash: session.Hash(string(at.Rules)), ConfigHash: saved.ConfigHash, ToolsHash: saved.ToolsHash,
			Workspace: saved.Workspace, RepositoryID: saved.RepositoryID, Head: saved.Head, SavedHeadIsAncestor: true,
		},
	}
	if at.Lost {
		in.Wake = "retry_process_lost"
	}
	if at.Kept {
		in.Store = session.StoreOK
	}
	in.Profile = session.ProfileOf(in.Task, nil)
	return session.Decide(in, s.app.priceOf(s.config, saved.Model))
}

// record is the record for the marker of the comment that the answer becomes.
func (s *sessionRun) record(r run.Result) string {
	k, c := s.facts, r.Conversation
	k.Ended, k.Runs, k.ContextTokens, k.CostUSD = string(r.Ended), max(c.Runs, 1), c.ContextTokens, r.CostUSD
	k.LastUsed = s.app.Now().UTC()
	k.First, k.Turns, k.Output = c.FirstTokens, int64(r.Turns), c.OutputTokens
	if c.ResumedFirst > 0 {
		warm := maps.Clone(k.Warm)
		if warm == nil {
			warm = map[session.Bucket]session.Observed{}
		}
		warm[session.BucketMinute] = session.Observe(warm[session.BucketMinute], c.ResumedCached, c.ResumedFirst-c.ResumedCached)
		k.Warm = warm
	}
	return k.Encode()
}
