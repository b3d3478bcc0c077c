package usage

import (
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// session takes a decision on the conversation; the last one of a run counts.
func (l *ownLog) session(ev *enginelog.Event) {
	s := Session{
		Decision: ev.Word("decision"), Reasons: []string{},
		ResumeUSD: ev.Field("resume_usd").Dollars(), FreshUSD: ev.Field("fresh_usd").Dollars(),
	}
	if n := ev.Field("context_tokens").Count(enginelog.MaxTokens); n != nil { // the line leaves 0 out
		s.ContextTokens = *n
	}
	s.Shadow, _ = ev.Field("shadow").Bool()
	list, _ := ev.Str("reasons")
	for word := range strings.FieldsSeq(list) {
		s.Reasons = append(s.Reasons, word)
	}
	if l.run.Session = cleanSession(&s); l.run.Session != nil {
		l.resumed = s.Decision == "resumed"
	}
}

// firstOf notes how much of a resumed conversation's first call came from the cache.
func (l *ownLog) firstOf(t enginelog.Tokens) {
	in := t.Input + t.Cached + t.CacheWrite
	if !l.resumed || in <= 0 {
		return
	}
	l.resumed = false
	percent := t.Cached * 100 / in
	l.run.Session.FirstCached = &percent
}
