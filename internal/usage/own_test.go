package usage

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// ownFile is an execution file of a run of ours that its budget stopped.
var ownFile = func() string {
	var b strings.Builder
	add := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(append(data, '\n'))
	}
	add(engine.RunRecord{
		Type: engine.TypeRun, Schema: 1, Task: "triage", Issue: 12, Engine: engine.Claude, EngineVersion: "2.1.332",
		Model: "claude-opus-5-5", MaxTurns: 40, MaxBudgetUSD: 1, TimeoutMinutes: 15,
		Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	})
	b.WriteString(logInit + "\n")
	add(engine.HeldRecord{Type: engine.TypeHeld, N: 1, ReservedUSD: 0.42})
	add(engine.CallRecord{
		Type: engine.TypeCall, N: 1, Model: "claude-opus-5-5", Status: 200, Turn: true, Input: 1000, CacheWrite5m: 23_000,
		Output: 900, CostUSD: 0.30, Basis: engine.BasisUsage,
	})
	add(engine.TextRecord{Type: engine.TypeText, Text: `{"type":"result","subtype":"success","total_cost_usd":77}`})
	add(engine.HeldRecord{Type: engine.TypeHeld, N: 2, ReservedUSD: 0.3})
	add(engine.CallRecord{Type: engine.TypeCall, N: 2, Model: "claude-opus-5-5", Status: 529, Basis: engine.BasisFree})
	add(engine.HeldRecord{Type: engine.TypeHeld, N: 3, ReservedUSD: 0.5})
	add(engine.CallRecord{
		Type: engine.TypeCall, N: 3, Model: "claude-opus-5-5", ModelUsed: "claude-haiku-5-5", Status: 200, Turn: true,
		Input: 300, CachedInput: 210_000, Output: 2000, CostUSD: 0.25, Basis: engine.BasisUsage,
	})
	add(engine.CallRecord{Type: engine.TypeCall, N: 4, Model: "claude-opus-5-5", Status: 402, Refused: engine.Budget, Basis: engine.BasisFree})
	b.WriteString(`{"type":"result","subtype":"success","is_error":true,"total_cost_usd":0.9,"num_turns":9,"session_id":"s","permission_denials":[{}]}` + "\n")
	add(engine.EndRecord{
		Type: engine.TypeEnd, Ended: engine.Budget, Turns: 2, Calls: 4, CostUSD: 0.55, CostBasis: "meter", WorstNextCallUSD: 0.47,
		ToolsDenied: 1, DurationMS: 242_000,
	})
	return b.String()
}()

const ownLine = "**triage** of #12 · claude-opus-5-5 +1 · **stopped at its budget**, nothing posted: raise `max_budget_usd` · 2 of 40 turns · " +
	"4m02s · $0.55 of $1.00 (next call up to $0.47) · 24.3k in + 210k cached, 2.9k out · 1 tool call denied"

func TestOwnFile(t *testing.T) {
	t.Parallel()
	run := readText(t, ownFile)
	if got := Line(run); got != ownLine {
		t.Errorf("line:\n%s\nwant:\n%s", got, ownLine)
	}
	rec := NewRecord(run, Job{Repository: "octo/demo", RunID: 7, Attempt: 2})
	if rec.Calls == nil || *rec.Calls != 4 || rec.CostBasis != BasisMeter || rec.Started == nil || rec.EngineVersion != "2.1.332" ||
		len(rec.Models) != 2 || rec.Repository != "octo/demo" || *rec.MaxTurns != 40 || *rec.WorstNextCallUSD != 0.47 {
		t.Errorf("record %+v", rec)
	}
}

