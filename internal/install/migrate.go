package install

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/BurntSushi/toml"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// carried is what a set-up of the earlier tool (dennis-otto/issue-assistant) says, as far as there is a place for it.
type carried struct {
	engine  engine.Name
	model   string
	hosts   []string
	area    *string
	release *bool
	project string
	is      bool // there is such a set-up
}

type starter struct{ config, labels, findings []byte }

// The files of the earlier tool. They stay where they are.
const (
	oldConfig   = ".github/issue-assistant/config.toml"
	oldProject  = ".github/issue-assistant/project.md"
	oldLabels   = ".github/labels.toml"
	oldFindings = ".github/findings.toml"
)

var (
	oldWorkflows = []string{".github/workflows/issue-assistant.yml", ".github/workflows/issue-lifecycle.yml", ".github/workflows/labels.yml", ".github/workflows/findings.yml"}
	oldUses      = lazy.Regexp(`(?mi)^\s*(?:- )?uses:\s*['"]?dennis-otto/issue-assistant@`)
)

// carryOver reads the earlier tool's set-up, once: only for files of ours that are not there yet.
func (m *maker) carryOver() error {
	conf, _, err := read(m.root, oldConfig)
	if err != nil {
		return err
	}
	project, _, err := read(m.root, oldProject)
	if err != nil {
		return err
	}
	if conf == nil && project == nil {
		return nil
	}
	m.carried.is = true
	labels, _, err := read(m.root, oldLabels)
	if err != nil {
		return err
	}
	findings, _, err := read(m.root, oldFindings)
	if err != nil {
		return err
	}
	if conf != nil && m.old[config.Path].data == nil {
		m.carryConfig(conf)
	}
	if project != nil && m.old[config.RulesPath].data == nil {
		m.carryProject(project)
	}
	if labels != nil && m.old[config.LabelsPath].data == nil {
		if err := m.carryLabels(labels); err != nil {
			return err
		}
	}
	if findings != nil && m.old[findingsPath].data == nil {
		m.carryFindings(findings)
	}
	if m.old[config.RulesPath].data == nil {
		m.note("the environment issue-assistant and its secret go on as they are; the variable ISSUE_ASSISTANT_AI is no longer read: ISSUE_ASSISTANT = off switches everything off")
	}
	return m.nameOldWorkflows()
}

func (m *maker) note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}

func (m *maker) carryConfig(data []byte) {
	var old struct {
		Engine struct {
			Name  string `toml:"name"`
			Model string `toml:"model"`
		} `toml:"engine"`
		Links struct {
			Hosts []string `toml:"hosts"`
		} `toml:"links"`
		Forms struct {
			AreaField *string `toml:"area_field"`
		} `toml:"forms"`
		Releases struct {
			Close *bool `toml:"close_with_release"`
		} `toml:"releases"`
	}
	meta, err := toml.Decode(string(data), &old)
	if err != nil {
		m.note("%s cannot be read and was not carried over", oldConfig)
		return
	}
	m.carryEngine(old.Engine.Name, old.Engine.Model)
	for _, host := range old.Links.Hosts {
		if m.fits("links", "hosts", "[%q]", host) {
			m.carried.hosts = append(m.carried.hosts, host)
		}
	}
	if area := old.Forms.AreaField; area != nil && m.fits("forms", "area_field", "%q", *area) {
		m.carried.area = area
	}
	m.carried.release = old.Releases.Close
	m.note("%s was carried over into %s; the old file stays and may go", oldConfig, config.Path)
	for _, key := range meta.Undecoded() {
		m.note("%s: %q has no counterpart and was left out", oldConfig, key.String())
	}
}

// carryEngine takes the engine and its model, and says what it cannot take. An empty model meant the engine's default.
func (m *maker) carryEngine(name, model string) {
	if name == "" {
		name = string(engine.Claude)
	}
	if !slices.Contains(engine.Names, engine.Name(name)) {
		m.note("%s: the engine %q is not known here and was left out", oldConfig, name)
		return
	}
	m.carried.engine = engine.Name(name)
	switch err := config.CheckModel(model); {
	case model == "":
	case err != nil:
		m.note("%s: the model was left out: %v", oldConfig, err)
	case m.Engine != "" && m.Engine != m.carried.engine:
		m.note("%s: the model %q was left out, it belongs to the engine %s", oldConfig, model, m.carried.engine)
	default:
		m.carried.model = model
	}
}

