package usage

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

const (
	logInit   = `{"type":"system","subtype":"init","model":"claude-opus-5-5","session_id":"s","tools":["Read"]}`
	logUser   = `{"type":"user","session_id":"s","message":{"content":"text with \"type\":\"result\" in it"}}`
	logResult = `{"session_id":"s","total_cost_usd":0.5,"num_turns":3,"subtype":"success","is_error":false,"type":"result","duration_ms":5000,"result":"x"}`
)

// indented prints an object as an element of an array printed with two spaces.
func indented(object string) string {
	return "  {\n    " + object[1:len(object)-1] + "\n  }"
}

func TestFastPathAnswers(t *testing.T) {
	t.Parallel()
	printed := "[\n" + indented(logInit) + ",\n" + indented(logUser) + ",\n" + indented(logResult) + "\n]"
	lines := logInit + "\n" + logUser + "\n" + logResult + "\n"
	for name, tt := range map[string]struct {
		text string
		fast bool
	}{
		"lines":                   {lines, true},
		"lines with CR":           {strings.ReplaceAll(lines, "\n", "\r\n"), true},
		"lines with a mark":       {"\xef\xbb\xbf" + lines, true},
		"printed":                 {printed, true},
		"printed with CR":         {strings.ReplaceAll(printed, "\n", "\r\n") + "\r\n", true},
		"compact array":           {"[" + logInit + "," + logResult + "]", false}, // a cut one could end like this
		"no init":                 {logUser + "\n" + logResult + "\n", false},
		"two results":             {logInit + "\n" + logResult + "\n" + logResult + "\n", false},
		"a result first":          {logResult + "\n" + logInit + "\n" + logResult + "\n", false},
		"spaces around the colon": {logInit + "\n{\"type\" : \t\"result\"}\n" + logResult + "\n", false},
		"nested result":           {logInit + "\n{\"type\":\"user\",\"x\":{\"type\":\"result\"}}\n" + logResult + "\n", false},
		"a text after the result": {lines + "done\n", false},
		"cut tail":                {lines + `{"type":"assist`, false},
		"a failure":               {logInit + "\n" + strings.Replace(logResult, "success", "error_max_turns", 1) + "\n", false},
		"ours":                    {"{\"type\":\"issue_assistant.run\"}\n" + lines, false},
		"nothing":                 {"", false},
		"UTF-16":                  {"\xff\xfe[\x00", false},
	} {
		run, ok := ends(strings.NewReader(tt.text), int64(len(tt.text)), Options{})
		if ok != tt.fast {
			t.Errorf("%s: fast %t, want %t", name, ok, tt.fast)
		}
		if ok {
			sameAsFull(t, []byte(tt.text), run)
		}
	}
	if _, ok := ends(strings.NewReader(lines), int64(len(lines)), Options{Engine: "codex"}); ok {
		t.Error("another engine's log is read as Claude's")
	}
}

// sameAsFull compares with the reader of whole files.
func sameAsFull(t *testing.T, data []byte, fast Run) {
	t.Helper()
	for name, open := range map[string]func(io.Reader, enginelog.Want) *enginelog.Reader{
		"full reader": enginelog.NewReader, "reader ahead": enginelog.NewReaderAhead,
	} {
		full, err := readAll(bytes.NewReader(data), open, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(full, fast); diff != "" {
			t.Errorf("%s and fast path differ on %q:\n%s", name, data, diff)
		}
	}
}

// TestFastPathOverChunks puts the one result of a stranger at every place around a border of chunks.
func TestFastPathOverChunks(t *testing.T) {
	t.Parallel()
	needle := `{"type"  :  "result"}` + "\n"
	for shift := range 64 {
		var b bytes.Buffer
		b.WriteString(logInit + "\n")
		pad := chunkSize - b.Len() - len(needle) + shift - 20
		fmt.Fprintf(&b, "{\"type\":\"user\",\"x\":%q}\n", strings.Repeat("y", pad))
		b.WriteString(needle)
		fmt.Fprintf(&b, "{\"type\":\"user\",\"x\":%q}\n", strings.Repeat("y", chunkSize))
		b.WriteString(logResult + "\n")
		if _, ok := ends(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{}); ok {
			t.Errorf("shift %d: an earlier result is overlooked", shift)
		}
	}
}

// TestSearchInHalves puts a result at every place around the middle of a file that is searched in two halves.
func TestSearchInHalves(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte{'y'}, 32<<20)
	if resultBefore(bytes.NewReader(data), int64(len(data))) {
		t.Error("a result where there is none")
	}
	needle := []byte(`{"type"  :  "result"}`)
	for at := len(data)/2 - 30; at <= len(data)/2+30; at += 3 {
		copy(data[at:], needle)
		if !resultBefore(bytes.NewReader(data), int64(len(data))) {
			t.Errorf("a result %d bytes from the middle is overlooked", at-len(data)/2)
		}
		copy(data[at:], bytes.Repeat([]byte{'y'}, len(needle)))
	}
}

