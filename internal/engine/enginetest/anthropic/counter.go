package anthropic

import "github.com/issue-assistant/issue-assistant/internal/engine/enginetest/standin"

// Counter is the server's tokenizer and cache.
type Counter = standin.Counter

const (
	toolTokens  = 346  // the provider's own words about tools
	imageTokens = 4784 // the dearest image
)

// prompt counts a request and moves its blocks through the cache: it is read and written up to the marks.
func prompt(t *standin.Tally, blocks []standin.Block) Usage {
	marked := func(b standin.Block) bool { return b.Mark != "" }
	spots := t.Walk(blocks, marked)
	lastMark := -1
	for i, b := range blocks {
		if marked(b) {
			lastMark = i
		}
	}
	var u Usage
	for i := lastMark; i >= 0 && u.CachedInput == 0; i-- {
		if spots[i].Cached {
			u.CachedInput = spots[i].Tokens
		}
	}
	from := u.CachedInput
	for i, b := range blocks {
		if !marked(b) || spots[i].Tokens <= from {
			continue
		}
		if b.Mark == "1h" {
			u.CacheWrite1h += spots[i].Tokens - from
		} else {
			u.CacheWrite5m += spots[i].Tokens - from
		}
		from = spots[i].Tokens
	}
	if len(spots) > 0 {
		u.Input = spots[len(spots)-1].Tokens - from
	}
	return u
}
