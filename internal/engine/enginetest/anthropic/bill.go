package anthropic

// Price is what a model costs, in picodollars a token (a dollar per million tokens is 1,000,000 of them).
type Price struct {
	Input, Output, Write5m, Write1h, Read int64
	Above                                 int64 // a request with a longer prompt costs Times as much; 0: never
	Times                                 int64
}

// Prices are the list prices that the CLI 2.1.332 used itself, kept here apart from the meter's table on purpose.
func Prices() map[string]Price {
	return map[string]Price{
		"claude-opus-5-5":   {Input: 4e6, Output: 20e6, Write5m: 5e6, Write1h: 8e6, Read: 2e5},
		"claude-opus-4-8":   {Input: 5e6, Output: 25e6, Write5m: 6.25e6, Write1h: 10e6, Read: 5e5},
		"claude-sonnet-5-5": {Input: 2e6, Output: 10e6, Write5m: 2.5e6, Write1h: 4e6, Read: 1e5},
		"claude-sonnet-4-5": {Input: 3e6, Output: 15e6, Write5m: 3.75e6, Write1h: 6e6, Read: 3e5},
		"claude-haiku-5-5":  {Input: 1e5, Output: 5e5, Write5m: 1.25e5, Write1h: 2e5, Read: 1e4, Above: 100_000, Times: 5},
		"claude-haiku-4-5":  {Input: 1e6, Output: 5e6, Write5m: 1.25e6, Write1h: 2e6, Read: 1e5},
	}
}

// Bill is what the server charges. Pico is in picodollars (1e-12 dollars).
type Bill struct {
	Pico  int64
	Calls int // answers that were charged
	Usage     // the sum of them
}

// USD is the bill in dollars.
func (b Bill) USD() float64 { return float64(b.Pico) / 1e12 }

func (b *Bill) add(o Bill) {
	b.Pico += o.Pico
	b.Calls += o.Calls
	b.Input += o.Input
	b.CachedInput += o.CachedInput
	b.CacheWrite5m += o.CacheWrite5m
	b.CacheWrite1h += o.CacheWrite1h
	b.Output += o.Output
}

// charge prices one answer; speed and geography are those of the request.
func (p Price) charge(u Usage, fast, us bool) Bill {
	pico := u.Input*p.Input + u.CachedInput*p.Read + u.CacheWrite5m*p.Write5m + u.CacheWrite1h*p.Write1h + u.Output*p.Output
	if p.Above > 0 && u.Prompt() > p.Above {
		pico *= p.Times
	}
	if fast {
		pico *= 2
	}
	if us {
		pico = (pico*11 + 9) / 10
	}
	return Bill{Pico: pico, Calls: 1, Usage: u}
}
