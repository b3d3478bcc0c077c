package meter

// known is what answered calls say about the size of prompts: an exact number of tokens for a set of blocks. A later
// prompt can only be as large as one of these sets, plus its own new blocks at a token per byte.
//
// Sets are compared block by block and counted, not as prefixes: command lines rewrite their history, leave parts out
// and run side conversations. A block counts as known only in the set whose tokens are taken.
type known struct {
	sets []knownSet
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
		best.added += b.bound + perBlock
	}
	best.tokens = best.added + perRequest
	for i, set := range k.sets {
		added := set.missing(blocks)
		if tokens := set.tokens + added + perRequest; tokens <= best.tokens {
			best = size{tokens: tokens, from: i, added: added}
		}
	}
	return best
}

// missing is the bound of the blocks that the set does not hold, each as often as it stands there.
func (s knownSet) missing(blocks []block) int64 {
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
			sum += b.bound + perBlock
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
