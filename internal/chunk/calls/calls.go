// Package calls counts what a long-lived agent has used, call by call: from the transcripts of Claude Code and from
// execution files. It keeps numbers only.
package calls

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// Use is what logs say. Contexts are the tokens that each call of the main conversation read: input, cache read and cache
// creation together.
type Use struct {
	Logs     []chunk.Used
	contexts []int64
	last     *int64
	lastAt   time.Time
}

// Add joins two; of equal times the last context of o counts.
func (u *Use) Add(o Use) {
	u.Logs = append(u.Logs, o.Logs...)
	u.contexts = append(u.contexts, o.contexts...)
	if o.last != nil && !o.lastAt.Before(u.lastAt) {
		u.last, u.lastAt = o.last, o.lastAt
	}
}

// Last is the context of the last call, nil when no call was seen.
func (u *Use) Last() *int64 { return u.last }

// Median is the context in the middle, nil when no call was seen.
func (u *Use) Median() *int64 {
	if len(u.contexts) == 0 {
		return nil
	}
	slices.Sort(u.contexts)
	n := len(u.contexts)
	m := (u.contexts[(n-1)/2] + u.contexts[n/2]) / 2
	return &m
}

// The bounds of what is read.
const (
	maxFiles   = 20_000
	maxMessage = 8 << 20 // the text of one message; what is longer loses its numbers
)

// call is one answer of the model. It stands in several lines, one for each part, with the numbers growing.
type call struct {
	model      string
	tokens     enginelog.Tokens
	at         time.Time
	log        int // which file
	subsidiary bool
}

// scan gathers the calls of logs; the same answer in two files counts once, for a resumed session begins with a copy.
type scan struct {
	calls []call
	at    map[string]int
	since time.Time
}

func want() enginelog.Want {
	return enginelog.Want{
		"type": 64, "message": maxMessage, "timestamp": 64, "isSidechain": 16, "parent_tool_use_id": 64,
		"n": 64, "turn": 16, "input": 64, "cached_input": 64, "cache_write_5m": 64, "cache_write_1h": 64,
	}
}

func (s *scan) read(src io.Reader, log int) error {
	r := enginelog.NewReader(src, want())
	for {
		ev, ok := r.Next()
		if !ok {
			return r.Err()
		}
		switch ev.Word("type") {
		case "assistant":
			s.answer(ev, log)
		case engine.TypeCall: // of our own runs: each call once
			if turn, ok := ev.Field("turn").Bool(); ok && turn {
				s.calls = append(s.calls, call{log: log, tokens: enginelog.Tokens{
					Input: count(ev.Field("input")), Cached: count(ev.Field("cached_input")), CacheWrite: count(ev.Field("cache_write_5m")) + count(ev.Field("cache_write_1h")),
				}})
			}
		}
	}
}

func count(f enginelog.Field) int64 {
	if n := f.Count(enginelog.MaxTokens); n != nil {
		return *n
	}
	return 0
}

// answer reads one line of an answer: {"type":"assistant","message":{"id":…,"model":…,"usage":{…}},"timestamp":…}.
func (s *scan) answer(ev *enginelog.Event, log int) {
	m := ev.Field("message").Sub()
	u := m.Get("usage").Sub()
	written := u.Get("cache_creation").Sub()
	c := call{model: m.Get("model").Word(), log: log, tokens: enginelog.Tokens{
		Input: count(u.Get("input_tokens")), Cached: count(u.Get("cache_read_input_tokens")), CacheWrite: count(u.Get("cache_creation_input_tokens")),
		Write1h: count(written.Get("ephemeral_1h_input_tokens")), Output: count(u.Get("output_tokens")),
	}}
	c.tokens.Write1h = min(c.tokens.Write1h, c.tokens.CacheWrite)
	id := m.Get("id").Word()
	if !c.tokens.Used() || id == "" || c.model == "<synthetic>" {
		return
	}
	if at, err := time.Parse(time.RFC3339, ev.Word("timestamp")); err == nil {
		c.at = at
		if at.Before(s.since) {
			return
		}
	}
	side, _ := ev.Field("isSidechain").Bool()
	c.subsidiary = side || ev.Field("parent_tool_use_id").Kind() == '"'
	if i, seen := s.at[id]; seen {
		t := &s.calls[i].tokens
		t.Input, t.Cached, t.CacheWrite = max(t.Input, c.tokens.Input), max(t.Cached, c.tokens.Cached), max(t.CacheWrite, c.tokens.CacheWrite)
		t.Write1h, t.Output = max(t.Write1h, c.tokens.Write1h), max(t.Output, c.tokens.Output)
		return
	}
	s.at[id] = len(s.calls)
	s.calls = append(s.calls, c)
}

