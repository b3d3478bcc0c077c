package engine

import (
	"encoding/json"
)

// Driver is what a run needs to know of one engine: how its command line is told its rules, limits and tools, and how
// its event stream is read. One sub-package per engine holds one.
type Driver interface {
	// Name is the engine's name in settings.
	Name() Name
	// Provider is the meter's word for the API that the engine speaks: anthropic, openai or gemini.
	Provider() string
	// DefaultUpstream is the provider's own base URL.
	DefaultUpstream() string
	// UpstreamVar is the environment variable that names another base URL (a gateway, a stand-in).
	UpstreamVar() string
	// Credentials lists the environment variables that may hold the key, the preferred one first.
	Credentials() []CredentialVar
	// Refuses returns what to write when the environment asks for something that no run can bound, and "" otherwise.
	Refuses(getenv func(string) string) string
	// Binary is the program to start inside a folder that `npm ci` filled, for an operating system and architecture as Go
	// names them. It is an error when there is none for them.
	Binary(dir, goos, goarch string) (string, error)
	// Version is the version of the program at path, "" when it cannot be told without starting it.
	Version(path string) string
	// Command builds the argument list and the environment of one run.
	Command(Setup) (Command, error)
	// NewStream starts reading the event stream of one run.
	NewStream() Stream
}

// CredentialVar is one environment variable that may hold a key.
type CredentialVar struct {
	Name      string
	Bearer    bool   // the key travels as `Authorization: Bearer`, not in the provider's own header
	ListPrice bool   // a subscription: nothing is billed per token, dollars are list prices
	Dummy     string // what the engine gets in its place: of the same kind, worth nothing
}

// Setup is what a Command is built from. All paths are absolute.
type Setup struct {
	CLI          string // the engine's program
	Checkout     string // the repository that is read
	Material     string // the folder of issue.md and its kind
	Home         string // an empty folder, HOME of the engine
	Self         string // this program, for the tools that it offers to an engine by `mcp-files`
	RulesFile    string // the system prompt's addition
	Prompt       []byte // the task
	Schema       []byte // JSON schema of the answer; nil: no structured answer
	Model        string
	Effort       string // empty: the engine's default
	MaxTurns     int
	MaxBudgetUSD float64
	BaseURL      string        // of the meter
	Credential   CredentialVar // which kind of key the engine is made to believe in
	Keep         bool          // the conversation stays below Home, so that it may be resumed in this job
	Resume       string        // the conversation below Home that goes on; Prompt is what is new. Empty: a fresh one
}

// Resumer is a Driver that can go on with a conversation which an earlier process of the same job left below Home.
type Resumer interface {
	Driver
	// Transcript is the pattern, as filepath.Match knows it, of the file below Home that holds the conversation.
	Transcript(id string) string
}

// Command is one process to start: an argument list, never a shell.
type Command struct {
	Path  string
	Args  []string // without the program's name
	Env   []string // the engine's own variables; the run adds PATH, HOME, LANG, TMPDIR, RUNNER_TRACKING_ID
	Dir   string
	Stdin []byte
	// Files are written below Home before the start: settings that have no flag. Names are relative, with
	// slashes; one that ends in a slash is an empty folder.
	Files map[string][]byte
	// Reads names further files that the engine's user must be able to read.
	Reads []string
}

// Stream reads the events of one run, line by line.
type Stream interface {
	// Line takes one line of the engine's stdout that is a JSON object.
	Line(raw []byte)
	// Outcome is what the lines so far say.
	Outcome() Outcome
}

// Outcome is how a run ended by its event stream alone; the meter and the supervisor know more.
type Outcome struct {
	Closed      bool              // a closing event came
	Ended       Ended             // by the closing event; Unfinished without one
	Status      int               // HTTP status of the provider, 0 when unknown
	Answer      json.RawMessage   // the answer of a final success event
	Candidates  []json.RawMessage // answers that were handed in, oldest first, also when the run did not end well
	SessionID   string            // as the engine names it: foreign text
	Turns       int               // as the engine counts them, 0 when unknown
	CostUSD     float64           // as the engine counts it
	CostKnown   bool
	ToolsDenied int
}
