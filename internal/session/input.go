package session

import "time"

// RecordVersion is the version of Record that this release reads and writes.
const RecordVersion = 1

// Record is what is kept of a conversation: numbers, hashes and fixed words, in the hidden marker of a comment.
type Record struct {
	Schema          int                 `json:"schema"`
	Author          string              `json:"author"`
	AuthorIsTrusted bool                `json:"author_is_trusted"` // the marker's author is our app or bot id
	Key             string              `json:"key"`               // task/owner/repo#number
	Engine          string              `json:"engine"`
	EngineVersion   string              `json:"engine_version"`
	Model           string              `json:"model"`
	Effort          *string             `json:"effort"` // "" is the engine's default; nil is unknown
	RulesHash       string              `json:"rules_hash"`
	ConfigHash      string              `json:"config_hash"`
	ToolsHash       string              `json:"tools_hash"`
	Permission      Permission          `json:"permission"`
	Workspace       string              `json:"workspace"`
	RepositoryID    int64               `json:"repository_id"`
	Head            string              `json:"head"`
	BodyHash        string              `json:"body_hash"`
	Ended           string              `json:"ended"`
	Runs            int                 `json:"runs"`
	ContextTokens   int64               `json:"context_tokens"` // input, cache read and cache creation of the last call
	CostUSD         float64             `json:"cost_usd"`
	Created         time.Time           `json:"created"`
	LastUsed        time.Time           `json:"last_used"`
	Warm            map[Bucket]Observed `json:"warm,omitempty"`
}

// Permission is what a run may do on GitHub.
type Permission string

// The permission classes.
const (
	PermissionRead    Permission = "read"
	PermissionComment Permission = "comment"
	PermissionWrite   Permission = "write"
)

// Current is what the run about to start looks like.
type Current struct {
	Engine              string `json:"engine"`
	EngineVersion       string `json:"engine_version"`
	Model               string `json:"model"`
	Effort              string `json:"effort"`
	RulesHash           string `json:"rules_hash"`
	ConfigHash          string `json:"config_hash"`
	ToolsHash           string `json:"tools_hash"`
	Workspace           string `json:"workspace"`
	RepositoryID        int64  `json:"repository_id"`
	Head                string `json:"head"`
	SavedHeadIsAncestor bool   `json:"saved_head_is_ancestor"`
	ContextWindow       int64  `json:"context_window,omitempty"` // tokens; 0: not known
}

// Material says whether what the conversation has read is still what stands on GitHub.
type Material struct {
	BodyHash                string `json:"body_hash"`
	IngestedCommentsChanged bool   `json:"ingested_comments_changed"`
}

// Profile is what runs of a task usually need: tokens and turns.
type Profile struct {
	FreshTokens  int64 `json:"fresh_tokens"`
	NewTokens    int64 `json:"new_tokens"`
	ResumedTurns int64 `json:"resumed_turns"`
	FreshTurns   int64 `json:"fresh_turns"`
	GrowthTokens int64 `json:"growth_tokens"` // added to the context per turn
	OutputTokens int64 `json:"output_tokens"` // written per turn
}

// Limits end a conversation: reaching one is enough.
type Limits struct {
	Runs          int     `json:"runs"`
	ContextTokens int64   `json:"context_tokens"`
	AgeHours      float64 `json:"age_hours"`
	CostUSD       float64 `json:"cost_usd"`
}

// DefaultLimits are the limits of every task.
func DefaultLimits() Limits {
	return Limits{Runs: 20, ContextTokens: 100_000, AgeHours: 72, CostUSD: 5}
}

// Input is everything that Decide looks at.
type Input struct {
	Mode            Mode       `json:"mode"`
	ForceFresh      bool       `json:"force_fresh"`
	Now             time.Time  `json:"now"`
	CacheTTLSeconds int64      `json:"cache_ttl_seconds"`
	Wake            Wake       `json:"wake"`
	Task            string     `json:"task"`
	Key             *string    `json:"key"`
	Permission      Permission `json:"permission"`
	Current         Current    `json:"current"`
	Material        Material   `json:"material"`
	Saved           *Record    `json:"saved"`
	Store           Store      `json:"store"`
	Profile         Profile    `json:"profile"`
	Limits          Limits     `json:"limits"`
}

// MergeForced keeps a forced fresh start when queued wakes are merged into one run: once asked for, it stays.
func MergeForced(queued ...bool) bool {
	for _, forced := range queued {
		if forced {
			return true
		}
	}
	return false
}
