// Package standin is what the scripted, loopback-only stand-ins of provider APIs share: the script, the bill and the
// counter of tokens. A dialect adds the form of one API.
//
// A stand-in keeps its own bill by its own counter, whatever usage it reports: a meter that believes a lie is found out
// by comparing the two. It shares no code and no prices with the meter.
package standin

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Script says how a server answers.
type Script struct {
	Steps   []Step              // one per call of the model, in order; the last one repeats
	Next    func(*Request) Step // when set, decides instead of Steps; never called in parallel
	Counter Counter
	Prices  map[string]Price
	// Count answers the API's counter of tokens instead of the server's own: a number, or a status of 400 and more.
	Count func(truth int64) (n int64, status int)
}

// Step is one answer. The zero value is a short text.
type Step struct {
	Text         string
	Tools        []Tool
	Thinking     string // shown in part, billed in whole
	HiddenTokens int64  // thinking that is billed and not shown
	IgnoreMax    bool   // the answer may be longer than the request allows
	Blocked      bool   // the provider's filter stopped the answer

	Usage   func(truth Usage) *Usage // what is reported; nil: the truth; a nil Usage is left out
	Status  int                      // answer with this HTTP status and an error body
	Message string
	Header  map[string]string
	Raw     string // the whole body of a 200

	Delay    time.Duration
	Hang     bool // never answers; ends when the client goes or the server closes
	Cut      bool // the connection breaks after CutAfter bytes of the body
	CutAfter int
}

// Tool is a call of a tool. Namespace is OpenAI's.
type Tool struct {
	Namespace, Name string
	Input           any
}

// Usage is the usage of one answer, in tokens. Output includes Thinking.
type Usage struct {
	Input, CachedInput, CacheWrite, Output, Thinking int64
}

// Prompt is all input, cached or not.
func (u Usage) Prompt() int64 { return u.Input + u.CachedInput + u.CacheWrite }

// Price is what a model costs, in picodollars a token (a dollar per million tokens is 1,000,000 of them).
type Price struct {
	Input, Cached, Write, Output int64
	Above                        int64 // a request with a longer prompt costs the Long price; 0: never
	Long                         *Price
}

// Bill is what a server charged. Pico is in picodollars.
type Bill struct {
	Pico  int64
	Calls int
	Usage
}

// USD is the bill in dollars.
func (b Bill) USD() float64 { return float64(b.Pico) / 1e12 }

func (p Price) charge(u Usage) int64 {
	if p.Above > 0 && u.Prompt() > p.Above {
		p = *p.Long
	}
	return u.Input*p.Input + u.CachedInput*p.Cached + u.CacheWrite*p.Write + u.Output*p.Output
}

// Request is one request as the server saw it.
type Request struct {
	N      int // from 1, all requests
	Main   int // from 1, among the calls of the model; 0: none
	Method string
	Path   string
	Header http.Header
	Body   []byte

	Model     string
	MaxTokens int64 // 0: not limited
	Stream    bool
	System    string   // the rules: what stands where the API puts a system prompt
	User      string   // all texts of the user
	Last      string   // the text at the end of the prompt, whoever wrote it
	Tools     []string // names
	NoTools   bool     // the model must not call any
	Results   []string // of tool calls
	Schema    bool     // a schema of the answer is asked for

	Status   int // as answered; 0: none
	Canceled bool
	Cut      bool
	Billed   int64 // picodollars

	Blocks []Block
}

// HasTool reports whether the request offers the tool.
func (r *Request) HasTool(name string) bool { return slices.Contains(r.Tools, name) }

// Asked reports whether the model is told to answer now.
func (r *Request) Asked() bool { return strings.Contains(r.Last, "This is the last call") }

// Block is a part of the prompt that is counted on its own.
type Block struct {
	Key  string // all of it
	Text string // what is counted
	Own  string // the id under which the server billed it as output

	Mark  string // the prompt is cached up to here, for "5m" or "1h", where the API has such marks
	More  int64  // tokens besides those of the text: of images
	Fixed int64  // all its tokens, whatever the text; 0: not fixed
}

// Part is a part of an answer.
type Part struct {
	Kind   string // thinking, text, tool
	Text   string // also a tool's input as JSON
	Tool   Tool
	ID     string
	Tokens int64
	Broken bool // a tool call that the limit cut
}

// Answer is what a step gives for a request.
type Answer struct {
	N       int
	Model   string
	Parts   []Part
	Cut     bool
	Blocked bool
	Usage   *Usage // as reported
}
