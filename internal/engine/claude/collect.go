package claude

import (
	"bytes"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// maxSessions bounds what one log can name.
const maxSessions = 64

// Log gathers the events of a log of Claude Code, in the order of the file.
type Log struct {
	seen     bool
	started  bool // an init line was seen
	model    string
	version  string
	keys     string // apiKeySource
	sessions map[string]bool
	hints    hints
	apiError string // error type of an API error that stands alone
	groups   []*group
	results  int
	long     int    // results whose session has an id that is not kept
	dropped  *group // the last result of sessions too many
	before   int    // results before the last line that says that a session has begun or goes on
}

// group holds the results of one session.
type group struct {
	id       string
	order    int // of the last result
	last     Result
	resumed  bool // the first result's own use is less than the session's total
	turns    *int64
	duration *int64
	usage    *enginelog.Tokens
	since    []enginelog.Model // what all results say of themselves, of a resumed session
	sinceUSD *float64
}

// Event takes one event and reports whether it is one of Claude Code's.
func (l *Log) Event(ev *enginelog.Event) bool {
	switch ev.Word("type") {
	case "system":
		if ev.Word("subtype") == "init" {
			l.init(ev)
		}
	case "assistant":
		if p := ev.Field("parent_tool_use_id"); p.Kind() == 0 || p.IsNull() {
			l.before = l.results
			l.hints.code = ev.Word("error")
		}
	case "rate_limit_event":
		if ev.Field("rate_limit_info").Sub().Get("status").Word() == "rejected" {
			l.hints.limitPassed = true
		}
	case "user", "stream_event", "tool_progress":
	case "result":
		l.result(ev)
	case "error":
		f := ev.Field("error")
		if f.Kind() != '{' {
			return false
		}
		l.apiError = f.Sub().Get("type").Word()
		if l.apiError == "" {
			l.apiError = "error"
		}
	default:
		return false
	}
	l.seen = true
	return true
}

func (l *Log) init(ev *enginelog.Event) {
	l.before = l.results
	if l.sessions == nil {
		l.sessions = map[string]bool{}
	}
	if id := ev.Word("session_id"); id != "" && len(l.sessions) < maxSessions {
		l.sessions[id] = true
	}
	if l.started { // the first one says what was asked
		return
	}
	l.started = true
	if name, ok := ev.Str("model"); ok {
		l.model = enginelog.ModelName(name)
	}
	l.version = enginelog.Version(ev.Word("claude_code_version"))
	l.keys = ev.Word("apiKeySource")
	l.hints.schema = bytes.Contains(ev.Field("tools").Raw, []byte(`"StructuredOutput"`))
}

func (l *Log) result(ev *enginelog.Event) {
	r := resultOf(ev)
	l.results++
	if ev.Field("session_id").Cut {
		l.long++
	}
	var g *group
	for _, known := range l.groups {
		if known.id == r.SessionID {
			g = known
		}
	}
	if g == nil {
		if len(l.groups) == maxSessions {
			r.Since = nil
			l.dropped = &group{last: r, order: l.results}
			return
		}
		g = &group{id: r.SessionID, resumed: r.resumed(), turns: new(int64), duration: new(int64), sinceUSD: new(float64)}
		l.groups = append(l.groups, g)
	}
	if g.resumed {
		g.since = mergeModels(g.since, r.Since)
		cost, known := dollars(r.Since)
		if !known || !r.HasSince || len(g.since) > maxModels || g.sinceUSD == nil {
			g.since, g.sinceUSD = nil, nil
		} else {
			*g.sinceUSD += cost
		}
	}
	r.Since = nil
	g.last, g.order = r, l.results
	g.turns = sum(g.turns, r.Turns)
	g.duration = sum(g.duration, r.DurationMS)
	if r.Usage != nil {
		total := *r.Usage
		if g.usage != nil {
			total = g.usage.Add(total)
		}
		g.usage = &total
	}
}

// sum adds what is known; one unknown part makes the whole unknown.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}

// Results is the number of closing results so far.
func (l *Log) Results() int { return l.results }

// Started reports whether the line that opens a log was seen.
func (l *Log) Started() bool { return l.started }

// Seen reports whether any event was Claude Code's.
func (l *Log) Seen() bool { return l.seen }

// Summary says what the log says.
func (l *Log) Summary() enginelog.Summary {
	s := enginelog.Summary{
		Engine: engine.Claude, Version: l.version, ModelAsked: l.model, Ended: engine.Unfinished,
	}
	chosen := l.chosen()
	if len(chosen) == 0 {
		if l.apiError != "" {
			s.Ended = byCode(l.apiError)
		}
		return s
	}
	closing := chosen
	if l.dropped != nil {
		closing = append(slices.Clone(chosen), l.dropped)
	}
	if !slices.ContainsFunc(closing, func(g *group) bool { return g.order > l.before }) {
		return s // what came after the last result has none, and what it cost stands nowhere
	}
	s.Sessions = len(chosen)
	s.Turns, s.DurationMS = new(int64), new(int64)
	cost := new(float64)
	var last *group
	for _, g := range chosen {
		own := g.own()
		s.Turns = sum(s.Turns, g.turns)
		s.DurationMS = sum(s.DurationMS, g.duration)
		s.ToolsDenied = addKnown(s.ToolsDenied, g.last.ToolsDenied)
		s.Tokens = addTokens(s.Tokens, own.tokens)
		s.Models = mergeModels(s.Models, own.models)
		if cost != nil && own.cost != nil {
			*cost += *own.cost
		} else {
			cost = nil
		}
		if last == nil || g.order > last.order {
			last = g
		}
	}
	s.CostUSD = cost
	if l.dropped != nil || l.long > 1 { // a sum without them would be too small
		s.CostUSD, cost, s.Turns, s.DurationMS, s.ToolsDenied, s.Tokens, s.Models, s.Sessions = nil, nil, nil, nil, nil, nil, nil, 0
	}
	if l.dropped != nil {
		last = l.dropped
	}
	if cost != nil && *cost == 0 && s.Tokens != nil && s.Tokens.Used() {
		s.CostUSD, s.Unpriced = nil, true
	}
	for _, m := range s.Models {
		s.Estimate = s.Estimate || m.Guessed || m.Foreign
	}
	s.ListPrice = l.keys == "none" || l.keys == "oauth"
	s.Ended = last.last.ended(l.hints)
	if last.last.Status != nil && s.Ended == engine.ProviderError {
		s.Status = int(*last.last.Status)
	}
	if api := last.last.APIMS; s.Ended == engine.Budget && api != nil && *api == 0 {
		s.Detail = "before its first request"
	}
	if s.Ended == engine.Unfinished {
		s.Detail = enginelog.SmallWord(last.last.Subtype)
		if last.last.Subtype == "" || last.last.Unclear {
			s.Detail = "no outcome in the log"
		}
	}
	return s
}

// chosen returns the sessions that count: those that the log opened itself, else all with an id, else what there is. A
// result that a program printed between the lines has another id, or none.
func (l *Log) chosen() []*group {
	var own, named []*group
	for _, g := range l.groups {
		if l.sessions[g.id] {
			own = append(own, g)
		}
		if g.id != "" {
			named = append(named, g)
		}
	}
	switch {
	case len(own) > 0:
		return own
	case len(named) > 0:
		return named
	}
	return l.groups
}

type ownUse struct {
	cost   *float64
	models []enginelog.Model
	tokens *enginelog.Tokens
}

// own is what this run used of its session: a resumed session's totals go on from those of the runs before.
func (g *group) own() ownUse {
	use := ownUse{cost: g.last.CostUSD, models: g.last.Models}
	if g.resumed {
		use.cost, use.models = g.sinceUSD, g.since
	}
	if g.last.ModelsCut || g.resumed && g.sinceUSD == nil {
		return use // tokens of the main loop are not all
	}
	for _, m := range use.models {
		use.tokens = addTokens(use.tokens, m.Tokens)
	}
	if use.tokens == nil {
		use.tokens = g.usage
	}
	return use
}

// resumed: the first result's own use is less than the session's total.
func (r Result) resumed() bool {
	if !r.HasSince {
		return false
	}
	total, known := dollars(r.Models)
	own, ownKnown := dollars(r.Since)
	return known && ownKnown && total-own > 1e-9
}

func dollars(models []enginelog.Model) (total float64, known bool) {
	for _, m := range models {
		if m.CostUSD == nil {
			return 0, false
		}
		total += *m.CostUSD
	}
	return total, true
}

func addTokens(a, b *enginelog.Tokens) *enginelog.Tokens {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	t := a.Add(*b)
	return &t
}

func addKnown(a, b *int64) *int64 {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return sum(a, b)
}

func mergeModels(a, b []enginelog.Model) []enginelog.Model {
	merged := append([]enginelog.Model(nil), a...)
next:
	for _, m := range b {
		for i := range merged {
			if merged[i].ID == m.ID {
				merged[i].Tokens = addTokens(merged[i].Tokens, m.Tokens)
				if merged[i].CostUSD != nil && m.CostUSD != nil {
					cost := *merged[i].CostUSD + *m.CostUSD
					merged[i].CostUSD = &cost
				} else {
					merged[i].CostUSD = nil
				}
				merged[i].Guessed = merged[i].Guessed || m.Guessed
				merged[i].Foreign = merged[i].Foreign || m.Foreign
				continue next
			}
		}
		merged = append(merged, m)
	}
	return merged
}