// TestOwnFileCutAnywhere: a run that was killed at any byte has its line. What it shows is never less than what its
// calls can have cost until then, and never more than the budget.
func TestOwnFileCutAnywhere(t *testing.T) {
	t.Parallel()
	for n := range len(ownFile) {
		run := readText(t, ownFile[:n])
		line := Line(run)
		checkLine(t, line)
		could := 0.0 // of the calls whose first record is whole
		for i, usd := range map[int]float64{1: 0.30, 2: 0, 3: 0.25} {
			if held := fmt.Sprintf(`"n":%d,"reserved_usd":%v}`, i, map[int]float64{1: 0.42, 2: 0.3, 3: 0.5}[i]); strings.Contains(ownFile[:n], held) {
				could += usd
			}
		}
		if run.CostUSD == nil && could > 0 || run.CostUSD != nil && (*run.CostUSD < could-1e-9 || *run.CostUSD > 1) {
			t.Fatalf("cut at %d, the calls cost $%v: %s", n, could, line)
		}
	}
	lines := strings.SplitAfter(ownFile, "\n")
	for i, want := range map[int]string{
		2: "**triage** of #12 · claude-opus-5-5 · did not finish · ? of 40 turns · cost unknown of $1.00",
		3: "**triage** of #12 · claude-opus-5-5 · did not finish · 0 of 40 turns · $0.42 of $1.00 (at most)",
		4: "**triage** of #12 · claude-opus-5-5 · did not finish · 1 of 40 turns · $0.30 of $1.00 · 24.0k in + 0 cached, 900 out",
		6: "**triage** of #12 · claude-opus-5-5 · did not finish · 1 of 40 turns · $0.60 of $1.00 (at most) · 24.0k in + 0 cached, 900 out",
		8: "**triage** of #12 · claude-opus-5-5 · did not finish · 1 of 40 turns · $0.80 of $1.00 (at most) · 24.0k in + 0 cached, 900 out",
		10: "**triage** of #12 · claude-opus-5-5 +1 · **stopped at its budget**, nothing posted: raise `max_budget_usd` · 2 of 40 turns · " +
			"$0.55 of $1.00 · 24.3k in + 210k cached, 2.9k out",
	} {
		if got := Line(readText(t, strings.Join(lines[:i], ""))); got != want {
			t.Errorf("first %d lines:\n%s\nwant:\n%s", i, got, want)
		}
	}
}

// TestOwnFileWithoutMeter: a recording has no calls; then the engine's numbers stand.
func TestOwnFileWithoutMeter(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(ownFile, "\n")
	end := `{"type":"issue_assistant.end","ended":"finished","turns":3,"calls":0,"cost_usd":0.5,"cost_basis":"engine","duration_ms":0}` + "\n"
	run := readText(t, lines[0]+logInit+"\n"+logResult+"\n"+end)
	if got, want := Line(run), "**triage** of #12 · claude-opus-5-5 · finished · 3 of 40 turns · $0.50 of $1.00"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	run = readText(t, lines[0]+logInit+"\n"+logResult+"\n"+strings.Replace(end, `"engine"`, `"unknown"`, 1))
	if run.CostUSD == nil || *run.CostUSD != 0.5 || run.CostBasis != BasisEngine {
		t.Errorf("unknown dollars are not taken from the log: %+v", run)
	}
}

func TestOwnFileOverrides(t *testing.T) {
	t.Parallel()
	run := readText(t, ownFile)
	run.Fill(Given{Task: "follow-up", Issue: 3, Model: "x", MaxTurns: 9, MaxBudgetUSD: 9, Engine: engine.Codex})
	run.Override(Given{Ended: engine.Finished})
	if Line(run) != ownLine {
		t.Errorf("what the file knows was overwritten: %s", Line(run))
	}
	killed := readText(t, strings.Join(strings.SplitAfter(ownFile, "\n")[:4], ""))
	killed.Override(Given{Ended: engine.Interrupted, MaxTurns: 50, MaxBudgetUSD: 2, Task: "follow-up", Issue: 13, Model: "claude-sonnet-5", Engine: engine.Claude})
	want := "**follow-up** of #13 · claude-sonnet-5 → claude-opus-5-5 · interrupted · 1 of 50 turns · $0.30 of $2.00 · 24.0k in + 0 cached, 900 out"
	if got := Line(killed); got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}

