package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// retryDriver is a fake engine with other operations at each start, which leaves a transcript at its first one.
type retryDriver struct {
	claude.Driver
	ops    [][]string
	leaves map[string][]byte // files below the home
	mu     *sync.Mutex
	starts *[]engine.Setup
}

func (d retryDriver) Command(s engine.Setup) (engine.Command, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(*d.starts)
	*d.starts = append(*d.starts, s)
	c, err := fakeDriver{ops: d.ops[min(n, len(d.ops)-1)]}.Command(s)
	if n == 0 {
		c.Files = d.leaves
	}
	return c, err
}

var transcript = map[string][]byte{".claude/projects/-w/0f0e.jsonl": []byte("{}\n")}

// retryOptions are a run of the fake engine that may go on after a fault. decided gets what Retry was asked.
func retryOptions(t *testing.T, calls []engine.CallRecord, ops ...[]string) (o Options, starts *[]engine.Setup, asked *[]Attempt) {
	t.Helper()
	starts, asked = &[]engine.Setup{}, &[]Attempt{}
	o = options(t)
	o.Driver = retryDriver{ops: ops, leaves: transcript, mu: &sync.Mutex{}, starts: starts}
	o.StartMeter = fakeMeterOf(calls...)
	o.Delta = []byte("go on")
	o.Session = &engine.SessionRecord{Decision: "fresh", Reasons: "transcript_missing"}
	o.timing = short()
	o.Retry = func(a Attempt) session.Decision {
		*asked = append(*asked, a)
		if !a.Kept {
			return session.Decision{Reasons: []session.Reason{session.TranscriptMissing}, Prompt: session.PromptFullCheckpoint}
		}
		return session.Decision{Prompt: session.PromptDelta}
	}
	return o, starts, asked
}

var (
	retryTurn = engine.CallRecord{Status: 200, Turn: true, CostUSD: 0.1, Input: 10, CachedInput: 800, CacheWrite5m: 190, Output: 50}
	retryFail = engine.CallRecord{Status: 529, Basis: engine.BasisFree}
	broken    = resultLine("success", true, `"api_error_status":529,"terminal_reason":"api_error"`)
)

