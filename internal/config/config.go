// Package config holds the settings of a repository: .issue-assistant/config.toml and labels.toml, their defaults and
// their checks.
//
// Every wrong value is a diagnostic with file, line and column that says what to write instead. The table in
// settings.go is the one source of the decoder, the JSON schema and the documentation.
package config

import "github.com/issue-assistant/issue-assistant/internal/engine"

// The files of a repository's set-up, as paths below its root.
const (
	Dir        = ".issue-assistant"
	Path       = Dir + "/config.toml"
	LabelsPath = Dir + "/labels.toml"
	RulesPath  = Dir + "/rules.md"
)

// Config is config.toml with its defaults filled in.
type Config struct {
	Engine    Engine
	Limits    Limits
	Post      Post
	Labels    Labels
	Links     Links
	Forms     Forms
	Lifecycle Lifecycle
	Sessions  Sessions
	Workflows Workflows
	Chunk     *Chunk           // nil: the table is not there
	Prices    map[string]Price // by model id; nil: the table is not there
}

// Engine is what a run may use, the same for every task.
type Engine struct {
	Name           engine.Name
	Model          string
	LightModel     string // empty: Model
	Effort         string // empty: the engine's default
	MaxTurns       int
	MaxBudgetUSD   float64
	TimeoutMinutes int
}

// Limits is what strangers and all runs together may use.
type Limits struct {
	RunsPerPersonPerDay int
	RunsPerDay          int
	MonthlyUSD          float64 // 0: no cap
}

// Post says where an answer goes.
type Post struct {
	Mode string // PostComment or PostSummary
}

// The values of [post] mode.
const (
	PostComment = "comment"
	PostSummary = "summary"
)

// Labels bounds the labels that an answer may set.
type Labels struct {
	Deny []string // see DenyLabel
}

// Links bounds the links that an answer may hold.
type Links struct {
	Hosts []string
}

// Forms says how issue forms are read.
type Forms struct {
	AreaField string // empty: no field chooses a label
}

// Lifecycle holds the periods and exemptions of the sweep. Periods are in days.
type Lifecycle struct {
	RemindDays       int
	CloseDays        int
	DuplicateDays    int
	ReopenDays       int
	CloseWithRelease bool
	CloseDuplicates  bool
	ExemptLabels     []string
}

// Sessions says what happens to saved conversations.
type Sessions struct {
	Mode string // SessionsOff or SessionsShadow
}

// The values of [sessions] mode.
const (
	SessionsOff    = "off"
	SessionsShadow = "shadow"
)

// Workflows holds what install bakes into the generated workflows.
type Workflows struct {
	RunsOn string
}

// Chunk switches the poll workflow on.
type Chunk struct {
	Work string // the workflow that the poll gate starts
}

// Price is what a model costs, in dollars per million tokens.
type Price struct {
	Input       float64
	Output      float64
	CachedInput float64 // Input when the settings do not say
}

// Default is the configuration of a repository without config.toml.
func Default() Config {
	return Config{
		Engine: Engine{
			Name:           engine.Claude,
			Model:          DefaultModel(engine.Claude),
			MaxTurns:       40,
			MaxBudgetUSD:   1.00,
			TimeoutMinutes: 15,
		},
		Limits:    Limits{RunsPerPersonPerDay: 5, RunsPerDay: 50, MonthlyUSD: 20.00},
		Post:      Post{Mode: PostComment},
		Labels:    Labels{Deny: []string{"~*", "*-approved"}},
		Links:     Links{Hosts: []string{}},
		Forms:     Forms{AreaField: "Area"},
		Lifecycle: defaultLifecycle(),
		Sessions:  Sessions{Mode: SessionsOff},
		Workflows: Workflows{RunsOn: "ubuntu-latest"},
	}
}

func defaultLifecycle() Lifecycle {
	return Lifecycle{
		RemindDays:       15,
		CloseDays:        30,
		DuplicateDays:    3,
		ReopenDays:       30,
		CloseWithRelease: true,
		ExemptLabels:     []string{"pinned", "security"},
	}
}

// DefaultModel is the model of an engine whose settings name none.
func DefaultModel(name engine.Name) string {
	switch name {
	case engine.Codex:
		return "gpt-5.5"
	case engine.Gemini:
		return "gemini-3.1-pro-preview"
	case engine.Claude:
	}
	return "claude-opus-5-5"
}
