package engine

import (
	"encoding/json"
	"strings"
)

// answerIn takes the answer out of a model's closing text, for engines without a tool for it: a JSON object or list that
// stands alone, or in one code fence. ok is false when the text holds anything else: what follows an answer is not
// guessed at.
func answerIn(text string) (answer json.RawMessage, ok bool) {
	text = strings.TrimSpace(text)
	if !structured(text) {
		_, rest, found := strings.Cut(text, "```")
		if !found {
			return nil, false
		}
		lang, rest, found := strings.Cut(rest, "\n")
		if lang = strings.TrimSpace(lang); !found || lang != "" && !strings.EqualFold(lang, "json") {
			return nil, false
		}
		inside, after, found := strings.Cut(rest, "\n```")
		if !found || strings.Contains(after, "```") {
			return nil, false
		}
		text = strings.TrimSpace(inside)
	}
	if !structured(text) || !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}

// Said takes the model's closing text for the answer, for such engines. Text that is none makes a finished run a bad answer.
func (o *Outcome) Said(text string) {
	answer, ok := answerIn(text)
	switch {
	case ok && o.Ended == Finished:
		o.Answer = answer
	case ok:
		o.Candidates = []json.RawMessage{answer}
	case o.Ended == Finished:
		o.Ended = BadAnswer // prose, or cut
	}
}

func structured(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}