// TestRetry holds every way in which a run is broken off to what it may be followed by.
func TestRetry(t *testing.T) {
	t.Parallel()
	good := []string{"print=" + initLine, "call", "print=" + success(okAnswer)}
	overloaded := []string{"print=" + initLine, "call", "call", "print=" + broken, "exit=1"}
	unknown := []string{"print=" + strings.Replace(resultLine("error_during_execution", true, `"duration_ms":0`), `"num_turns":2,"total_cost_usd":0.02`, `"num_turns":0,"total_cost_usd":0`, 1), "exit=1"}
	foreign := []string{"print=" + strings.Replace(initLine, "0f0e", "f0f0", 1), "call", "forever"}
	for _, test := range []struct {
		name    string
		calls   []engine.CallRecord
		ops     [][]string
		change  func(*Options)
		want    engine.Ended
		prompts []string // one per start
		resumes []string
		session []string // the records of the session in the file
	}{
		{
			name: "overloaded, then goes on", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, good},
			want: engine.Finished, prompts: []string{"full", "go on"}, resumes: []string{"", "0f0e"}, session: []string{"fresh transcript_missing", "resumed"},
		},
		{
			name: "lost, then goes on", calls: []engine.CallRecord{retryTurn}, ops: [][]string{{"print=" + initLine, "call", "die"}, good},
			want: engine.Finished, prompts: []string{"full", "go on"}, resumes: []string{"", "0f0e"}, session: []string{"fresh transcript_missing", "resumed"},
		},
		{
			name: "unknown session: fresh once, whole prompt", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, unknown, good},
			want: engine.Finished, prompts: []string{"full", "go on", "full"}, resumes: []string{"", "0f0e", ""}, session: []string{"fresh transcript_missing", "resumed", "fresh resume_failed"},
		},
		{
			name: "another session than asked: ended and fresh", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, foreign, good},
			want: engine.Finished, prompts: []string{"full", "go on", "full"}, resumes: []string{"", "0f0e", ""}, session: []string{"fresh transcript_missing", "resumed", "fresh resume_failed"},
		},
		{
			name: "unknown session twice: one fallback", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, unknown, unknown},
			want: engine.Unfinished, prompts: []string{"full", "go on", "full"}, resumes: []string{"", "0f0e", ""}, session: []string{"fresh transcript_missing", "resumed", "fresh resume_failed"},
		},
		{
			name: "broken off again after it went on: the end", calls: []engine.CallRecord{retryTurn, retryFail}, ops: [][]string{overloaded},
			want: engine.ProviderError, prompts: []string{"full", "go on"}, resumes: []string{"", "0f0e"}, session: []string{"fresh transcript_missing", "resumed"},
		},
		{
			name: "no transcript: fresh", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, good},
			change: func(o *Options) { d := o.Driver.(retryDriver); d.leaves = nil; o.Driver = d }, //nolint:forcetypeassert // made above
			want:   engine.Finished, prompts: []string{"full", "full"}, resumes: []string{"", ""}, session: []string{"fresh transcript_missing", "fresh transcript_missing"},
		},
		{
			name: "empty transcript: fresh", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, good},
			change: func(o *Options) {
				d := o.Driver.(retryDriver) //nolint:forcetypeassert // made above
				d.leaves = map[string][]byte{".claude/projects/-w/0f0e.jsonl": nil}
				o.Driver = d
			},
			want: engine.Finished, prompts: []string{"full", "full"}, resumes: []string{"", ""}, session: []string{"fresh transcript_missing", "fresh transcript_missing"},
		},
		{
			name: "two transcripts of one id: fresh", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, good},
			change: func(o *Options) {
				d := o.Driver.(retryDriver) //nolint:forcetypeassert // made above
				d.leaves = map[string][]byte{".claude/projects/-w/0f0e.jsonl": []byte("{}"), ".claude/projects/-v/0f0e.jsonl": []byte("{}")}
				o.Driver = d
			},
			want: engine.Finished, prompts: []string{"full", "full"}, resumes: []string{"", ""}, session: []string{"fresh transcript_missing", "fresh transcript_missing"},
		},
		{
			name: "no delta prompt: fresh", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, good},
			change: func(o *Options) { o.Delta = nil },
			want:   engine.Finished, prompts: []string{"full", "full"}, resumes: []string{"", ""}, session: []string{"fresh transcript_missing", "fresh transcript_missing"},
		},
		{
			name: "a decision that is wrong", calls: []engine.CallRecord{retryTurn, retryFail, retryTurn}, ops: [][]string{overloaded, good},
			change: func(o *Options) {
				o.Delta = nil
				o.Retry = func(Attempt) session.Decision { return session.Decision{Prompt: session.PromptDelta} }
			},
			want: engine.Finished, prompts: []string{"full", "full"}, resumes: []string{"", ""}, session: []string{"fresh transcript_missing", "fresh transcript_missing"},
		},
		{
			name: "off: no second start", calls: []engine.CallRecord{retryTurn, retryFail}, ops: [][]string{overloaded, good},
			change: func(o *Options) { o.Retry, o.Session = nil, nil },
			want:   engine.ProviderError, prompts: []string{"full"}, resumes: []string{""},
		},
		{
			name: "an answer is not thrown away", calls: []engine.CallRecord{retryTurn, retryFail}, ops: [][]string{{"print=" + initLine, "call", "print=" + handIn(okAnswer), "call", "print=" + broken}, good},
			want: engine.Finished, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
		{
			name: "rate limited: nothing passes in seconds", calls: []engine.CallRecord{retryTurn, {Status: 429}}, ops: [][]string{{"print=" + initLine, "call", "call", "print=" + resultLine("success", true, `"api_error_status":429,"terminal_reason":"api_error"`)}, good},
			want: engine.RateLimited, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
		{
			name: "wrong key", calls: []engine.CallRecord{{Status: 401}}, ops: [][]string{{"print=" + initLine, "call", "print=" + resultLine("success", true, `"api_error_status":401`)}, good},
			want: engine.NotSignedIn, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
		{
			name: "prompt too long is no fault that passes", calls: []engine.CallRecord{{Status: 413}}, ops: [][]string{{"print=" + initLine, "call", "print=" + resultLine("success", true, `"api_error_status":413`)}, good},
			want: engine.ProviderError, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
		{
			name: "no turn is left", calls: []engine.CallRecord{retryTurn, retryFail}, ops: [][]string{overloaded, good},
			change: func(o *Options) { o.Limits.MaxTurns = 1 },
			want:   engine.ProviderError, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
		{
			name: "no dollar is left", calls: []engine.CallRecord{retryTurn, retryFail}, ops: [][]string{overloaded, good},
			change: func(o *Options) { o.Limits.MaxBudgetUSD = 0.1 },
			want:   engine.ProviderError, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
		{
			name: "stopped by the meter", calls: []engine.CallRecord{retryTurn, {Status: 402, Refused: engine.Budget}}, ops: [][]string{{"print=" + initLine, "call", "call", "die"}, good},
			want: engine.Budget, prompts: []string{"full"}, resumes: []string{""}, session: []string{"fresh transcript_missing"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, starts, _ := retryOptions(t, test.calls, test.ops...)
			o.Prompt = []byte("full")
			if test.change != nil {
				test.change(&o)
			}
			res, err := Run(t.Context(), o)
			if err != nil || res.Ended != test.want || (res.Answer != "") != (test.want == engine.Finished) {
				t.Errorf("ended %s, answer %q (%v, %s), want %s", res.Ended, res.Answer, err, res.Reason, test.want)
			}
			var prompts, resumes []string
			for _, s := range *starts {
				prompts, resumes = append(prompts, string(s.Prompt)), append(resumes, s.Resume)
				if s.Resume == "" && string(s.Prompt) != "full" {
					t.Error("a fresh conversation got the delta prompt")
				}
			}
			if diff := cmp.Diff(test.prompts, prompts); diff != "" {
				t.Errorf("prompts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.resumes, resumes); diff != "" {
				t.Errorf("resumed (-want +got):\n%s", diff)
			}
			framed(t, o.ExecutionFile)
			var said []string
			for _, r := range records(t, o.ExecutionFile) {
				if r["type"] == engine.TypeSession {
					said = append(said, strings.TrimSpace(r["decision"].(string)+" "+r["reasons"].(string))) //nolint:forcetypeassert // a test
				}
			}
			if diff := cmp.Diff(test.session, said); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			left, err := filepath.Glob(filepath.Join(o.Temp, "issue-assistant-run-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("the engine's folder is still there: %v %v", left, err)
			}
		})
	}
}

// TestRetrySharesTheLimits: a second start is told what is left, and its conversation is measured.
func TestRetrySharesTheLimits(t *testing.T) {
	t.Parallel()
	second := retryTurn
	second.CachedInput, second.CacheWrite5m = 950, 50
	o, starts, asked := retryOptions(t, []engine.CallRecord{retryTurn, retryTurn, retryFail, second},
		[]string{"print=" + initLine, "call", "call", "call", "print=" + broken}, []string{"print=" + initLine, "call", "print=" + success(okAnswer)})
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Finished {
		t.Fatalf("%+v %v", res, err)
	}
	if s := (*starts)[1]; s.MaxTurns != 38 || s.MaxBudgetUSD > 0.8001 || s.MaxBudgetUSD < 0.7999 || !s.Keep {
		t.Errorf("the second start was told %d turns, $%v", s.MaxTurns, s.MaxBudgetUSD)
	}
	want := Attempt{Kept: true, Turns: 2, ContextTokens: 1000, CostUSD: 0.2, Rules: []byte("be brief")}
	if diff := cmp.Diff([]Attempt{want}, *asked); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Conversation{Runs: 2, ContextTokens: 1010, FirstTokens: 1000, OutputTokens: 150, ResumedFirst: 1010, ResumedCached: 950}, res.Conversation); diff != "" {
		t.Errorf("conversation (-want +got):\n%s", diff)
	}
	if res.Turns != 3 || res.Calls != 4 || res.CostUSD != 0.3 {
		t.Errorf("%d turns, %d calls, $%v", res.Turns, res.Calls, res.CostUSD)
	}
	if find(records(t, o.ExecutionFile), engine.TypeEnd)["turns"] != 3.0 {
		t.Error("the record counts one start only")
	}
}

// TestRetryGetsNoNewMinutes: the clock runs on, and a signal ends the wait.
func TestRetryGetsNoNewMinutes(t *testing.T) {
	t.Parallel()
	calls := []engine.CallRecord{retryTurn, retryFail, retryTurn}
	overloaded := []string{"print=" + initLine, "call", "call", "print=" + broken}
	o, starts, _ := retryOptions(t, calls, overloaded, []string{"print=" + initLine, "forever"})
	o.timing.minute = 100 * time.Millisecond
	res, err := Run(t.Context(), o)
	if err != nil || res.Ended != engine.Time || len(*starts) > 2 {
		t.Errorf("%+v after %d starts, %v", res, len(*starts), err)
	}
	o, starts, _ = retryOptions(t, calls, overloaded)
	o.timing.pause, o.timing.minute = time.Hour, 100*time.Millisecond
	if res, err = Run(t.Context(), o); err != nil || res.Ended != engine.Time || len(*starts) != 1 {
		t.Errorf("%+v after %d starts, %v", res, len(*starts), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o, starts, _ = retryOptions(t, calls, append(slices.Clone(overloaded), "exit=1"))
	o.timing.pause = time.Hour
	o.Say = func(string, ...any) {}
	o.Progress = writerFunc(func() { time.AfterFunc(300*time.Millisecond, cancel) })
	if res, err = Run(ctx, o); err != nil || res.Ended != engine.Interrupted || len(*starts) != 1 {
		t.Errorf("%+v after %d starts, %v", res, len(*starts), err)
	}
}

type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// TestTakeBack: what the engine left becomes the caller's; a second name of a file from elsewhere does not.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, outside := filepath.Join(dir, "home"), filepath.Join(dir, "outside")
	write(t, filepath.Join(home, ".claude", "a.jsonl"), "{}")
	write(t, outside, "mine")
	if err := os.Link(outside, filepath.Join(home, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(home, "c")); err != nil {
		t.Fatal(err)
	}
	me := user{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	if err := takeBack(home, me); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(home, "b")); !os.IsNotExist(err) {
		t.Error("a file with a second name is still in the home")
	}
	for _, name := range []string{outside, filepath.Join(home, ".claude", "a.jsonl"), filepath.Join(home, "c")} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
}

// TestRetryAsAnotherUser: the conversation is there for the second start, whoever the engine runs as.
func TestRetryAsAnotherUser(t *testing.T) {
	t.Parallel()
	testtool.NeedRoot(t)
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	for name, iso := range map[string]Isolation{
		"root": {Other: true},
		"sudo": {Other: true, EUID: 1000, EGID: 1000, Sudo: []string{env}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, exe := openFolder(t)
			o, starts, asked := retryOptions(t, []engine.CallRecord{retryTurn, retryFail, retryTurn},
				[]string{"pid", "print=" + initLine, "call", "call", "print=" + broken}, []string{"pid", "print=" + initLine, "call", "print=" + success(okAnswer)})
			o.Checkout, o.Temp, o.CLI, o.RulesFile = filepath.Join(dir, "checkout"), dir, exe, filepath.Join(dir, "rules.md")
			write(t, filepath.Join(o.Checkout, "README.md"), "x")
			write(t, o.RulesFile, "be brief")
			o.Isolation = iso
			o.Isolation.Self = exe
			var owner uint32
			retry := o.Retry
			o.Retry = func(a Attempt) session.Decision {
				info, err := os.Stat((*starts)[0].Home)
				if err != nil {
					t.Error(err)
				} else if st, ok := info.Sys().(*syscall.Stat_t); ok {
					owner = st.Uid
				}
				return retry(a)
			}
			res, err := Run(t.Context(), o)
			if err != nil || res.Ended != engine.Finished || len(*starts) != 2 || (*starts)[1].Resume != "0f0e" || !(*asked)[0].Kept {
				t.Fatalf("%+v %v, asked %+v", res, err, *asked)
			}
			if iso.EUID != 0 && owner != 1000 {
				t.Errorf("between the starts the home belongs to %d", owner)
			}
			if pid := find(records(t, o.ExecutionFile), "pid"); pid["uid"] != 65534.0 {
				t.Errorf("the engine ran as %v", pid["uid"])
			}
			if left, err := filepath.Glob(filepath.Join(dir, "issue-assistant-run-*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}
