package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// maxLine bounds one line of the engine in bytes; a longer one is replaced by a note.
const maxLine = 32 << 20

// maxNoise bounds how many lines of the engine's stderr are kept.
const maxNoise = 500

// Run starts the engine behind the meter and returns when it has ended and the execution file is closed. A canceled
// context interrupts it. Result is valid also with an error, which means that the execution file or the machine failed.
func Run(ctx context.Context, o Options) (Result, error) {
	r, refused, err := open(o)
	if r == nil {
		return refused, err
	}
	r.log.record(r.runRecord(r.Driver.Version(r.CLI)))
	return r.finish(r.play(ctx))
}

// open checks the options and opens the execution file. Without a run, the result says why.
func open(o Options) (r *running, refused Result, err error) {
	if err := o.normalize(); err != nil {
		return nil, Result{Ended: engine.NotStarted, Reason: err.Error()}, nil
	}
	began := o.Now()
	log, err := openJournal(o.ExecutionFile)
	if err != nil {
		return nil, Result{Ended: engine.NotStarted, Reason: err.Error()}, err
	}
	return &running{
		Options: o, began: began, log: log, tally: newTally(o.Limits, o.Progress), stream: o.Driver.NewStream(),
	}, Result{}, nil
}

// running is one run while it lasts.
type running struct {
	Options
	began      time.Time
	log        *journal
	tally      *tally
	stream     engine.Stream
	check      *checker
	protection string
	noise      []byte  // the last line of the engine's stderr
	worst      float64 // what the refused call could have cost, in dollars
	conversation
}

// cause is what made the supervisor end the engine.
type cause string

const (
	causeNone    cause = ""        // it ended by itself
	causeSignal  cause = "signal"  // INT or TERM from outside
	causeTime    cause = "time"    // its minutes were over
	causeRefused cause = "refused" // it did not end after a refused call
	causeForeign cause = "foreign" // it did not go on with the conversation that was asked for
)

// verdict is how the run ended, before the answer was looked at.
type verdict struct {
	cause  cause
	exit   string // how the process ended
	refuse string // why nothing was started
	ended  engine.Ended
}

// notStarted is a verdict without a process.
func notStarted(ended engine.Ended, reason string) verdict {
	return verdict{ended: ended, refuse: reason}
}

// play does everything between the first record and the last one.
func (r *running) play(ctx context.Context) verdict {
	var err error
	if r.check, err = newChecker(r.Schema, append([]string{r.KeyValue}, r.Secrets...)); err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	if reason := r.refusal(); reason != "" {
		return notStarted(engine.NotStarted, reason)
	}
	if r.KeyValue == "" {
		return notStarted(engine.NotSignedIn, "no key: set the secret "+r.Driver.Credentials()[0].Name)
	}
	work, err := newWorkplace(r.Temp, r.RulesFile)
	if err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	defer func() {
		if err := work.remove(); err != nil {
			r.Say("the engine's home could not be removed: %s", err)
		}
	}()
	m, err := r.StartMeter(context.WithoutCancel(ctx), MeterOptions{
		Provider: r.Driver.Provider(), Upstream: r.upstream(), Key: r.KeyValue, Bearer: r.Key.Bearer,
		ListPrice: r.Key.ListPrice, Model: r.Limits.Model, BudgetUSD: r.Limits.MaxBudgetUSD, MaxTurns: r.Limits.MaxTurns,
		// What is kept back stands on the disk before the call goes out: whoever kills this process, the bill is bounded.
		Held: func(h engine.HeldRecord) {
			r.log.record(h)
			r.tally.hold(h)
		},
		Record: func(c engine.CallRecord) {
			c.Type = engine.TypeCall
			r.log.record(c)
			r.tally.add(c)
		},
	})
	if err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	defer r.closeMeter(m)
	return r.attempts(ctx, work, m.BaseURL())
}

// refusal is why the run may not start, "" when it may.
func (r *running) refusal() string {
	switch {
	case r.CLI == "":
		return "no engine program was given: `issue-assistant engine --install` installs it, --cli names one"
	case len(r.Prompt) == 0:
		return "the task is empty: the material folder holds no prompt.md"
	case len(r.Prompt) > maxPrompt:
		return fmt.Sprintf("the task has %d bytes, at most %d are allowed", len(r.Prompt), maxPrompt)
	}
	for _, f := range []string{r.CLI, r.RulesFile} {
		if info, err := os.Stat(f); err != nil || !info.Mode().IsRegular() {
			return "there is no file " + f
		}
	}
	if info, err := os.Stat(r.Checkout); err != nil || !info.IsDir() {
		return "there is no folder " + r.Checkout
	}
	return ""
}

