// Package echo is an engine for tests and the example of docs/engines.md: a command line that speaks the Responses API.
package echo

import (
	"encoding/json"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

type driver struct{}

// New returns the engine.
func New() engine.Driver { return driver{} }

func (driver) Name() engine.Name                  { return "echo" }
func (driver) Provider() string                   { return "openai" } // the meter's word for the API it speaks
func (driver) DefaultUpstream() string            { return "https://api.openai.com/v1" }
func (driver) UpstreamVar() string                { return "OPENAI_BASE_URL" }
func (driver) Refuses(func(string) string) string { return "" }
func (driver) Version(string) string              { return "" }
func (driver) NewStream() engine.Stream           { return &stream{} }

func (driver) Binary(dir, _, _ string) (string, error) {
	return dir + "/node_modules/.bin/echo-ai", nil
}

func (driver) Credentials() []engine.CredentialVar {
	return []engine.CredentialVar{{Name: "OPENAI_API_KEY", Bearer: true, Dummy: "sk-held-by-the-meter"}}
}

func (driver) Command(s engine.Setup) (engine.Command, error) {
	return engine.Command{
		Path: s.CLI, Dir: s.Checkout, Stdin: s.Prompt,
		Args: []string{"--model", s.Model, "--system", s.RulesFile},
		Env:  []string{"OPENAI_BASE_URL=" + s.BaseURL + "/v1", s.Credential.Name + "=" + s.Credential.Dummy},
	}, nil
}

type stream struct{ out engine.Outcome }

// Line reads {"session":"..."}, then {"answer":{...}} at the end.
func (s *stream) Line(raw []byte) {
	var line map[string]json.RawMessage
	if json.Unmarshal(raw, &line) != nil {
		return
	}
	if id, ok := line["session"]; ok && json.Unmarshal(id, &s.out.SessionID) != nil {
		s.out.SessionID = ""
	}
	if answer, ok := line["answer"]; ok {
		s.out.Closed, s.out.Ended, s.out.Answer = true, engine.Finished, answer
	}
}

func (s *stream) Outcome() engine.Outcome {
	if !s.out.Closed {
		s.out.Ended = engine.Unfinished
	}
	return s.out
}
