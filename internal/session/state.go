package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// StateFile is where `context` leaves the decision in the runner's temporary folder, for `run` of the same job.
const StateFile = "issue-assistant-session.json"

// MaxState bounds what is read of it, in bytes.
const MaxState = 8 << 10

// State is a decision on its way from `context` to `run`.
type State struct {
	Mode      Mode     `json:"mode"`
	Reasons   []Reason `json:"reasons"` // none: it would resume
	Notes     []Note   `json:"notes"`
	ResumeUSD *float64 `json:"resume_usd"` // nil: nothing to compare
	FreshUSD  *float64 `json:"fresh_usd"`
	Facts     string   `json:"facts"` // what the run is, as an encoded record without results
}

// StateOf makes the state of a decision. both is what resuming and starting fresh would cost, nil when unknown.
func StateOf(mode Mode, d Decision, both *Estimate, facts Kept) State {
	s := State{
		Mode: mode, Reasons: append([]Reason{}, d.Reasons...), Notes: append([]Note{}, d.Notes...), Facts: facts.Encode(),
	}
	if both != nil {
		resume, fresh := math.Round(both.ResumeUSD*1e4)/1e4, math.Round(both.FreshUSD*1e4)/1e4
		s.ResumeUSD, s.FreshUSD = &resume, &fresh
	}
	return s
}

// DecodeState reads a state and refuses every word that is not of the closed lists.
func DecodeState(data []byte) (State, error) {
	var s State
	switch {
	case len(data) > MaxState:
		return State{}, errors.New("the decision on the session is too long")
	case json.Unmarshal(data, &s) != nil:
		return State{}, errors.New("the decision on the session is no JSON of its shape")
	case s.Mode != Shadow && s.Mode != Auto:
		return State{}, errors.New("the decision on the session has no mode")
	}
	for _, r := range s.Reasons {
		if !slices.Contains(Reasons, r) {
			return State{}, errors.New("the decision on the session has an unknown reason")
		}
	}
	for _, n := range s.Notes {
		if n != HeadMoved && n != EnginePatchChanged {
			return State{}, errors.New("the decision on the session has an unknown note")
		}
	}
	for _, usd := range []*float64{s.ResumeUSD, s.FreshUSD} {
		if usd != nil && !(*usd >= 0 && *usd <= maxMicro/1e6) {
			return State{}, errors.New("the decision on the session has dollars that cannot be")
		}
	}
	facts, err := Decode(s.Facts)
	if err == nil && facts.Schema != RecordVersion {
		err = errRecord
	}
	if err != nil {
		return State{}, fmt.Errorf("the decision on the session: %w", err)
	}
	return s, nil
}
