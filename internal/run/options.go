// Package run starts one engine's command line behind the meter, holds it in its limits and ends it.
//
// What must always hold: the engine never has the real key, nothing of its process group is left behind, and the
// execution file opens with a RunRecord and closes with an EndRecord, whatever ended the run.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// MaxAnswer is the longest answer in bytes that is handed on: it travels as an output of the job.
const MaxAnswer = 100_000

// maxPrompt bounds the task's text in bytes.
const maxPrompt = 1 << 20

// Limits is what the run may use. Every value was checked by the caller.
type Limits struct {
	Model          string
	Effort         string // empty: the engine's default
	MaxTurns       int
	MaxBudgetUSD   float64
	TimeoutMinutes int
}

// Options is one run.
type Options struct {
	Task   string // its name, for the record
	Issue  int    // 0: none
	Driver engine.Driver
	CLI    string // the engine's program
	Limits Limits

	Checkout  string // the repository that is read
	Material  string // the folder of the material
	RulesFile string
	Prompt    []byte
	Schema    []byte // of the answer, without lengths; nil: any JSON is an answer

	ExecutionFile string
	Temp          string // a folder of the job, for the engine's home

	Key      engine.CredentialVar // which kind of key
	KeyValue string
	Upstream string   // base URL of the provider; empty: the driver's own
	Secrets  []string // further values that no answer may hold

	Path       string // PATH of the engine
	Lang       string // LANG of the engine
	TrackingID string // RUNNER_TRACKING_ID: by it the runner finds what a job left behind

	Isolation Isolation // under which user the engine runs

	// Session is the decision on the conversation, for the execution file; nil: sessions are off.
	Session *engine.SessionRecord
	// Retry decides how the run goes on after a fault that passes; nil: it does not, and no conversation is kept.
	Retry func(Attempt) session.Decision
	// Delta is the prompt of a conversation that goes on; empty: none does.
	Delta []byte

	StartMeter StartMeter
	Progress   io.Writer // one line per turn, numbers only; nil: none
	Say        func(format string, args ...any)
	Now        func() time.Time

	timing timing // zero: the real ones
}

// Meter is what a run needs of the proxy between engine and provider.
type Meter interface {
	// BaseURL is where the engine sends its requests.
	BaseURL() string
	// WorstNextCallUSD is what the call that was refused for its cost could have cost, 0 if none was. It holds after Close.
	WorstNextCallUSD() float64
	// Close ends all calls and returns when each of them was recorded.
	Close() error
}

// MeterOptions is what a run tells the meter.
type MeterOptions struct {
	Provider  string
	Upstream  string
	Key       string
	Bearer    bool
	ListPrice bool
	Model     string
	BudgetUSD float64
	MaxTurns  int
	// Held takes what is kept back for a call before the call goes out, Record every call when it is over; from any
	// goroutine.
	Held   func(engine.HeldRecord)
	Record func(engine.CallRecord)
}

// StartMeter starts a meter. An error means that the run may not start: an unknown model or price.
type StartMeter func(context.Context, MeterOptions) (Meter, error)

// Result is how a run ended.
type Result struct {
	Ended         engine.Ended
	Status        int    // HTTP status of the provider, for provider_error
	Answer        string // compact JSON that fits the schema; empty unless finished
	SessionID     string // empty unless it has the form of an id
	ExecutionFile string
	Turns         int
	Calls         int
	CostUSD       float64
	WorstNextUSD  float64 // what the refused call could have cost
	Reason        string  // for people, when not finished: may hold foreign text, print it escaped
	Protection    string  // which protection of the key was in force
	LogCut        bool    // lines of the engine are missing in the execution file: the disk was full
	Conversation  Conversation
}

// timing holds the waits of the supervisor. Tests shorten them.
type timing struct {
	minute time.Duration // of TimeoutMinutes
	term   time.Duration // from INT to TERM
	kill   time.Duration // from INT to KILL
	drain  time.Duration // for the rest of the output once the engine is gone
	settle time.Duration // for the meter's last records
	refuse time.Duration // for the engine to end by itself after a refused call
	pause  time.Duration // before the run goes on after a fault that passes
}

// realTiming fits into what GitHub's runner allows: 7.5 s after INT.
func realTiming() timing {
	return timing{
		minute: time.Minute,
		term:   3 * time.Second,
		kill:   5 * time.Second,
		drain:  500 * time.Millisecond,
		settle: 800 * time.Millisecond,
		refuse: 20 * time.Second,
		pause:  15 * time.Second,
	}
}

// normalize fills what may be left out and makes paths absolute.
func (o *Options) normalize() error {
	if o.Driver == nil || o.Now == nil {
		return errors.New("a run needs an engine and a clock")
	}
	if o.ExecutionFile == "" {
		return errors.New("a run needs an execution file")
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.timing == (timing{}) {
		o.timing = realTiming()
	}
	for _, p := range []*string{&o.CLI, &o.Checkout, &o.Material, &o.RulesFile, &o.ExecutionFile, &o.Temp} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("find %s: %w", *p, err)
		}
		*p = abs
	}
	return nil
}

func (o *Options) runRecord(version string) engine.RunRecord {
	return engine.RunRecord{
		Type:           engine.TypeRun,
		Schema:         engine.RecordSchema,
		Task:           o.Task,
		Issue:          o.Issue,
		Engine:         o.Driver.Name(),
		EngineVersion:  version,
		Model:          o.Limits.Model,
		Effort:         o.Limits.Effort,
		MaxTurns:       o.Limits.MaxTurns,
		MaxBudgetUSD:   o.Limits.MaxBudgetUSD,
		TimeoutMinutes: o.Limits.TimeoutMinutes,
		ListPrice:      o.Key.ListPrice,
		Started:        o.Now().UTC(),
	}
}
