package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/mcpfiles"
)

// fakeWord makes the test binary an engine that does what its arguments say, one after the other.
const fakeWord = "fake-engine"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case fakeWord:
			os.Exit(fakeEngine(os.Args[2:]))
		case Launcher:
			code, err := Launch(os.Stdin, os.Stdout, os.Stderr)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 97
			}
			os.Exit(code)
		case sealedWord:
			os.Exit(sealedRun(os.Args[2:]))
		case mcpfiles.Command:
			os.Exit(serveFiles(os.Args[2:]))
		}
		if !strings.HasPrefix(os.Args[1], "-") {
			fmt.Fprintln(os.Stderr, "the test binary was started with a word that it does not know")
			os.Exit(92) // never the tests again
		}
	}
	os.Exit(m.Run())
}

// fakeEngine knows: print=LINE, err=LINE, call, sleep=MS, forever, ignore (INT and TERM), onint=LINE (printed, then exit
// 0), child=group|session (prints its number), big=N (hands in an answer of N bytes), env, stdin, search=TEXT, exit=N,
// die (SIGKILL of itself), pid.
func fakeEngine(ops []string) int {
	for _, op := range ops {
		word, arg, _ := strings.Cut(op, "=")
		n, _ := strconv.Atoi(arg)
		switch word {
		case "print":
			fmt.Println(arg)
		case "err":
			fmt.Fprintln(os.Stderr, arg)
		case "call":
			res, err := http.Post(os.Getenv("FAKE_BASE_URL"), "application/json", strings.NewReader("{}"))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				continue
			}
			_ = res.Body.Close()
		case "sleep":
			time.Sleep(time.Duration(n) * time.Millisecond)
		case "forever":
			for {
				time.Sleep(time.Hour)
			}
		case "ignore":
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		case "onint":
			c := make(chan os.Signal, 1)
			signal.Notify(c, syscall.SIGINT)
			go func() {
				<-c
				fmt.Println(arg)
				os.Exit(0)
			}()
		case "child":
			cmd := exec.Command(os.Args[0], fakeWord, "ignore", "forever")
			cmd.Stdout = os.Stdout
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: arg == "session"}
			if err := cmd.Start(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				continue
			}
			fmt.Printf("{\"type\":\"child\",\"pid\":%d}\n", cmd.Process.Pid)
		case "big":
			fmt.Println(handIn(fmt.Sprintf(`{"verdict":"%s"}`, strings.Repeat("x", n))))
		case "env":
			emit(map[string]any{"type": "env", "env": os.Environ(), "args": os.Args})
		case "stdin":
			data, _ := io.ReadAll(os.Stdin)
			emit(map[string]any{"type": "stdin", "text": string(data)})
		case "pid":
			emit(map[string]any{"type": "pid", "pid": os.Getpid(), "uid": os.Getuid(), "gid": os.Getgid()})
		case "search":
			emit(map[string]any{"type": "search", "found": searchProc(arg)})
		case "exit":
			return n
		case "die":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		default:
			fmt.Fprintln(os.Stderr, "unknown", op)
			return 98
		}
	}
	return 0
}

func emit(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// searchProc reads all that this process may of every process but itself and the test, and returns where the text
// stands. The argument is the text in halves, so that no command line holds it, and the test's number.
func searchProc(arg string) []string {
	halves, test, _ := strings.Cut(arg, "@")
	text := strings.ReplaceAll(halves, "+", "")
	found := []string{}
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		if pid := filepath.Base(p); pid == strconv.Itoa(os.Getpid()) || pid == test {
			continue
		}
		for _, name := range []string{"environ", "cmdline", "auxv"} {
			if data, err := os.ReadFile(filepath.Join(p, name)); err == nil && strings.Contains(string(data), text) {
				found = append(found, filepath.Join(p, name))
			}
		}
		if searchMemory(p, text) {
			found = append(found, filepath.Join(p, "mem"))
		}
		fds, _ := filepath.Glob(filepath.Join(p, "fd", "*"))
		for _, fd := range fds {
			if info, err := os.Stat(fd); err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
				if data, err := os.ReadFile(fd); err == nil && strings.Contains(string(data), text) {
					found = append(found, fd)
				}
			}
		}
	}
	return found
}

func searchMemory(proc, text string) bool {
	maps, err := os.Open(filepath.Join(proc, "maps"))
	if err != nil {
		return false
	}
	defer func() { _ = maps.Close() }()
	mem, err := os.Open(filepath.Join(proc, "mem"))
	if err != nil {
		return false
	}
	defer func() { _ = mem.Close() }()
	for sc := bufio.NewScanner(maps); sc.Scan(); {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(sc.Text(), "%x-%x %s", &from, &to, &mode); err != nil || !strings.HasPrefix(mode, "rw") || to-from > 64<<20 {
			continue
		}
		buf := make([]byte, to-from)
		if n, _ := mem.ReadAt(buf, from); n > 0 && strings.Contains(string(buf[:n]), text) {
			return true
		}
	}
	return false
}

