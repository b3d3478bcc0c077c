// Package anthropic is a scripted, loopback-only stand-in for the Anthropic Messages API.
//
// Tests run the real Claude Code CLI, or a scripted client, against it. It answers what its script says, streaming or
// plain, and keeps its own bill by its own counter of tokens, whatever usage it reports: a meter that believes a lie is
// found out by comparing the two. It shares no code and no prices with the meter.
package anthropic

import "time"

// Script says how a server answers.
type Script struct {
	Steps  []Step              // one per main request, in order; the last one repeats
	Next   func(*Request) Step // when set, decides instead of Steps; called once per main request, never in parallel
	Side   *Step               // the answer to a request without any tool (titles); nil: it is answered like a main one
	Models map[string]Step     // answers by model id, before all others and never used up (a 404, an overloaded model)

	Counter Counter
	Prices  map[string]Price // by model id; nil: Prices()
	// Count answers count_tokens instead of the server's own counter: a number, or a status of 400 and more.
	Count func(truth int64) (n int64, status int)
}

// Step is one answer. The zero value is a short text.
type Step struct {
	Thinking string
	Text     string
	Tools    []Tool
	Answer   any // input of a call of the tool StructuredOutput; it comes last

	HiddenTokens int64 // thinking that is billed and not shown
	StopReason   string
	StopDetails  map[string]any
	Model        string // the model that answers; "": the one that was asked
	IgnoreMax    bool   // the answer may be longer than max_tokens

	Usage   func(truth Usage) (start, final *Usage) // what is reported; nil: the truth; a nil Usage is left out
	Status  int                                     // answer with this HTTP status and an error body
	Type    string                                  // the error's type; "": derived from Status
	Message string
	Header  map[string]string
	Raw     string // the whole body of a 200
	RawType string

	Delay       time.Duration // before the answer's headers
	StreamDelay time.Duration // between two events
	Hang        bool          // never answers; ends when the client goes or the server closes
	Cut         bool          // the connection breaks after CutAfter bytes of the body
	CutAfter    int
	SSEError    *Error // an error event in the stream, after message_start
	Chunk       int    // bytes of text in one delta; 0: 40
	Repeat      int    // use this step for so many requests; 0: 1
	Plain       *Step  // the answer when the request does not stream
}

// Tool is a call of a tool. ID "" gets a fresh one.
type Tool struct {
	Name  string
	ID    string
	Input any
}

// Error is the error object of an error body or event.
type Error struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Usage is the usage of one answer, in tokens.
type Usage struct {
	Input        int64
	CachedInput  int64
	CacheWrite5m int64
	CacheWrite1h int64
	Output       int64
}

// Prompt is all input, cached or not.
func (u Usage) Prompt() int64 { return u.Input + u.CachedInput + u.CacheWrite5m + u.CacheWrite1h }

func (u Usage) json() map[string]any {
	return map[string]any{
		"input_tokens":                u.Input,
		"cache_creation_input_tokens": u.CacheWrite5m + u.CacheWrite1h,
		"cache_read_input_tokens":     u.CachedInput,
		"cache_creation": map[string]any{
			"ephemeral_5m_input_tokens": u.CacheWrite5m,
			"ephemeral_1h_input_tokens": u.CacheWrite1h,
		},
		"output_tokens": u.Output,
		"service_tier":  "standard",
	}
}

func (s Script) expand() []Step {
	var steps []Step
	for _, step := range s.Steps {
		for range max(step.Repeat, 1) {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		steps = []Step{{Text: "done"}}
	}
	return steps
}
