package gemini

import (
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
)

// recent is how many answers back a repeated line of a chat file may lie.
const recent = 64

// chat gathers the chat file: one line per message, written again when it changes; the model's have tokens.
type chat struct {
	ids    [recent]string
	turns  int64
	models []enginelog.Model
}

func (c *chat) event(ev *enginelog.Event) bool {
	if ev.Has("$set") || (ev.Has("sessionId") && ev.Word("type") == "") {
		return true
	}
	id := ev.Word("id")
	if id == "" {
		return false
	}
	if ev.Word("type") != "gemini" {
		return true
	}
	for _, known := range c.ids {
		if known == id {
			return true
		}
	}
	f := ev.Field("tokens").Sub()
	t := tokensOf(f, "input", "output", "total", "cached")
	if t == nil {
		return true
	}
	c.ids[c.turns%recent] = id
	c.turns++
	name := enginelog.UnknownModel
	if text, ok := ev.Str("model"); ok {
		name = enginelog.ModelName(text)
	}
	for i := range c.models {
		if c.models[i].ID == name || i == maxModels-1 {
			c.models[i].Tokens = addTokens(c.models[i].Tokens, t)
			return true
		}
	}
	c.models = append(c.models, enginelog.Model{ID: name, Tokens: t})
	return true
}

func (c *chat) fill(s *enginelog.Summary) {
	s.Turns, s.Models = &c.turns, c.models
	for _, m := range c.models {
		s.Tokens = addTokens(s.Tokens, m.Tokens)
	}
}
