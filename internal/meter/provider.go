package meter

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// provider is what differs between the APIs. Its methods are pure; a request belongs to one call.
type provider interface {
	// home is the base URL of the provider itself.
	home() string
	// dummyKey is a key of the same kind as the real one; random is hex.
	dummyKey(bearer bool, random string) string
	// serves reports whether a POST to path (as escaped on the wire, after the run's token) is a model call.
	serves(path string) bool
	// parse reads a request. A *refusal as error says that it must not go out; any other error that it is malformed.
	parse(path string, header http.Header, body []byte) (*request, error)
	// body is the request as it goes out: with at most maxOutput tokens of answer, and with the note of the last call.
	body(r *request, maxOutput int64, last bool) []byte
	// count is the request to the provider's own counter; nil where it has none.
	count(r *request) *countRequest
	// authorize replaces the engine's dummy key by the real one.
	authorize(h http.Header, q url.Values, key string, bearer bool)
	// reader follows the body of a 200 as it passes.
	reader(r *request, contentType string) answerReader
	// refusal is the answer that ends the engine at once, in the shape of the API.
	refusal(f refusal) (status int, header http.Header, body []byte)
}

// countRequest asks the provider how many tokens a prompt has.
type countRequest struct {
	path   string // below the upstream's base URL
	body   []byte
	answer string // the member of the answer that holds the tokens
}

// request is what the meter must know of one call before it goes out.
type request struct {
	path   string
	query  string
	raw    []byte
	model  string
	stream bool

	blocks    []block
	uncounted bool   // a part has no bound but the provider's counter (a PDF)
	asked     int64  // tokens of answer that the engine asked for; 0: it did not say
	thinking  bool   // a fixed share of the answer is thinking
	writes    ttl    // the dearest way in which the prompt may enter the cache
	num, den  int64  // surcharge on all rates
	counted   []span // the members that the provider's counter takes

	api any // the provider's own notes: where the body is edited
}

// ttl is how long a prompt stays in the provider's cache, which its price depends on.
type ttl int

const (
	noWrite ttl = iota
	write5m
	write1h
)

// block is a part of a prompt that returns unchanged in later requests.
type block struct {
	key    key
	bound  int64 // tokens at most: one per byte of its text, a fixed number per image
	hidden bool  // part of an answer that may stand for more than it shows: thinking
}

// answerReader follows one response.
type answerReader interface {
	// Write takes the next bytes of the body; it never fails.
	Write(p []byte) (int, error)
	// done is true once the API's own end of an answer was seen.
	done() bool
	// answer is asked once, when done is true or after the last byte. whole is false when the connection broke: an API
	// whose answers have no end of their own then knows nothing for certain.
	answer(whole bool) answer
}

// answer is what a response said.
type answer struct {
	usage   Usage
	final   bool    // the usage is final and agrees with what was seen
	turn    bool    // an answer of the model arrived
	model   string  // as the provider names it
	stop    string  // a fixed word of the provider
	cut     bool    // it stopped because it reached its max tokens
	blocks  []block // its parts as they return in later requests, where they are known
	cleared bool    // the provider left out parts of the prompt: its tokens say nothing about the next one
	fast    bool    // surcharges that the usage itself names
	us      bool
}

// refusal says why a call does not go out.
type refusal struct {
	ended  engine.Ended
	reason string // fixed words of ours
	status int    // 0: the provider's usual one for a refusal
	least  pico   // what the call needs at least, for Budget
	left   pico
}

func (f *refusal) Error() string { return f.reason }

func newProvider(name string) (provider, error) {
	hash := newHasher()
	switch name {
	case "anthropic":
		return anthropicAPI{hash}, nil
	case "openai":
		return openaiAPI{hash}, nil
	case "gemini":
		return geminiAPI{hash}, nil
	}
	return nil, fmt.Errorf("no meter for provider %q", name)
}