// TestResultInFindsWhatAPatternFinds compares with a pattern on texts of pieces of what is looked for.
func TestResultInFindsWhatAPatternFinds(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`"type"[ \t\r\n]*:[ \t\r\n]*"result"`)
	pieces := []string{`"type"`, `"typ`, `e"`, `"t`, "y", "yyyyyyyy", ":", " ", "\n\t\r", `"result"`, `"resul`, `t"`, `"`, `\"type\":\"result\"`, "{", strings.Repeat("y", 3000), strings.Repeat(" ", 150)}
	found := 0
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var b bytes.Buffer
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		if rng.IntN(4) == 0 {
			b.WriteString(`"type":"result"}`)
		}
		if pattern.Match(b.Bytes()) {
			found++
			if !resultIn(b.Bytes()) {
				t.Fatalf("overlooked in %q", b.Bytes())
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d texts had one", found)
	}
}

// TestSearchInAFile is the same for a mapped file, at every border of two windows, and for one that shrinks while it is
// mapped.
func TestSearchInAFile(t *testing.T) {
	t.Parallel()
	const window = 2 << 20
	file, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	put := func(text []byte, at int64) {
		if _, err := file.WriteAt(text, at); err != nil {
			t.Fatal(err)
		}
	}
	const size = 3 * window
	put(bytes.Repeat([]byte{'x'}, size), 0)
	needle := []byte(`{"type"  :  "result"}`)
	n := int64(len(needle))
	for _, border := range []int64{window, 2*window - overlap, size - n - 30, 30} {
		for at := border - 30; at <= border+30; at += 3 {
			put(needle, at)
			if !resultBetween(file, 0, size) || !resultBetween(file, max(at-5, 0), size) {
				t.Errorf("a result at %d is overlooked", at)
			}
			if resultBetween(file, 0, at) || resultBetween(file, at+n, size) {
				t.Errorf("a result at %d is found where it is not", at)
			}
			put(bytes.Repeat([]byte{'x'}, len(needle)), at)
		}
	}
	if !resultBetween(file, 0, 5*window) { // the pages behind the end are there, but not their bytes
		t.Error("what is not there is said to hold no result")
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	broken := io.NewSectionReader(strings.NewReader("x"), 0, 1)
	if resultBefore(broken, 10) != true {
		t.Error("what cannot be read is said to hold no result")
	}
}

// FuzzEnds is the proof of the fast path: where it answers, the full reader says the same.
func FuzzEnds(f *testing.F) {
	f.Add([]byte(logInit+"\n"+logUser+"\n"), []byte(logResult+"\n"), false)
	f.Add([]byte("[\n"+indented(logInit)+",\n"), []byte(indented(logResult)+"\n]"), true)
	paths, err := filepath.Glob(filepath.Join(testtool.Root(f), "testdata", "cases", "engine-logs", "claude-*"))
	if err != nil || len(paths) == 0 {
		f.Fatal(err, len(paths))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte{}, false)
	}
	f.Fuzz(func(t *testing.T, before, after []byte, frame bool) {
		data := slicesConcat(before, after)
		if frame { // most inputs keep the ends that let the fast path answer
			data = slicesConcat([]byte("[\n"+indented(logInit)+",\n"), before, []byte(",\n"+indented(logResult)+"\n]"))
		} else if len(after) > 0 && after[0]%2 == 0 {
			data = slicesConcat([]byte(logInit+"\n"), before, after, []byte("\n"+logResult+"\n"))
		}
		if run, ok := ends(bytes.NewReader(data), int64(len(data)), Options{}); ok {
			sameAsFull(t, data, run)
		}
	})
}

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// FuzzRead: no file makes the line unsafe. One target per format starts from its own logs.
func FuzzReadClaude(f *testing.F) { fuzzRead(f, "claude-", "action-", "E", "V") }

// FuzzReadCodex is the same for Codex's logs.
func FuzzReadCodex(f *testing.F) { fuzzRead(f, "codex-") }

// FuzzReadGemini is the same for Gemini's logs.
func FuzzReadGemini(f *testing.F) { fuzzRead(f, "gemini-") }

// FuzzReadOurs is the same for our own execution files.
func FuzzReadOurs(f *testing.F) {
	f.Add([]byte(ownFile))
	fuzzRead(f)
}

func fuzzRead(f *testing.F, prefixes ...string) {
	f.Helper()
	for _, dir := range []string{"exec", "engine-logs"} {
		entries, err := os.ReadDir(filepath.Join(testtool.Root(f), "testdata", "cases", dir))
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			for _, prefix := range prefixes {
				if !strings.HasPrefix(e.Name(), prefix) {
					continue
				}
				data, err := os.ReadFile(filepath.Join(testtool.Root(f), "testdata", "cases", dir, e.Name()))
				if err != nil {
					f.Fatal(err)
				}
				if len(data) < 16<<10 {
					f.Add(data)
				}
			}
		}
	}
	price := prices(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := Read(bytes.NewReader(data), int64(len(data)), Options{Price: price, Model: "gpt-5.5"})
		if err != nil {
			t.Fatal(err)
		}
		checkLine(t, Line(run))
		if !run.Ended.Valid() || !knownBasis(run.CostBasis) {
			t.Errorf("ended %q, basis %q", run.Ended, run.CostBasis)
		}
		if run.CostUSD != nil && (*run.CostUSD < 0 || *run.CostUSD != *run.CostUSD) {
			t.Errorf("%v dollars", *run.CostUSD)
		}
		if _, err := NewRecord(run, Job{}).Encode(); err != nil {
			t.Error(err)
		}
	})
}
