package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// maxRecording bounds a recording that is one JSON array, in bytes.
const maxRecording = 64 << 20

// Replay plays a recorded execution log instead of an engine: nothing is started, and the run ends as the recording
// says. Lines may be an engine's own, an execution file of ours, or one JSON array of events. Driver, Schema, Secrets,
// Limits, ExecutionFile and Now of the options are used.
func Replay(ctx context.Context, o Options, recording io.Reader) (Result, error) {
	r, refused, err := open(o)
	if r == nil {
		return refused, err
	}
	r.log.record(r.runRecord(""))
	r.protection = "a recording is played: no engine was started"
	r.begin(attempt{})
	p := &player{running: r}
	v := p.play(ctx, recording)
	r.worst = max(p.end.WorstNextCallUSD, 0)
	if !p.metered {
		r.tally.engineSays(r.stream.Outcome())
	}
	return r.finish(v)
}

// player feeds a recording to a run.
type player struct {
	*running
	metered bool             // the recording holds the meter's own records
	end     engine.EndRecord // of the recording
}

func (p *player) play(ctx context.Context, recording io.Reader) verdict {
	var err error
	if p.check, err = newChecker(p.Schema, append([]string{p.KeyValue}, p.Secrets...)); err != nil {
		return notStarted(engine.NotStarted, err.Error())
	}
	br := bufio.NewReaderSize(recording, 256<<10)
	if isArray(br) {
		err = p.array(br)
	} else {
		err = p.lines(ctx, br)
	}
	switch {
	case ctx.Err() != nil:
		return verdict{cause: causeSignal}
	case err != nil:
		p.Say("the recording breaks off: %s", err)
	case p.end.Ended == engine.Interrupted:
		return verdict{cause: causeSignal, exit: "recorded"}
	case p.end.Ended == engine.Time:
		return verdict{cause: causeTime, exit: "recorded"}
	}
	return verdict{exit: "the end of the recording"}
}

// isArray looks at the first character that is no space.
func isArray(br *bufio.Reader) bool {
	for n := 1; n <= 1024; n++ {
		b, err := br.Peek(n)
		if err != nil {
			return false
		}
		if c := b[n-1]; !bytes.ContainsRune([]byte(" \t\r\n\xef\xbb\xbf"), rune(c)) {
			return c == '['
		}
	}
	return false
}

func (p *player) array(br *bufio.Reader) error {
	data, err := io.ReadAll(io.LimitReader(br, maxRecording+1))
	if err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	if len(data) > maxRecording {
		return fmt.Errorf("the recording has more than %d bytes", maxRecording)
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	for dec.More() {
		var event json.RawMessage
		if err := dec.Decode(&event); err != nil {
			return fmt.Errorf("read the recording: %w", err)
		}
		var line bytes.Buffer
		if err := json.Compact(&line, event); err != nil {
			return fmt.Errorf("read the recording: %w", err)
		}
		p.line(line.Bytes())
	}
	return nil
}

func (p *player) lines(ctx context.Context, br *bufio.Reader) error {
	for ctx.Err() == nil {
		line, err := readLine(br, maxLine)
		switch {
		case err == nil:
			p.line(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLineTooLong):
			p.engineLine(nil, false)
		default:
			return fmt.Errorf("read the recording: %w", err)
		}
	}
	return nil
}

// line takes one line: records of ours count as the meter's, all others are the engine's.
func (p *player) line(line []byte) {
	if !isObject(line) || !claimsOwnType(line) {
		p.engineLine(line, true)
		return
	}
	var head struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(line, &head) != nil {
		p.engineLine(line, true)
		return
	}
	switch head.Type {
	case engine.TypeRun, engine.TypeHeld: // this run has its own, and every call has ended
	case engine.TypeEnd:
		if json.Unmarshal(line, &p.end) != nil || !p.end.Ended.Valid() {
			p.end = engine.EndRecord{}
		}
	case engine.TypeCall:
		var c engine.CallRecord
		if json.Unmarshal(line, &c) != nil {
			p.engineLine(line, true)
			return
		}
		p.metered = true
		p.log.record(c)
		p.tally.add(c)
	case engine.TypeText:
		p.log.text([]byte(head.Text))
	default:
		p.engineLine(line, true)
	}
}
