package meter

// known is what answered calls say about the size of prompts: an exact number of tokens for a set of blocks. A later
// prompt can only be as large as one of these sets, plus its own new blocks at a token per byte.
//
// Sets are compared block by block and counted, not as prefixes: command lines rewrite their history, leave parts out
// and run side conversations. A block counts as known only in the set whose tokens are taken.
type known struct {
	sets []knownSet
	// hidden are the tokens that thinking can have when it returns, whatever its bytes: those of its whole answer.
	hidden map[key]int64
}

type knownSet struct {
	blocks map[key]int
	tokens int64 // of the prompt and its answer together
}

const (
	maxSets       = 32
	perBlock      = 16  // tokens around a block: its role, its type
	perRequest    = 600 // the provider's own words about tools and answers
	countSlackDiv = 20  // the provider's own count may be a twentieth too low
	// On the whole no prompt has more bytes in a token, and no answer either: usage that says less is not believed.
	promptBytes = 32
	outputBytes = 16
)

// size is the bound of a prompt in tokens. from is the set it rests on (-1: none), added the bytes that no set holds.
type size struct {
	tokens int64
	from   int
	added  int64
}

// bound is the least of all sound bounds.
func (k *known) bound(blocks []block) size {
	best := size{from: -1}
	for _, b := range blocks {
		best.added += k.of(b)
	}
	best.tokens = best.added + perRequest
	for i, set := range k.sets {
		added := k.missing(set, blocks)
		if tokens := set.tokens + added + perRequest; tokens <= best.tokens {
			best = size{tokens: tokens, from: i, added: added}
		}
	}
	return best
}

// of is the bound of one block.
func (k *known) of(b block) int64 { return max(b.bound, k.hidden[b.key]) + perBlock }

// hide notes the thinking of an answer that had at most so many tokens.
func (k *known) hide(output []block, tokens int64) {
	for _, b := range output {
		if !b.hidden {
			continue
		}
		if k.hidden == nil {
			k.hidden = map[key]int64{}
		}
		k.hidden[b.key] = max(k.hidden[b.key], tokens)
	}
}

// missing is the bound of the blocks that the set does not hold, each as often as it stands there.
func (k *known) missing(s knownSet, blocks []block) int64 {
	var sum int64
	used := make(map[key]int, 8)
	for _, b := range blocks {
		held := s.blocks[b.key]
		if held > 1 { // rare: the same block several times
			if used[b.key]++; used[b.key] > held {
				held = 0
			}
		} else if held == 1 {
			if _, again := used[b.key]; again {
				held = 0
			}
			used[b.key] = 1
		}
		if held == 0 {
			sum += k.of(b)
		}
	}
	return sum
}

// learn adds an answered call: its prompt and what was answered had so many tokens together.
func (k *known) learn(prompt, output []block, tokens int64) {
	set := knownSet{blocks: make(map[key]int, len(prompt)+len(output)), tokens: tokens}
	for _, b := range prompt {
		set.blocks[b.key]++
	}
	for _, b := range output {
		set.blocks[b.key]++
	}
	kept := k.sets[:0]
	for _, old := range k.sets {
		if !set.holds(old) {
			kept = append(kept, old)
		}
	}
	k.sets = kept
	if len(k.sets) >= maxSets {
		k.sets = append(k.sets[:0], k.sets[1:]...)
	}
	k.sets = append(k.sets, set)
}

func (s knownSet) holds(old knownSet) bool {
	for key, n := range old.blocks {
		if s.blocks[key] < n {
			return false
		}
	}
	return true
}
