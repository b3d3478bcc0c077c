package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// disk is a file on a disk of a fixed size.
type disk struct {
	data   []byte
	size   int64
	closed bool
}

var errFull = errors.New("no space left on device")

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	room := int(d.size - off)
	n := min(len(p), max(room, 0))
	if end := int(off) + n; end > len(d.data) {
		d.data = append(d.data, make([]byte, end-len(d.data))...)
	}
	copy(d.data[off:], p[:n])
	if n < len(p) {
		return n, errFull // half a line was written
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error { d.data = d.data[:size]; return nil }
func (d *disk) Close() error              { d.closed = true; return nil }

func (d *disk) reserve(from, length int64) error {
	if from+length > d.size {
		return errFull
	}
	return nil
}

func wholeLines(t *testing.T, data []byte) []map[string]any {
	t.Helper()
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.Fatalf("the file ends inside a line: %.100q", data[max(0, len(data)-100):])
	}
	var all []map[string]any
	for line := range bytes.Lines(data) {
		var rec map[string]any
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("%v: %.100q", err, line)
		}
		all = append(all, rec)
	}
	return all
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, reserves := range []bool{true, false} {
		d := &disk{size: roomForRecords + 1<<20}
		j := &journal{file: d}
		if reserves {
			j.reserve = d.reserve
		}
		j.record(engine.RunRecord{Type: engine.TypeRun})
		line := []byte(`{"type":"user","text":"` + strings.Repeat("x", 10_000) + `"}`)
		for range 200 {
			j.engineLine(line)
		}
		for n := range 200 {
			j.record(engine.CallRecord{Type: engine.TypeCall, N: n, Model: strings.Repeat("m", 200), StopReason: "tool_use"})
		}
		err := j.close(engine.EndRecord{Type: engine.TypeEnd, Ended: engine.Finished})
		all := wholeLines(t, d.data)
		if !j.cut || !d.closed {
			t.Errorf("cut %t, closed %t", j.cut, d.closed)
		}
		if !reserves {
			if err == nil {
				t.Error("records that found no room were not reported")
			}
			continue
		}
		if err != nil || len(all) < 250 || all[len(all)-1]["type"] != engine.TypeEnd {
			t.Errorf("%v; %d lines, the last is %v", err, len(all), all[len(all)-1]["type"])
		}
		j.engineLine(line)
		j.record(engine.RunRecord{})
		if n := len(wholeLines(t, d.data)); n != len(all) {
			t.Errorf("%d lines after the end", n-len(all))
		}
	}
}

func FuzzEngineLine(f *testing.F) {
	for _, seed := range []string{
		`{"type":"user"}`, `{"type":"issue_assistant.end"}`, `{"Type":"issue_assistant.call","type":1}`, `{"type":"x","type":"issue_\u0061ssistant.run"}`,
		`{`, `[]`, "\xff", `{"a":1} {"b":2}`, `  {"type":"ISSUE_ASSISTANT.RUN"}`, `{"type":{"type":"issue_assistant.run"}}`, "{\"type\":\"x\"\r}", "{\"a\":\n1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 {
			line = bytes.ReplaceAll(line, []byte("\n"), nil) // a line never holds one
		}
		d := &disk{size: 1 << 30}
		j := &journal{file: d}
		j.engineLine(line)
		all := wholeLines(t, d.data)
		if len(all) != 1 || !isObject(bytes.TrimSuffix(d.data, []byte("\n"))) {
			t.Fatalf("%q became %q", line, d.data)
		}
		for _, key := range []string{engine.TypeRun, engine.TypeCall, engine.TypeEnd} {
			if all[0]["type"] == key {
				t.Fatalf("%q passes for a record of ours", line)
			}
		}
	})
}

func TestReadLine(t *testing.T) {
	t.Parallel()
	var got []string
	long := 0
	lines(strings.NewReader("a\r\n\n"+strings.Repeat("b", maxLine+10)+"\nlast"), func(line []byte, whole bool) {
		if !whole {
			long++
			return
		}
		got = append(got, string(line))
	})
	if strings.Join(got, "|") != "a||last" || long != 1 {
		t.Errorf("%d lines, %d long ones: %.80q", len(got), long, got)
	}
	lines(io.MultiReader(strings.NewReader("x\n"), failing{}), func([]byte, bool) {})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errFull }
