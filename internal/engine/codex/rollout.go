package codex

import (
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// rollout gathers the session file: one token_usage_record per answer of the model, the model in turn_context.
type rollout struct {
	seen     bool
	closed   bool // the event just read closed a turn
	model    string
	version  string
	models   []enginelog.Model
	turns    int64
	duration *int64
	ended    engine.Ended
}

func (r *rollout) event(ev *enginelog.Event, kind string) bool {
	p := ev.Field("payload")
	if p.Kind() != '{' {
		return false
	}
	switch kind {
	case "session_meta":
		r.version = enginelog.Version(p.Sub().Get("cli_version").Word())
	case "turn_context":
		if name, ok := p.Sub().Get("model").Str(); ok {
			r.model = enginelog.ModelName(name)
		}
	case "token_usage_record":
		r.turns++
		r.use(tokensOf(p.Sub().Get("usage").Sub()))
	case "event_msg":
		switch p.Sub().Get("type").Word() {
		case "task_started":
			r.ended = ""
		case "task_complete":
			r.closed, r.ended = true, engine.Finished
			if ms := p.Sub().Get("duration_ms").Millis(); ms != nil {
				if r.duration != nil {
					*ms += *r.duration
				}
				r.duration = ms
			}
		case "turn_aborted":
			r.closed, r.ended = true, engine.Interrupted
		}
	case "response_item", "world_state", "compacted":
	default:
		return false
	}
	r.seen = true
	return true
}

func (r *rollout) use(t *enginelog.Tokens) {
	name := r.model
	if name == "" {
		name = enginelog.UnknownModel
	}
	if t == nil {
		return
	}
	for i := range r.models {
		if r.models[i].ID == name || i == maxThreads-1 {
			sum := r.models[i].Tokens.Add(*t)
			r.models[i].Tokens = &sum
			return
		}
	}
	r.models = append(r.models, enginelog.Model{ID: name, Tokens: t})
}

func (r *rollout) summary(s enginelog.Summary) enginelog.Summary {
	s.Version, s.ModelAsked, s.Models, s.DurationMS = r.version, r.model, r.models, r.duration
	if r.turns > 0 {
		s.Turns = &r.turns
	}
	for _, m := range r.models {
		t := *m.Tokens
		if s.Tokens != nil {
			t = s.Tokens.Add(t)
		}
		s.Tokens = &t
	}
	if r.ended != "" {
		s.Ended = r.ended
	}
	return s
}
