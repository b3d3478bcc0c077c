package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// LimitsFile is the file in RUNNER_TEMP by which `engine` tells `run` and `usage` of the same job what was decided.
const LimitsFile = "issue-assistant-limits.json"

// minReplyTurns is what a yes-or-no reply gets at least: read two files, think, answer.
const minReplyTurns = 4

// Limits is what one run may use.
type Limits struct {
	Task           Name        `json:"task"`
	Engine         engine.Name `json:"engine"`
	Model          string      `json:"model"`
	Effort         string      `json:"effort"` // empty: the engine's default
	MaxTurns       int         `json:"max_turns"`
	MaxBudgetUSD   float64     `json:"max_budget_usd"`
	TimeoutMinutes int         `json:"timeout_minutes"`
}

// LimitsFor is the table of the tasks: all turns for the analyses, half of them for a follow-up, a tenth and the light
// model for the replies. Budget and minutes are the same for all.
func LimitsFor(c config.Config, name Name) Limits {
	l := Limits{
		Task:           name,
		Engine:         c.Engine.Name,
		Model:          c.Engine.Model,
		Effort:         c.Engine.Effort,
		MaxTurns:       c.Engine.MaxTurns,
		MaxBudgetUSD:   c.Engine.MaxBudgetUSD,
		TimeoutMinutes: c.Engine.TimeoutMinutes,
	}
	switch {
	case name == FollowUp:
		l.MaxTurns = (l.MaxTurns + 1) / 2
	case name.IsReply():
		l.MaxTurns = max((l.MaxTurns+9)/10, minReplyTurns)
		if c.Engine.LightModel != "" {
			l.Model = c.Engine.LightModel
		}
	}
	return l
}

// Check refuses every value that must not reach a command line, whichever way it came in.
func (l Limits) Check() error {
	_, err := Parse(string(l.Task))
	return errors.Join(
		err,
		config.CheckEngine(string(l.Engine)),
		config.CheckModel(l.Model),
		config.CheckEffort(l.Effort),
		config.CheckTurns(l.MaxTurns),
		config.CheckBudget(l.MaxBudgetUSD),
		config.CheckMinutes(l.TimeoutMinutes),
	)
}

// EncodeLimits writes the limits as one line of JSON, after checking them.
func EncodeLimits(l Limits) ([]byte, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode the limits: %w", err)
	}
	return append(data, '\n'), nil
}

// maxLimitsFile bounds what DecodeLimits reads; EncodeLimits writes a few hundred bytes.
const maxLimitsFile = 16 << 10

// DecodeLimits reads what EncodeLimits wrote and checks each value again: another step of the job may have changed the
// file.
func DecodeLimits(data []byte) (Limits, error) {
	if len(data) > maxLimitsFile {
		return Limits{}, fmt.Errorf("%s is larger than %d bytes: the step `engine` did not write it", LimitsFile, maxLimitsFile)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var l Limits
	if err := dec.Decode(&l); err != nil {
		return Limits{}, fmt.Errorf("read %s: %w", LimitsFile, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Limits{}, fmt.Errorf("read %s: something follows the limits", LimitsFile)
	}
	if err := l.Check(); err != nil {
		return Limits{}, fmt.Errorf("%s: %w", LimitsFile, err)
	}
	return l, nil
}
