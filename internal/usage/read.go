package usage

import (
	"bufio"
	"cmp"
	"io"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/claude"
	"github.com/issue-assistant/issue-assistant/internal/engine/codex"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/engine/gemini"
)

// keys are the parts of all engines' events, and of our own.
func keys() enginelog.Want {
	return enginelog.Join(claude.Keys(), codex.Keys(), gemini.Keys(), ownKeys())
}

// Options of Read.
type Options struct {
	Engine engine.Name // whose log it is; empty: the log tells
	Model  string      // what was asked, for logs that do not name their model
	Price  Pricer      // for logs without dollars; nil: such dollars stay unknown
}

// Read reads an execution file of size bytes. The result is always usable; the error says what could not be read.
func Read(file io.ReaderAt, size int64, o Options) (Run, error) {
	if run, ok := fromEnd(file, size, o); ok {
		return run, nil
	}
	const worthAhead = 16 << 20 // smaller files are read within the memory of one block
	open := enginelog.NewReader
	if size >= worthAhead {
		open = enginelog.NewReaderAhead
	}
	return readAll(io.NewSectionReader(file, 0, size), open, o)
}

// readAll reads the whole file.
func readAll(src io.Reader, open func(io.Reader, enginelog.Want) *enginelog.Reader, o Options) (Run, error) {
	text, err := decoded(bufio.NewReaderSize(src, 4<<10))
	if err != nil {
		return Run{Ended: engine.NoData, CostBasis: BasisUnknown}, err
	}
	r := open(text, keys())
	defer r.Stop()
	var c collector
	for {
		ev, ok := r.Next()
		if !ok {
			break
		}
		c.event(ev)
	}
	run := c.run(r.Cut(), o)
	if r.Lost() && !run.Own { // a later result may stand there
		run = Run{
			Engine: run.Engine, EngineVersion: run.EngineVersion, ModelAsked: run.ModelAsked,
			Ended: engine.Unfinished, Detail: "the file is broken", CostBasis: BasisUnknown,
		}
	}
	return run, r.Err()
}

// collector sorts events by whose they are.
type collector struct {
	events int
	own    *ownLog
	claude claude.Log
	codex  codex.Log
	gemini gemini.Log
	last   engine.Name // of the last closing event
}

func (c *collector) event(ev *enginelog.Event) {
	c.events++
	kind := ev.Word("type")
	if kind == engine.TypeRun && c.events == 1 { // only a file that begins so is ours
		c.own = &ownLog{}
	}
	switch kind {
	case engine.TypeRun, engine.TypeHeld, engine.TypeCall, engine.TypeSession, engine.TypeEnd, engine.TypeText:
		if c.own != nil {
			c.own.record(ev, kind)
		}
		return
	}
	switch before := [...]int{c.claude.Results(), c.codex.Results(), c.gemini.Results()}; {
	case c.gemini.Event(ev):
		if c.gemini.Results() > before[2] {
			c.last = engine.Gemini
		}
	case c.claude.Event(ev):
		if c.claude.Results() > before[0] {
			c.last = engine.Claude
		}
	case c.codex.Event(ev):
		if c.codex.Results() > before[1] {
			c.last = engine.Codex
		}
	}
}

// summary is that of the engine whose log it is.
func (c *collector) summary(o Options) (enginelog.Summary, bool) {
	name := c.last
	seen := map[engine.Name]bool{
		engine.Claude: c.claude.Seen(), engine.Codex: c.codex.Seen(), engine.Gemini: c.gemini.Seen(),
	}
	if seen[o.Engine] {
		name = o.Engine
	}
	if name == "" {
		for _, n := range engine.Names {
			if seen[n] {
				name = n
				break
			}
		}
	}
	switch name {
	case engine.Claude:
		return c.claude.Summary(), true
	case engine.Codex:
		return c.codex.Summary(), true
	case engine.Gemini:
		return c.gemini.Summary(), true
	}
	return enginelog.Summary{Ended: engine.NoData}, false
}

func (c *collector) run(cut bool, o Options) Run {
	s, known := c.summary(o)
	price(&s, o)
	var r Run
	switch {
	case c.own != nil:
		r = c.own.summary(s)
	default:
		r = Run{
			Engine: s.Engine, EngineVersion: s.Version, ModelAsked: s.ModelAsked, Models: s.Models, Tokens: s.Tokens,
			Ended: s.Ended, Status: s.Status, Detail: s.Detail, Turns: s.Turns, DurationMS: s.DurationMS,
			CostUSD: s.CostUSD, CostBasis: basisOf(s), Unpriced: s.Unpriced, ToolsDenied: s.ToolsDenied,
			Sessions: s.Sessions,
		}
	}
	if cut && (r.Ended == engine.Unfinished || !known) && r.Detail == "" {
		r.Detail = "the file is cut off"
	}
	sortModels(r.Models)
	return r
}

// price fills in dollars for logs that have none. The price of a sum is an estimate: tiers go by the request.
func price(s *enginelog.Summary, o Options) {
	if o.Price == nil || s.CostUSD != nil || s.Unpriced || (s.Engine != engine.Codex && s.Engine != engine.Gemini) {
		return
	}
	if s.Engine == engine.Codex && len(s.Models) == 0 && s.Tokens != nil {
		name := cmp.Or(s.ModelAsked, o.Model)
		if name == "" {
			return
		}
		s.Models = []enginelog.Model{{ID: enginelog.ModelName(name), Tokens: s.Tokens}}
	}
	total := 0.0
	for i, m := range s.Models {
		if m.Tokens == nil {
			return
		}
		t := *m.Tokens
		usd, ok := o.Price(m.ID, t.Input, t.Cached, t.CacheWrite-t.Write1h, t.Write1h, t.Output)
		if !ok || usd < 0 || usd > enginelog.MaxDollars {
			return
		}
		s.Models[i].CostUSD = &usd
		total += usd
	}
	if len(s.Models) > 0 {
		s.CostUSD, s.Estimate = &total, true
	}
}

// sortModels puts the model that cost most first, then the one with most tokens, then by name.
func sortModels(models []enginelog.Model) {
	weight := func(m enginelog.Model) (float64, int64) {
		var usd float64
		var tokens int64
		if m.CostUSD != nil {
			usd = *m.CostUSD
		}
		if t := m.Tokens; t != nil {
			tokens = t.Input + t.Cached + t.CacheWrite + t.Output
		}
		return usd, tokens
	}
	slices.SortStableFunc(models, func(a, b enginelog.Model) int {
		usdA, tokensA := weight(a)
		usdB, tokensB := weight(b)
		return cmp.Or(cmp.Compare(usdB, usdA), cmp.Compare(tokensB, tokensA), cmp.Compare(a.ID, b.ID))
	})
}