func (r *running) upstream() string {
	if r.Upstream != "" {
		return r.Upstream
	}
	return r.Driver.DefaultUpstream()
}

// closeMeter waits for the last records, but not for ever: a call that hangs was booked at its reservation.
func (r *running) closeMeter(m Meter) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := m.Close(); err != nil {
			r.Say("the meter did not close: %s", err)
		}
	}()
	inTime := waitUntil(closed, r.timing.settle)
	r.worst = m.WorstNextCallUSD()
	if !inTime {
		r.Say("the meter did not close in time; its last call may be missing in the execution file")
	}
}

// supervise starts the engine and returns when nothing of it is left.
func (r *running) supervise(ctx context.Context, work workplace, baseURL string, a attempt) verdict {
	r.begin(a)
	turns, usd := r.left()
	cmd, err := r.Driver.Command(engine.Setup{
		CLI: r.CLI, Checkout: r.Checkout, Material: r.Material, Home: work.home, RulesFile: work.rules, Prompt: a.prompt,
		Schema: r.Schema, Model: r.Limits.Model, Effort: r.Limits.Effort, MaxTurns: turns, MaxBudgetUSD: usd,
		BaseURL: baseURL, Credential: r.Key, Self: r.Isolation.Self, Keep: r.Retry != nil, Resume: a.resume,
	})
	if err == nil {
		err = work.fill(cmd.Files)
	}
	if err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	mark, err := newMark()
	if err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	pipes, err := newPipes()
	if err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	defer pipes.close()
	p, err := r.start(ctx, cmd, work, mark, pipes)
	if err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	r.Say("%s", r.protection)
	pipes.closeWriters()
	read := make(chan struct{})
	go func() {
		defer close(read)
		r.readAll(pipes)
	}()
	v := verdict{cause: r.watch(ctx, p)}
	killMarked(mark)
	if !waitUntil(read, r.timing.drain) {
		pipes.expire()
		<-read
	}
	select {
	case <-p.done():
		v.exit = p.state()
	default:
		v.exit = "still there after KILL"
	}
	return v
}

// start starts the engine under the best protection there is, and under the same user when another one is refused.
func (r *running) start(ctx context.Context, cmd engine.Command, work workplace, mark string, p *pipes) (process, error) {
	paths := append([]string{r.Checkout, r.Material, work.rules, r.CLI}, cmd.Reads...)
	c := r.Isolation.choose(ctx, paths)
	s := spec{
		Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Stdin: cmd.Stdin, User: c.user, Locked: true,
		Env: append(r.baseEnv(work, mark), cmd.Env...),
	}
	r.protection = c.words
	if c.launcher {
		o := order{Spec: s, Home: work.home, Mark: mark}
		if r.Retry != nil {
			o.Back = &user{UID: uint32(r.Isolation.EUID), GID: uint32(r.Isolation.EGID)} //nolint:gosec // this process's own
		}
		return startLaunched(r.Isolation.Sudo, r.Isolation.Self, o, p.out, p.err)
	}
	if c.user != nil {
		err := giveHome(work.home, *c.user)
		if err == nil {
			var g *group
			if g, err = startGroup(s, p.out, p.err); err == nil {
				return g, nil
			}
		}
		fallback := r.Isolation
		fallback.Other = false
		r.protection = fallback.choose(ctx, nil).words
		r.Say("the engine could not be started as another user: %s", err)
		s.User = nil
	}
	return startGroup(s, p.out, p.err)
}

// baseEnv is the engine's environment, built from nothing.
func (r *running) baseEnv(work workplace, mark string) []string {
	env := []string{"HOME=" + work.home, "TMPDIR=" + work.home, mark}
	for name, value := range map[string]string{"PATH": r.Path, "LANG": r.Lang, "RUNNER_TRACKING_ID": r.TrackingID} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// workplace is the folder that the engine may call its own.
type workplace struct{ dir, home, rules string }

func newWorkplace(temp, rulesFile string) (workplace, error) {
	dir, err := os.MkdirTemp(temp, "issue-assistant-run-")
	if err != nil {
		return workplace{}, fmt.Errorf("make the engine's folder: %w", err)
	}
	w := workplace{dir: dir, home: filepath.Join(dir, "home"), rules: filepath.Join(dir, "rules.md")}
	rules, err := os.ReadFile(rulesFile)
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(w.home, 0o700), os.WriteFile(w.rules, rules, 0o644)) //nolint:gosec // a fresh folder
	}
	if err != nil {
		return workplace{}, errors.Join(fmt.Errorf("fill the engine's folder: %w", err), os.RemoveAll(dir))
	}
	return w, nil
}

func (w workplace) remove() error { return os.RemoveAll(w.dir) }