// fakeDriver starts the test binary instead of an engine, and reads its lines as Claude's.
type fakeDriver struct {
	claude.Driver
	ops []string
}

func (d fakeDriver) Command(s engine.Setup) (engine.Command, error) {
	return engine.Command{
		Path: s.CLI, Args: append([]string{fakeWord}, d.ops...), Dir: s.Checkout, Stdin: s.Prompt,
		Env: []string{
			"FAKE_BASE_URL=" + s.BaseURL, s.Credential.Name + "=" + s.Credential.Dummy,
			"GOCOVERDIR=" + s.Home, // else a test binary that counts coverage complains on stderr
		},
	}, nil
}

// fakeMeter answers each request by the next record of its script; the last one repeats.
type fakeMeter struct {
	*httptest.Server
	record func(engine.CallRecord)
	mu     sync.Mutex
	script []engine.CallRecord
	n      int
	hang   bool // Close never returns
}

func (m *fakeMeter) BaseURL() string { return m.URL }

func (m *fakeMeter) WorstNextCallUSD() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.script[:min(m.n, len(m.script))] {
		if c.Refused == engine.Budget {
			return c.ReservedUSD
		}
	}
	return 0
}

func (m *fakeMeter) Close() error {
	if m.hang {
		select {}
	}
	m.Server.Close()
	return nil
}

func (m *fakeMeter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := engine.CallRecord{Status: 200, Turn: true, CostUSD: 0.01, Basis: engine.BasisUsage}
	if len(m.script) > 0 {
		c = m.script[min(m.n, len(m.script)-1)]
	}
	m.n++
	c.N = m.n
	if m.record != nil {
		m.record(c)
	}
	w.WriteHeader(max(c.Status, 200))
}

func fakeMeterOf(script ...engine.CallRecord) StartMeter {
	return func(_ context.Context, o MeterOptions) (Meter, error) {
		m := &fakeMeter{record: o.Record, script: script}
		m.Server = httptest.NewServer(m)
		return m, nil
	}
}

// Lines of a Claude Code run.
const (
	initLine = `{"type":"system","subtype":"init","session_id":"0f0e","claude_code_version":"2.1.332"}`
	okAnswer = `{"verdict":"ok"}`
	schema   = `{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"],"additionalProperties":false}`
)

func handIn(input string) string {
	return `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"StructuredOutput","input":` + input + `}]},"parent_tool_use_id":null,"session_id":"0f0e"}`
}

func resultLine(subtype string, isError bool, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"type":"result","subtype":%q,"is_error":%t,"num_turns":2,"total_cost_usd":0.02,"session_id":"0f0e"%s}`, subtype, isError, more)
}

func success(answer string) string {
	return resultLine("success", false, `"structured_output":`+answer)
}

// options are those of a run of the fake engine in a folder of its own.
func options(t *testing.T, ops ...string) Options {
	t.Helper()
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.md")
	if err := os.WriteFile(rules, []byte("be brief"), 0o644); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Task: "triage", Issue: 12, Driver: fakeDriver{ops: ops}, CLI: exe,
		Limits:   Limits{Model: "claude-opus-5-5", MaxTurns: 40, MaxBudgetUSD: 1, TimeoutMinutes: 15},
		Checkout: dir, RulesFile: rules, Prompt: []byte("look at issue 12"), Schema: []byte(schema),
		ExecutionFile: filepath.Join(dir, "execution.jsonl"), Temp: dir,
		Key: claude.New().Credentials()[0], KeyValue: "sk-ant-api03-REALKEY",
		Path: os.Getenv("PATH"), Lang: "C.UTF-8", TrackingID: "github_4711",
		StartMeter: fakeMeterOf(), Now: time.Now, Say: t.Logf,
	}
}

// records reads an execution file: every line must be a JSON object.
func records(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all []map[string]any
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var rec map[string]any
		if err := json.Unmarshal(sc.Bytes(), &rec); err != nil {
			t.Fatalf("line %d of the execution file: %v: %.200q", len(all)+1, err, sc.Text())
		}
		all = append(all, rec)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// framed checks that a file opens with the run's record and closes with the end's, once each, and returns the latter.
func framed(t *testing.T, path string) map[string]any {
	t.Helper()
	all := records(t, path)
	count := map[any]int{}
	for _, r := range all {
		count[r["type"]]++
	}
	if len(all) < 2 || all[0]["type"] != engine.TypeRun || all[len(all)-1]["type"] != engine.TypeEnd || count[engine.TypeRun] != 1 || count[engine.TypeEnd] != 1 {
		t.Fatalf("the execution file is not framed by its two records: %v", count)
	}
	return all[len(all)-1]
}

func find(all []map[string]any, typ string) map[string]any {
	for _, r := range all {
		if r["type"] == typ {
			return r
		}
	}
	return nil
}

// gone reports whether a process has ended; a zombie counts as ended.
func gone(pid int) bool {
	for range 100 {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return true
		}
		if _, rest, ok := strings.Cut(string(data), ") "); ok && strings.HasPrefix(rest, "Z") {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
