package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// State is what a plan does with a file.
type State string

// The states of a file. Kept means that it differs and is left as it is, because somebody edited it.
const (
	Created   State = "created"
	Updated   State = "updated"
	Removed   State = "removed"
	Unchanged State = "unchanged"
	Kept      State = "kept"
)

// Change is what happens to one file. Old is nil when there was none; New is what this release would write.
type Change struct {
	Path  string
	State State
	Old   []byte
	New   []byte
	Note  string
	mode  fs.FileMode
}

// After is what the file holds when the change is made; nil for a file that goes.
func (c Change) After() []byte {
	if c.State == Removed {
		return nil
	}
	return c.New
}

func (c *Change) writes() bool {
	return c.State == Created || c.State == Updated || c.State == Removed
}

// Options decide what a plan holds.
type Options struct {
	Templates fs.FS       // the root that holds workflows/, .issue-assistant/ and the pins
	Pin       Pin         // of the action itself; zero: as in the files that are there
	Engine    engine.Name // empty: what config.toml says, else claude
	Force     bool        // also over edited files
}

// Plan is a set-up before it is written.
type Plan struct {
	Root     string
	Changes  []Change
	Notes    []string // what the maintainer should know
	Config   config.Config
	Settings Settings
	Pins     Pins
}

// SettingsError holds what is wrong with config.toml.
type SettingsError struct{ Diags []diag.Diagnostic }

func (e *SettingsError) Error() string { return config.Path + " is wrong; nothing was written" }

// ErrNoPin means that neither the options nor the files say which commit of the action to use.
var ErrNoPin = errors.New("no commit of the action is known")

// Make looks at the repository and decides what to write; it changes nothing. All refusals come from here.
func Make(rootDir string, o Options) (*Plan, error) {
	root, err := os.OpenRoot(rootDir)
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", unwrapPath(err))
	}
	defer func() { _ = root.Close() }() // only read from
	m := &maker{Plan: &Plan{Root: rootDir}, Options: o, root: root, old: map[string]oldFile{}}
	for _, step := range []func() error{m.load, m.carryOver, m.settings, m.pins, m.workflows, m.rules, m.starters, m.ignore} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m.Plan, nil
}

type oldFile struct {
	data []byte
	mode fs.FileMode
}

type maker struct {
	*Plan
	Options
	root    *os.Root
	old     map[string]oldFile
	carried carried
	starter starter
}

const (
	ignorePath   = ".gitignore"
	findingsPath = config.Dir + "/findings.toml"
	ignoreLine   = "/.issue-assistant/material/"
)

// load reads every file that may be written.
func (m *maker) load() error {
	paths := append(Known(), config.RulesPath, config.Path, config.LabelsPath, findingsPath, ignorePath)
	var errs []error
	for _, p := range paths {
		data, mode, err := read(m.root, p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if mode == 0 {
			mode = 0o644
		}
		m.old[p] = oldFile{data, mode}
	}
	return dedupe(errs)
}

// dedupe joins errors and leaves out repeated ones: one symbolic link spoils many paths.
func dedupe(errs []error) error {
	seen := map[string]bool{}
	var out []error
	for _, err := range errs {
		if !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}

func (m *maker) add(c Change) {
	c.mode = m.old[c.Path].mode
	if c.mode == 0 {
		c.mode = 0o644
	}
	m.Changes = append(m.Changes, c)
}

// settings reads config.toml, or what its starter will say.
func (m *maker) settings() error {
	source := m.old[config.Path].data
	if source == nil {
		name := m.Engine
		if name == "" {
			name = engine.Claude
			if m.carried.engine != "" {
				name = m.carried.engine
			}
		}
		text, err := starterConfig(m.Templates, name, m.carried)
		if err != nil {
			return err
		}
		m.starter.config = text
		source = text
	}
	cfg, ds := config.Parse(config.Path, source)
	if diag.HasErrors(ds) {
		return &SettingsError{ds}
	}
	if m.Engine != "" && m.Engine != cfg.Engine.Name {
		return &SettingsError{[]diag.Diagnostic{{
			Path: config.Path, Severity: diag.Error, Code: "engine-differs",
			Message: fmt.Sprintf("engine.name is %q and --engine says %q", cfg.Engine.Name, m.Engine),
			Hint:    "change engine.name and engine.model in the file, then run install without --engine",
		}}}
	}
	m.Config = cfg
	s, err := settingsOf(m.root.FS(), cfg, m.old[findingsPath].data != nil || m.starter.findings != nil)
	m.Settings = s
	return err
}

// settingsOf picks what install bakes into the workflows.
func settingsOf(root fs.FS, cfg config.Config, findings bool) (Settings, error) {
	s := Settings{Engine: cfg.Engine.Name, RunsOn: cfg.Workflows.RunsOn, Findings: findings}
	if cfg.Chunk != nil {
		work, err := readWork(root, cfg.Chunk.Work)
		if err != nil {
			return s, err
		}
		s.Work = work
	}
	return s, nil
}

// pinSource is the file of this release that names the commits of other actions; updates of it come with the release.
const pinSource = workflowDir + "/issue-assistant-triage.yml"

func releasePins(templates fs.FS) (Pins, error) {
	data, err := fs.ReadFile(templates, pinSource)
	if err != nil {
		return Pins{}, fmt.Errorf("read the pins of this release: %w", err)
	}
	p := pinsOf(data)
	p.Assistant = Pin{} // a release cannot know its own commit
	return p, nil
}

func (m *maker) pins() error {
	base, err := releasePins(m.Templates)
	if err != nil {
		return err
	}
	there := Pins{}
	for _, p := range Known() {
		if data := m.old[p].data; authorOf(data) != foreign {
			there = there.merge(pinsOf(toLF(data)))
		}
	}
	m.Pins = there.merge(base)
	if m.Pin != (Pin{}) {
		m.Pins.Assistant = m.Pin
	}
	if m.Pins.Assistant == (Pin{}) {
		return ErrNoPin
	}
	return nil
}

func (m *maker) workflows() error {
	files, err := Render(m.Templates, m.Settings, m.Pins)
	if err != nil {
		return err
	}
	wanted := map[string][]byte{}
	for _, f := range files {
		wanted[f.Path] = f.Data
	}
	var errs []error
	for _, p := range Known() {
		replace := m.Force || m.carried.is && oldUses().Match(m.old[p].data)
		c, err := planWorkflow(p, m.old[p].data, wanted[p], replace)
		if err != nil {
			errs = append(errs, err)
		} else if c.State != "" {
			m.add(c)
		}
	}
	return errors.Join(errs...)
}

// planWorkflow decides over one generated file; wanted is nil where the settings ask for none. A zero State means that
// there is nothing to do or to say.
func planWorkflow(name string, old, wanted []byte, force bool) (Change, error) {
	c := Change{Path: name, Old: old, New: wanted}
	author := authorOf(old)
	switch {
	case old == nil && wanted == nil:
	case old == nil:
		c.State = Created
	case wanted == nil && author == foreign:
	case wanted == nil && author == pristine:
		c.State, c.Note = Removed, "the settings no longer ask for it"
	case wanted == nil:
		c.State, c.Note = Kept, "the settings no longer ask for it, but it was edited: remove it by hand"
		c.New = old
	case string(toLF(old)) == string(wanted):
		c.State, c.New = Unchanged, old
	case author == foreign && !force:
		return c, fmt.Errorf("%s was not written by install: rename it, or let --force replace it", name)
	case author == edited && !force:
		c.State, c.Note = Kept, "it was edited; --force writes it anew"
	default:
		c.State = Updated
	}
	return c, nil
}