// contexts are those of the main conversation, with the last by time.
func (s *scan) contexts() (u Use) {
	for _, c := range s.calls {
		if c.subsidiary {
			continue
		}
		context := c.tokens.Input + c.tokens.Cached + c.tokens.CacheWrite
		u.contexts = append(u.contexts, context)
		if u.last == nil || !c.at.Before(u.lastAt) {
			u.last, u.lastAt = &context, c.at
		}
	}
	return u
}

// Transcripts reads the *.jsonl files of a folder and of those below it, as Claude Code keeps them in
// ~/.claude/projects/<folder>. Calls before since are another chunk's. A model without a price leaves the dollars of its
// file unknown. The error names the first file that could not be read; the others count.
func Transcripts(root fs.FS, since time.Time, price usage.Pricer) (Use, error) {
	s := scan{at: map[string]int{}, since: since}
	var names []string
	var first error
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			first = cmp.Or(first, err)
		case d.Type().IsRegular() && strings.HasSuffix(name, ".jsonl"):
			if names = append(names, name); len(names) > maxFiles {
				return fmt.Errorf("more than %d transcripts", maxFiles)
			}
		}
		return nil
	})
	if err != nil {
		return Use{}, err
	}
	for i, name := range names {
		if err := s.file(root, name, i); err != nil {
			first = cmp.Or(first, fmt.Errorf("%s: %w", name, err))
		}
	}
	logs := make([]chunk.Used, len(names))
	for i, name := range names {
		sum := sha256.Sum256([]byte(path.Base(name)))
		logs[i] = chunk.Used{Key: hex.EncodeToString(sum[:6]), CostUSD: new(float64)}
	}
	for _, c := range s.calls {
		l := &logs[c.log]
		l.Calls++
		t := c.tokens
		usd, ok := 0.0, false
		if price != nil {
			usd, ok = price(c.model, t.Input, t.Cached, t.CacheWrite-t.Write1h, t.Write1h, t.Output)
		}
		switch {
		case !ok:
			l.CostUSD = nil
		case l.CostUSD != nil:
			*l.CostUSD += usd
		}
	}
	u := s.contexts()
	for _, l := range logs {
		if l.Calls > 0 {
			u.Logs = append(u.Logs, l)
		}
	}
	return u, first
}

func (s *scan) file(root fs.FS, name string, log int) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return s.read(f, log)
}

// headBytes of an execution file tell it from others.
const headBytes = 4 << 10

// Execution reads one execution file: ours, or that of an AI vendor's action.
func Execution(file io.ReaderAt, size int64, o usage.Options) (Use, error) {
	run, err := usage.Read(file, size, o)
	s := scan{at: map[string]int{}}
	if err2 := s.read(io.NewSectionReader(file, 0, size), 0); err == nil {
		err = err2
	}
	head := make([]byte, min(size, headBytes))
	if _, err2 := file.ReadAt(head, 0); err2 != nil && !errors.Is(err2, io.EOF) && err == nil {
		err = err2
	}
	sum := sha256.Sum256(head)
	l := chunk.Used{Key: hex.EncodeToString(sum[:6]), Calls: int64(len(s.calls)), CostUSD: run.CostUSD}
	switch {
	case run.Calls != nil:
		l.Calls = *run.Calls
	case run.Turns != nil:
		l.Calls = max(l.Calls, *run.Turns)
	}
	u := s.contexts()
	if l.Calls > 0 || l.CostUSD != nil {
		u.Logs = []chunk.Used{l}
	}
	return u, err
}