// fits reports whether a value is one of ours, and notes one that is not.
func (m *maker) fits(table, key, format, value string) bool {
	_, ds := config.Parse(config.Path, fmt.Appendf(nil, "[%s]\n%s = "+format+"\n", table, key, value))
	if !diag.HasErrors(ds) {
		return true
	}
	m.note("%s: %s.%s %q was left out: %s", oldConfig, table, key, value, ds[0].Message)
	return false
}

func (m *maker) carryProject(data []byte) {
	text := strings.TrimSpace(strings.TrimPrefix(string(toLF(data)), "\ufeff"))
	if !utf8.ValidString(text) || strings.Contains(text, "issue-assistant:core") {
		m.note("%s is not UTF-8 or holds our marker, and was not carried over", oldProject)
		return
	}
	if len(text) > config.MaxRulesBytes/2 {
		m.note("%s has %d bytes and was not carried over: rules.md is sent with every request, copy what matters", oldProject, len(text))
		return
	}
	m.carried.project = text
	m.note("%s now stands in %s; the old file stays and may go", oldProject, config.RulesPath)
}

// nameOldWorkflows says which workflows of the earlier tool would run beside the new ones.
func (m *maker) nameOldWorkflows() error {
	for _, p := range oldWorkflows {
		data, _, err := read(m.root, p)
		if err != nil {
			return err
		}
		switch {
		case data == nil || !oldUses().Match(data):
		case p == workflowPath(""):
			m.note("%s of the earlier tool is replaced: ours has the same name; git keeps the old one", p)
		default:
			m.note("%s belongs to the earlier tool: remove it, or both tools answer", p)
		}
	}
	return nil
}

// starterConfig is this release's config.toml for an engine, with what was carried over.
func starterConfig(templates fs.FS, name engine.Name, c carried) ([]byte, error) {
	data, err := fs.ReadFile(templates, config.Path)
	if err != nil {
		return nil, fmt.Errorf("read a starter: %w", err)
	}
	model := config.DefaultModel(name)
	if c.model != "" && c.engine == name {
		model = c.model
	}
	set := map[string]string{"engine.name": strconv.Quote(string(name)), "engine.model": strconv.Quote(model)}
	if len(c.hosts) > 0 {
		quoted := make([]string, len(c.hosts))
		for i, h := range c.hosts {
			quoted[i] = strconv.Quote(h)
		}
		set["links.hosts"] = "[" + strings.Join(quoted, ", ") + "]"
	}
	if c.area != nil {
		set["forms.area_field"] = strconv.Quote(*c.area)
	}
	if c.release != nil {
		set["lifecycle.close_with_release"] = strconv.FormatBool(*c.release)
	}
	return setValues(data, set), nil
}

var (
	tableLine = lazy.Regexp(`^\[([a-z_]+)\]`)
	valueLine = lazy.Regexp(`^([a-z_]+)( *= *)("[^"]*"|\[[^\]]*\]|[^ #]+)(.*)$`)
)

// setValues changes values of the starter, whose form is known, and keeps its comments.
func setValues(data []byte, set map[string]string) []byte {
	lines := strings.Split(string(toLF(data)), "\n")
	table := ""
	for i, line := range lines {
		if m := tableLine().FindStringSubmatch(line); m != nil {
			table = m[1]
			continue
		}
		m := valueLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		value, ok := set[table+"."+m[1]]
		if !ok || value == m[3] {
			continue
		}
		rest := m[4]
		if shift := len(value) - len(m[3]); strings.Contains(rest, "#") && shift != 0 {
			comment := strings.TrimLeft(rest, " ")
			rest = strings.Repeat(" ", max(1, len(rest)-len(comment)-shift)) + comment
		}
		lines[i] = m[1] + m[2] + value + rest
	}
	return []byte(strings.Join(lines, "\n"))
}
