package enginelog

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

var testWant = Want{"type": 64, "n": 64, "s": 8, "list": 1, "o": 1 << 10}

// events renders what a reader finds: the values of the wanted keys, one event per entry.
func events(src io.Reader) (found []string, cut, broken bool) {
	return eventsOf(NewReader(src, testWant))
}

// byByte reads with a source and a buffer that meet every boundary.
func byByte(data []byte) (found []string, cut, broken bool) {
	return eventsOf(newReader(iotest.OneByteReader(bytes.NewReader(data)), testWant, 2*maxKey))
}

func eventsOf(r *Reader) (found []string, cut, broken bool) {
	for {
		ev, ok := r.Next()
		if !ok {
			return found, r.Cut(), r.Broken()
		}
		var b strings.Builder
		for _, key := range []string{"type", "n", "s", "list", "o"} {
			if f := ev.Field(key); ev.Has(key) {
				fmt.Fprintf(&b, "%s=%s", key, f.Raw)
				if f.Cut {
					b.WriteString("…")
				}
				if f.Elems > 0 {
					fmt.Fprintf(&b, "(%d)", f.Elems)
				}
				b.WriteByte(' ')
			}
		}
		found = append(found, strings.TrimSpace(b.String()))
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
		cut        bool
		broken     bool
	}{
		{name: "empty"},
		{name: "blank", text: " \r\n\t\n"},
		{name: "array", text: `[{"n":1},{"n":2}]`, want: []string{"n=1", "n=2"}},
		{name: "lines", text: "{\"n\":1}\n{\"n\":2}\n", want: []string{"n=1", "n=2"}},
		{name: "lines with CR", text: "{\"n\":1}\r\n\r\n{\"n\":2}\r\n", want: []string{"n=1", "n=2"}},
		{name: "no last line break", text: "{\"n\":1}\n{\"n\":2}", want: []string{"n=1", "n=2"}},
		{name: "stream of printed objects", text: "{\n \"n\": 1\n}\n{\n \"n\": 2\n}\n", want: []string{"n=1", "n=2"}},
		{name: "objects on one line", text: `{"n":1}{"n":2} {"n":3}`, want: []string{"n=1", "n=2", "n=3"}},
		{name: "text between lines", text: "warn: x\n{\"n\":1}\n[INFO] y\n[1] {\"n\":9}\n{\"n\":2}\n", want: []string{"n=1", "n=2"}, broken: true},
		{name: "text after a value hides the line", text: "{\"n\":1} and {\"n\":9}\n{\"n\":2}\n", want: []string{"n=1", "n=2"}, broken: true},
		{name: "a prefix makes it text", text: "2026-01-01 {\"n\":9}\n{\"n\":2}\n", want: []string{"n=2"}, broken: true},
		{name: "cut line between lines", text: "{\"n\":1}\n{\"n\":7,\"s\":\"ab\n{\"n\":8,\"o\":\n{\"n\":2}\n", want: []string{"n=1", "n=2"}, broken: true},
		{name: "cut tail", text: "{\"n\":1}\n{\"n\":2,\"s\":\"a", want: []string{"n=1"}, cut: true},
		{name: "cut array", text: `[{"n":1},{"n":2`, want: []string{"n=1"}, cut: true},
		{name: "cut after an element", text: `[{"n":1}`, want: []string{"n=1"}, cut: true},
		{name: "nested objects are no events", text: `[{"n":1,"o":{"n":9},"list":[{"n":8},{"n":7}]}]`, want: []string{`n=1 list=[…(2) o={"n":9}(1)`}},
		{name: "nested arrays are no events", text: `[[{"n":9}],{"n":1}]`, want: []string{"n=1"}},
		{name: "events in strings", text: "{\"s\":\"\\\"}{\\\"n\\\":9}\"}\n{\"n\":1}", want: []string{`s="\"}{\"n…`, "n=1"}},
		{name: "backslashes", text: `[{"s":"\\"},{"s":"\\\""},{"n":1}]`, want: []string{`s="\\"`, `s="\\\""`, "n=1"}},
		{name: "last of equal keys", text: `{"n":9,"s":"a","n":1}`, want: []string{`n=1 s="a"`}},
		{name: "exact keys", text: `{"N":9,"n ":8,"\u006e":7,"n":1}`, want: []string{"n=1"}},
		{name: "words JSON lacks", text: `[{"n":NaN,"o":-Infinity},{"n":1e400}]`, want: []string{"n=NaN o=-Infinity", "n=1e400"}},
		{name: "comma at the end", text: `[{"n":1,},{"n":2},]`, want: []string{"n=1", "n=2"}},
		{name: "control characters", text: "[{\"s\":\"\x01\x1b[3\"}]", want: []string{"s=\"\x01\x1b[3\""}},
		{name: "cut string is cut", text: `{"s":"0123456789"}`, want: []string{`s="0123456…`}},
		{name: "elements", text: `[{"list":[]},{"list":[1,[2,3],{"a":[4]},"x"]}]`, want: []string{"list=[…", "list=[…(4)"}},
		{name: "a page", text: "<html>\n{\"n\":9}\n", broken: true},
		{name: "a report", text: "## Report\n```json\n{\"n\":9}\n```\n", broken: true},
		{name: "printed log lines", text: "[2025-11-30T15:40:27.000Z] [INFO] {\n[2025-11-30T15:40:27.000Z] [INFO]   \"n\": 1\n", broken: true},
		{name: "brace of a log line", text: "{starting up\n{\"n\":1}\n{\"n\":2}\n", want: []string{"n=1", "n=2"}, broken: true},
		{name: "wrong closing", text: "{\"n\":1}\n{\"o\":[}\n{\"n\":2]\n{\"n\":3}\n", want: []string{"n=1", "n=3"}, broken: true},
		{name: "broken element ends an array", text: "[{\"n\":1},\n{\"n\" 9},\n{\"n\":2}]", want: []string{"n=1"}, broken: true},
		{
			name: "broken element of a printed array", text: "[\n  {\n    \"n\": 1\n  },\n  {\n    \"n\" 9\n  },\n  {\n    \"n\": 2\n  }\n]",
			want: []string{"n=1", "n=2"}, broken: true,
		},
		{
			name: "unclosed element of a printed array", text: "[\n  {\n    \"o\": {\n      \"n\": 9\n  },\n  {\n    \"n\": 2\n  }\n]\n",
			want: []string{"n=2"}, broken: true,
		},
		{name: "array after array", text: "[{\"n\":1}]\n[{\"n\":2}]\n", want: []string{"n=1", "n=2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, cut, broken := events(strings.NewReader(tt.text))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if cut != tt.cut || broken != tt.broken {
				t.Errorf("cut %t, broken %t; want %t, %t", cut, broken, tt.cut, tt.broken)
			}
			if slow, _, _ := byByte([]byte(tt.text)); cmp.Diff(got, slow) != "" {
				t.Errorf("byte by byte: %q, want %q", slow, got)
			}
		})
	}
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"[", `{"o":`} {
		deep := strings.Repeat(open, 100_000)
		if got, _, _ := events(strings.NewReader(deep)); len(got) != 0 {
			t.Errorf("%d events in brackets that never close", len(got))
		}
		got, _, _ := events(strings.NewReader("{\"n\":1}\n" + deep + "\n{\"n\":2}\n"))
		if diff := cmp.Diff([]string{"n=1", "n=2"}, got); diff != "" {
			t.Errorf("around 100,000 brackets (-want +got):\n%s", diff)
		}
	}
	if got, _, _ := events(strings.NewReader("{\"n\":1}\n" + strings.Repeat("[", maxNesting+9))); len(got) != 1 {
		t.Errorf("%d events before the deepest nesting, want 1", len(got))
	}
}