// TestRepeatedCalls: a call counts once, and a file with two runs is about the last.
func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(ownFile, "\n")
	run := readText(t, strings.Join(lines[:4], "")+lines[2]+lines[3]+lines[3])
	if *run.CostUSD != 0.30 || *run.Calls != 1 || run.AtMost {
		t.Errorf("%v dollars, %d calls", *run.CostUSD, *run.Calls)
	}
	if run = readText(t, ownFile+strings.Join(lines[:4], "")); *run.CostUSD != 0.30 || run.Ended != engine.Unfinished {
		t.Errorf("second run: %s", Line(run))
	}
}

// TestCallsAtOnce: calls that ran at once end in any order; a killed run counts those that had not ended at what was
// kept back for them.
func TestCallsAtOnce(t *testing.T) {
	t.Parallel()
	held := func(n int, usd string) string {
		return fmt.Sprintf(`{"type":"issue_assistant.held","n":%d,"reserved_usd":%s}`+"\n", n, usd)
	}
	call := func(n int, usd, basis string) string {
		return fmt.Sprintf(`{"type":"issue_assistant.call","n":%d,"model":"m","turn":true,"output":5,"cost_usd":%s,"basis":"%s"}`+"\n", n, usd, basis)
	}
	head := `{"type":"issue_assistant.run","task":"triage","max_budget_usd":1,"max_turns":40}` + "\n"
	many := head
	for n := range 3000 { // more than are told apart
		many += held(n+1, "0.0001")
	}
	for n := range 3000 {
		many += call(3000-n, "0.00005", "usage")
	}
	for name, test := range map[string]struct {
		file   string
		usd    float64
		calls  int64
		turns  int64
		atMost bool
	}{
		"in any order":            {head + held(1, "0.5") + held(2, "0.4") + call(2, "0.2", "usage") + call(1, "0.1", "usage"), 0.3, 2, 2, false},
		"one has not ended":       {head + held(1, "0.5") + held(2, "0.4") + held(3, "0.05") + call(3, "0.01", "usage") + call(1, "0.1", "usage"), 0.51, 3, 2, true},
		"booked at its bound":     {head + held(1, "0.5") + call(1, "0.5", "reserved"), 0.5, 1, 1, true},
		"held twice":              {head + held(1, "0.5") + held(1, "0.5"), 0.5, 1, 0, true},
		"a second run":            {head + held(1, "0.5") + head + held(1, "0.1"), 0.1, 1, 0, true},
		"more than is told apart": {many, 0.15 + 0.2, 3001, 3000, true},
	} {
		run := readText(t, test.file)
		if run.CostUSD == nil || math.Abs(*run.CostUSD-test.usd) > 1e-9 || *run.Calls != test.calls || *run.Turns != test.turns ||
			run.AtMost != test.atMost || run.CostBasis != BasisMeter {
			t.Errorf("%s: %+v", name, run)
		}
	}
	list := readText(t, strings.Replace(head, `,"max_turns"`, `,"list_price":true,"max_turns"`, 1)+held(1, "0.5"))
	if got, want := Line(list), "**triage** · did not finish · 0 of 40 turns · $0.50 of $1.00 (list price, at most)"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	// A foreign file cannot hold dollars back.
	if run := readText(t, logInit+"\n"+held(1, "0.5")); run.CostUSD != nil || run.AtMost {
		t.Errorf("a foreign file: %+v", run)
	}
}

