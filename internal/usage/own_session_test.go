package usage

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// withSession is an execution file of ours with records of the session before its first and before its third call.
func withSession(t *testing.T, first, second any) string {
	t.Helper()
	insert := func(text, before string, v any) string {
		if v == nil {
			return text
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if raw, ok := v.(string); ok {
			data = []byte(raw)
		}
		i := strings.Index(text, before)
		if i < 0 {
			t.Fatalf("the file has no %s", before)
		}
		i = strings.LastIndexByte(text[:i], '\n') + 1
		return text[:i] + string(data) + "\n" + text[i:]
	}
	return insert(insert(ownFile, `"n":1`, first), `"n":3,"model"`, second)
}

func TestSessionInTheLine(t *testing.T) {
	t.Parallel()
	fresh := func(reasons string, shadow bool, resume, again *float64) engine.SessionRecord {
		return engine.SessionRecord{Type: engine.TypeSession, Decision: "fresh", Reasons: reasons, Shadow: shadow, ResumeUSD: resume, FreshUSD: again}
	}
	resumed := engine.SessionRecord{Type: engine.TypeSession, Decision: "resumed", ContextTokens: 30_400}
	percent := int64(99) // of the third call: 210,000 of 210,300
	for _, tt := range []struct {
		name          string
		first, second any
		line          string
		want          *Session
	}{
		{"off", nil, nil, "", nil},
		{"fresh", fresh("rules_changed max_runs", false, new(0.3236), new(0.2704)), nil, "session fresh: rules_changed, max_runs; would resume $0.32 vs fresh $0.27", &Session{Decision: "fresh", Reasons: []string{"rules_changed", "max_runs"}, ResumeUSD: new(0.3236), FreshUSD: new(0.2704)}},
		{"no estimate", fresh("no_saved_session", false, nil, nil), nil, "session fresh: no_saved_session", &Session{Decision: "fresh", Reasons: []string{"no_saved_session"}}},
		{"half an estimate", fresh("no_saved_session", false, new(1.0), nil), nil, "session fresh: no_saved_session", &Session{Decision: "fresh", Reasons: []string{"no_saved_session"}, ResumeUSD: new(1.0)}},
		{"shadow", fresh("", true, new(0.11), new(0.27)), nil, "session fresh: shadow; would resume $0.11 vs fresh $0.27", &Session{Decision: "fresh", Reasons: []string{}, Shadow: true, ResumeUSD: new(0.11), FreshUSD: new(0.27)}},
		{"shadow with a reason", fresh("max_age", true, nil, nil), nil, "session fresh: max_age", &Session{Decision: "fresh", Reasons: []string{"max_age"}, Shadow: true}},
		{"went on", fresh("no_saved_session", false, nil, nil), resumed, "session resumed: 30.4k context, first call 99% from cache", &Session{Decision: "resumed", Reasons: []string{}, ContextTokens: 30_400, FirstCached: &percent}},
		{"could not go on", resumed, fresh("resume_failed", false, nil, nil), "session fresh: resume_failed", &Session{Decision: "fresh", Reasons: []string{"resume_failed"}}},
		{"not one of ours", map[string]any{"type": engine.TypeSession, "decision": "paused", "reasons": "x"}, nil, "", nil},
		{
			"hostile words",
			map[string]any{"type": engine.TypeSession, "decision": "fresh", "reasons": "a|b **x** max_runs <b> `c` @everyone \u202e x\ny", "resume_usd": -1, "fresh_usd": "1", "context_tokens": 1.5},
			nil, "session fresh: max_runs, x, y", &Session{Decision: "fresh", Reasons: []string{"max_runs", "x", "y"}},
		},
		{"wrong types", map[string]any{"type": engine.TypeSession, "decision": "resumed", "reasons": []string{"x"}, "shadow": "yes", "context_tokens": "9"}, nil, "session resumed: first call 0% from cache", &Session{Decision: "resumed", Reasons: []string{}, FirstCached: new(int64)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := readText(t, withSession(t, tt.first, tt.second))
			want := ownLine
			if tt.line != "" {
				want += " · " + tt.line
			}
			got := Line(run)
			if got != want || strings.ContainsAny(got, "\n\r|<@") {
				t.Errorf("line:\n%s\nwant:\n%s", got, want)
			}
			rec := NewRecord(run, Job{})
			if diff := cmp.Diff(tt.want, rec.Session); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// A log that is not ours says nothing of a session, whatever its lines claim.
func TestSessionOfAForeignFile(t *testing.T) {
	t.Parallel()
	run := readText(t, logInit+"\n"+`{"type":"issue_assistant.session","decision":"resumed","reasons":"","context_tokens":5}`+"\n"+`{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.1,"num_turns":2}`+"\n")
	if run.Session != nil || strings.Contains(Line(run), "session") {
		t.Errorf("%+v: %s", run.Session, Line(run))
	}
}