func TestReadErrorIsTold(t *testing.T) {
	t.Parallel()
	r := NewReader(io.MultiReader(strings.NewReader("{\"n\":1}\n"), iotest.ErrReader(io.ErrClosedPipe)), testWant)
	if _, ok := r.Next(); !ok {
		t.Fatal("the event before the error is lost")
	}
	if _, ok := r.Next(); ok || r.Err() == nil {
		t.Errorf("error %v, want one", r.Err())
	}
	if r := NewReader(strings.NewReader(""), testWant); r.Err() != nil {
		t.Errorf("error %v before the first read", r.Err())
	}
}

func TestMemoryDoesNotGrow(t *testing.T) {
	t.Parallel()
	src := io.MultiReader(strings.NewReader(`{"s":"`), io.LimitReader(letters{}, 200<<20), strings.NewReader("\",\"n\":1}\n"))
	r := NewReader(src, testWant)
	ev, ok := r.Next()
	if !ok || string(ev.Field("n").Raw) != "1" || !ev.Field("s").Cut {
		t.Fatalf("event of 200 MiB: %t", ok)
	}
	if len(r.buf) != margin+bufferSize || cap(ev.Field("s").Raw) > 1<<10 {
		t.Errorf("buffer %d, field %d", len(r.buf), cap(ev.Field("s").Raw))
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"n":1}`: true, " {\"n\":1}\r\n": true, "{\n\"n\":1}": true,
		``: false, `[{"n":1}]`: false, `{"n":1}{"n":2}`: false, `{"n":1} x`: false, `{"n":1`: false, `x{"n":1}`: false,
	} {
		ev, ok := Parse([]byte(text), testWant)
		if ok != want {
			t.Errorf("Parse(%q) = %t", text, ok)
		}
		if ok && string(ev.Field("n").Raw) != "1" {
			t.Errorf("Parse(%q): n is %q", text, ev.Field("n").Raw)
		}
	}
}

func FuzzReader(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, cut, broken := eventsOf(newReader(bytes.NewReader(data), testWant, len(data)+1))
		slow, slowCut, slowBroken := byByte(data)
		if diff := cmp.Diff(whole, slow); diff != "" || cut != slowCut || broken != slowBroken {
			t.Errorf("in one and byte by byte differ:\n%s", diff)
		}
	})
}

// seed adds the cases that are small.
func seed(f *testing.F) {
	f.Helper()
	for _, dir := range []string{"exec", "engine-logs"} {
		paths, err := filepath.Glob(filepath.Join(testtool.Root(f), "testdata", "cases", dir, "*"))
		if err != nil || len(paths) == 0 {
			f.Fatalf("no cases in %s: %v", dir, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 4<<10 {
				f.Add(data)
			}
		}
	}
}