// TestOwnNumbersThatCannotBeRead: what a call's record does not say is unknown, and so is every sum with it.
func TestOwnNumbersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const (
		start = `{"type":"issue_assistant.run","engine":"claude","model":"m"}` + "\n"
		good  = `{"type":"issue_assistant.call","n":1,"model":"m","turn":true,"input":1,"output":2,"cost_usd":0.25,"basis":"usage"}` + "\n"
		end   = `{"type":"issue_assistant.end","ended":"finished","turns":2,"calls":2,"cost_usd":0.5,"cost_basis":"meter"}` + "\n"
	)
	call := func(key, value string) string {
		fields := map[string]string{"input": "1", "output": "2", "cached_input": "0", "cache_write_5m": "0", "cache_write_1h": "0", "cost_usd": "0.25"}
		fields[key] = value
		text := `{"type":"issue_assistant.call","n":2,"model":"m","turn":true,"basis":"usage"`
		for k, v := range fields {
			text += `,"` + k + `":` + v
		}
		return text + "}\n"
	}
	for _, bad := range []string{`"12"`, `-1`, `1e300`, `{}`, `[3]`, `true`, `"` + strings.Repeat("9", 100) + `"`} {
		for _, key := range []string{"input", "output", "cached_input", "cache_write_5m", "cache_write_1h"} {
			run := readText(t, start+good+call(key, bad))
			if run.Tokens != nil || run.CostUSD == nil || *run.CostUSD != 0.5 || len(run.Models) != 1 || run.Models[0].Tokens != nil {
				t.Errorf("%s %s: tokens %v, models %+v, dollars %v", key, bad, run.Tokens, run.Models, run.CostUSD)
			}
			if line := Line(run); strings.Contains(line, " in") || strings.Contains(line, " out") {
				t.Errorf("%s %s: %q", key, bad, line)
			}
		}
		run := readText(t, start+good+call("cost_usd", bad))
		if run.CostUSD != nil || run.CostBasis != BasisUnknown || run.Models[0].CostUSD != nil || run.Tokens == nil || run.Tokens.Output != 4 {
			t.Errorf("cost_usd %s: dollars %v by %s, tokens %v", bad, run.CostUSD, run.CostBasis, run.Tokens)
		}
		run = readText(t, start+good+call("cost_usd", bad)+end)
		if run.CostUSD == nil || *run.CostUSD != 0.5 { // the meter's own sum
			t.Errorf("cost_usd %s and an end: dollars %v", bad, run.CostUSD)
		}
		held := `{"type":"issue_assistant.held","n":2,"reserved_usd":` + bad + "}\n"
		if run := readText(t, start+good+held); run.CostUSD != nil || strings.Contains(Line(run), "$") {
			t.Errorf("reserved_usd %s, killed: %q", bad, Line(run))
		}
		if run := readText(t, start+good+held+call("input", "1")); run.CostUSD == nil || *run.CostUSD != 0.5 { // it has ended
			t.Errorf("reserved_usd %s: dollars %v", bad, run.CostUSD)
		}
	}
	for _, n := range []string{`"3"`, `-2`, `1e99`, `null`, `[1]`} { // of which call it is cannot be told
		for _, record := range []string{`"held","n":` + n + `,"reserved_usd":0.1}`, `"call","n":` + n + `,"model":"m","turn":true,"output":9,"cost_usd":0.1}`} {
			line := strings.Replace(`{"type":`+record, `"type":"`, `"type":"issue_assistant.`, 1) + "\n"
			run := readText(t, start+good+line)
			if run.CostUSD != nil || run.Tokens != nil || run.Turns != nil || run.Calls != nil || strings.Contains(Line(run), "$") {
				t.Errorf("%s: %q", line, Line(run))
			}
			if run = readText(t, start+good+line+end); run.CostUSD == nil || *run.CostUSD != 0.5 || *run.Turns != 2 || run.Tokens != nil {
				t.Errorf("%s and an end: %q", line, Line(run))
			}
		}
	}
	if run := readText(t, start+good+call("input", "null")); run.Tokens == nil || run.Tokens.Input != 1 {
		t.Errorf("null, which is no number at all: %v", run.Tokens)
	}
}
