package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// roomForRecords is kept free on the disk for the meter's records and the last line, in bytes: 200 calls of about 600.
const roomForRecords = 160 << 10

// ownPrefix is how the types of our own records begin; an engine's line with such a type is wrapped.
const ownPrefix = "issue_assistant"

// store is the file under a journal.
type store interface {
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

// journal writes the execution file: one line per write, so that a killed run leaves whole lines. Room for the records
// is reserved ahead: when the disk is full, lines of the engine are dropped and the records still fit.
type journal struct {
	mu      sync.Mutex
	file    store
	reserve func(from, length int64) error // nil: the file system cannot
	size    int64
	cut     bool // lines of the engine were dropped
	closed  bool
	err     error // the first error of a record
}

// openJournal starts the file anew, so that nobody takes an older run's file for this one.
func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|openNoFollow, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the execution file: %w", err)
	}
	j := &journal{file: f, reserve: func(from, length int64) error { return reserveSpace(f, from, length) }}
	if err := j.makeRoom(0); err != nil {
		return nil, errors.Join(fmt.Errorf("reserve room for the execution file: %w", err), f.Close())
	}
	return j, nil
}

// makeRoom reserves the records' room behind the next n bytes.
func (j *journal) makeRoom(n int) error {
	if j.reserve == nil {
		return nil
	}
	err := j.reserve(j.size, int64(n)+roomForRecords)
	if errors.Is(err, errors.ErrUnsupported) {
		j.reserve = nil
		return nil
	}
	return err
}

// engineLine writes one line of the engine: as it is when it is a JSON object of its own, else wrapped.
func (j *journal) engineLine(line []byte) {
	if !isObject(line) || claimsOwnType(line) {
		j.text(line)
		return
	}
	j.foreign(line)
}

// text writes a line of the engine that is no event, wrapped.
func (j *journal) text(line []byte) {
	wrapped, err := encode(engine.TextRecord{Type: engine.TypeText, Text: strings.ToValidUTF8(string(line), "\uFFFD")})
	if err != nil {
		return // a struct of two strings always encodes
	}
	j.foreign(wrapped)
}

// foreign writes what the engine said, as long as there is room.
func (j *journal) foreign(line []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cut || j.closed {
		return
	}
	if j.makeRoom(len(line)+1) != nil || j.write(line) != nil {
		j.cut = true
	}
}

// record writes one of our own records. Its error is kept for close.
func (j *journal) record(v any) {
	line, err := encode(v)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	if err == nil {
		err = j.write(line)
	}
	if err != nil && j.err == nil {
		j.err = fmt.Errorf("write the execution file: %w", err)
	}
}

// write appends a whole line or nothing.
func (j *journal) write(line []byte) error {
	buf := make([]byte, 0, len(line)+1)
	buf = append(append(buf, line...), '\n')
	if _, err := j.file.WriteAt(buf, j.size); err != nil {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(len(buf))
	return nil
}

// close writes the last record and ends the file. Later lines are dropped.
func (j *journal) close(end engine.EndRecord) error {
	j.record(end)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	return errors.Join(j.err, j.file.Truncate(j.size), j.file.Close())
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// isObject reports whether line is one JSON object.
func isObject(line []byte) bool {
	trimmed := bytes.TrimLeft(line, " \t")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(line)
}

// claimsOwnType reports whether a top-level key of the object reads as `type`, in any letter case, with one of our own
// values. A reader may take the first of two equal keys or the last, so any of them counts.
func claimsOwnType(line []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(line))
	if _, err := dec.Token(); err != nil {
		return true
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return true
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return true
		}
		if name, ok := key.(string); !ok || !strings.EqualFold(name, "type") {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) == nil && strings.HasPrefix(strings.ToLower(text), ownPrefix) {
			return true
		}
	}
	return false
}
