package config

import "github.com/issue-assistant/issue-assistant/internal/engine"

// Table is one table of config.toml.
type Table struct {
	Name     string
	Doc      string
	Named    bool // a table per name: [prices."my-model"]
	Optional bool // being there means something
	Rules    []Rule
	Names    Rule // what the names of a Named table must be
	MaxNames int
}

// setting binds a rule to the place of its value.
type setting struct {
	table string
	rule  Rule
	field func(*Config) any
}

const (
	hostPattern = `^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`
	// linePattern is any text on one line that neither starts nor ends with a space.
	linePattern   = `^[^\x00-\x20\x7f]([^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?$`
	runnerPattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`
	workPattern   = `^\./\.github/workflows/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.ya?ml$`
)

const (
	modelWords = "a model's full id (a letter or digit first, then letters, digits and . _ : / @ [ ] -, at most 200, no //)"
	labelWords = "a label's name on one line, at most 50 characters"
)

// tableDocs are the tables in the order of the documentation.
var tableDocs = []Table{
	{Name: "engine", Doc: "Which AI reads, and what one run may use. The limits hold for every task."},
	{Name: "limits", Doc: "What strangers may start, and what all runs together may cost."},
	{Name: "post", Doc: "Where an answer goes."},
	{Name: "labels", Doc: "Which labels an answer may set."},
	{Name: "links", Doc: "Which links an answer may hold."},
	{Name: "forms", Doc: "How issue forms are read."},
	{Name: "lifecycle", Doc: "The periods and exemptions of the daily sweep."},
	{Name: "sessions", Doc: "Saved conversations."},
	{Name: "workflows", Doc: "What `install` writes into the workflows; a change needs a new `install`."},
	{Name: "chunk", Doc: "Long-lived agents on a tracker; being there, it switches the poll workflow on.", Optional: true},
}

// settings is the one list of keys, in the order of the documentation. It is a function because its defaults come from
// Default.
func settings() []setting {
	list := append(engineSettings(), otherSettings()...)
	d := Default()
	for i, s := range list {
		if s.table == "chunk" {
			continue
		}
		switch p := s.field(&d).(type) {
		case *string:
			list[i].rule.Default = *p
		case *engine.Name:
			list[i].rule.Default = string(*p)
		case *int:
			list[i].rule.Default = *p
		case *float64:
			list[i].rule.Default = *p
		case *bool:
			list[i].rule.Default = *p
		case *[]string:
			list[i].rule.Default = *p
		}
	}
	return list
}

func engineSettings() []setting {
	model := Rule{Kind: KindText, Words: modelWords, Pattern: modelPattern, Never: "//", Refused: aliasNames(), check: CheckModel}
	light := model
	model.Key, model.Doc = "model", "the model of the analyses and follow-ups: a full id, no alias; the default is that of the engine"
	light.Key, light.Doc = "light_model", "the model of the yes-or-no replies; empty: `model`"
	light.Empty, light.Example = true, `"claude-haiku-4-5"`
	return []setting{
		{
			"engine",
			Rule{Key: "name", Kind: KindText, Doc: "the engine", Enum: engineNames()},
			func(c *Config) any { return &c.Engine.Name },
		},
		{"engine", model, func(c *Config) any { return &c.Engine.Model }},
		{"engine", light, func(c *Config) any { return &c.Engine.LightModel }},
		{"engine", Rule{
			Key: "effort", Kind: KindText, Doc: "how long the model thinks; empty: the engine's default",
			Enum: Efforts, Empty: true, Example: `"medium"`,
		}, func(c *Config) any { return &c.Engine.Effort }},
		{"engine", Rule{
			Key: "max_turns", Kind: KindWhole, Doc: "answers of the model in an analysis; a follow-up gets half, a reply a tenth (at least 4)",
			Min: MinTurns, Max: MaxTurns,
		}, func(c *Config) any { return &c.Engine.MaxTurns }},
		{
			"engine",
			Rule{Key: "max_budget_usd", Kind: KindNumber, Doc: "dollars that one run may cost", Max: MaxBudgetUSD, Above: true},
			func(c *Config) any { return &c.Engine.MaxBudgetUSD },
		},
		{
			"engine",
			Rule{Key: "timeout_minutes", Kind: KindWhole, Doc: "minutes that one run may take", Min: MinMinutes, Max: MaxMinutes},
			func(c *Config) any { return &c.Engine.TimeoutMinutes },
		},
		{"limits", Rule{
			Key: "runs_per_person_per_day", Kind: KindWhole, Doc: "runs that one person without write access may start on a day (UTC)",
			Max: 1000,
		}, func(c *Config) any { return &c.Limits.RunsPerPersonPerDay }},
		{"limits", Rule{
			Key: "runs_per_day", Kind: KindWhole, Doc: "runs that all people without write access together may start on a day (UTC)",
			Max: 10_000,
		}, func(c *Config) any { return &c.Limits.RunsPerDay }},
		{"limits", Rule{
			Key: "monthly_usd", Kind: KindNumber, Doc: "dollars that all runs of a calendar month (UTC) may cost; 0: no cap",
			Max: 100_000,
		}, func(c *Config) any { return &c.Limits.MonthlyUSD }},
	}
}

func otherSettings() []setting {
	labels := Rule{Kind: KindTexts, Words: labelWords, Pattern: linePattern, MaxLen: 50, MaxItems: 100}
	exempt := labels
	exempt.Key, exempt.Doc = "exempt_labels", "issues with one of these labels are never reminded or closed"
	labels.Key, labels.Doc = "deny", "labels that the AI never sets; `*` stands for any text"
	days := func(key, doc string, low, high float64, field func(*Config) any) setting {
		return setting{"lifecycle", Rule{Key: key, Kind: KindWhole, Doc: doc, Min: low, Max: high}, field}
	}
	return []setting{
		{"post", Rule{
			Key: "mode", Kind: KindText, Doc: "`comment`, or `summary`: nothing is posted, the job summary shows it",
			Enum: []string{PostComment, PostSummary},
		}, func(c *Config) any { return &c.Post.Mode }},
		{"labels", labels, func(c *Config) any { return &c.Labels.Deny }},
		{"links", Rule{
			Key: "hosts", Kind: KindTexts, Doc: "hosts that links may point to, besides this repository",
			Words: "a host's name without scheme, port or path", Pattern: hostPattern, MaxLen: 253, MaxItems: 100,
			Example: `["docs.example.org"]`,
		}, func(c *Config) any { return &c.Links.Hosts }},
		{
			"forms",
			Rule{
				Key: "area_field", Kind: KindText, Doc: "the issue form's field that chooses an area label; empty: none",
				Words: "a field's name on one line, at most 100 characters", Pattern: linePattern, MaxLen: 100, Empty: true,
			},
			func(c *Config) any { return &c.Forms.AreaField },
		},
		days("remind_days", "days without an answer until the reporter is reminded", 1, 365,
			func(c *Config) any { return &c.Lifecycle.RemindDays }),
		days("close_days", "days without an answer until the issue is closed; more than `remind_days`", 2, 730,
			func(c *Config) any { return &c.Lifecycle.CloseDays }),
		days("duplicate_days", "days to object before a duplicate is closed", 1, 90,
			func(c *Config) any { return &c.Lifecycle.DuplicateDays }),
		days("reopen_days", "days after a release in which the reporter can say that a problem persists; 0: never", 0, 365,
			func(c *Config) any { return &c.Lifecycle.ReopenDays }),
		{
			"lifecycle",
			Rule{Key: "close_with_release", Kind: KindSwitch, Doc: "fixed issues stay open until the release that holds the fix"},
			func(c *Config) any { return &c.Lifecycle.CloseWithRelease },
		},
		{
			"lifecycle",
			Rule{Key: "close_duplicates", Kind: KindSwitch, Doc: "sure duplicates are closed when nobody objects"},
			func(c *Config) any { return &c.Lifecycle.CloseDuplicates },
		},
		{"lifecycle", exempt, func(c *Config) any { return &c.Lifecycle.ExemptLabels }},
		{"sessions", Rule{
			Key: "mode", Kind: KindText, Doc: "`off`; `shadow`: every run is fresh, its line says what a kept conversation would have cost, and a run that a fault broke off goes on once in its job",
			Enum: []string{SessionsOff, SessionsShadow},
		}, func(c *Config) any { return &c.Sessions.Mode }},
		{"workflows", Rule{
			Key: "runs_on", Kind: KindText, Doc: "the runner of the jobs", Words: "one runner's label",
			Pattern: runnerPattern,
		}, func(c *Config) any { return &c.Workflows.RunsOn }},
		{
			"chunk",
			Rule{
				Key: "work", Kind: KindText, Doc: "the workflow that the poll gate starts", Required: true,
				Words: "the path of a workflow of this repository", Pattern: workPattern, Example: `"./.github/workflows/agent.yml"`,
			},
			func(c *Config) any {
				if c.Chunk == nil {
					c.Chunk = &Chunk{}
				}
				return &c.Chunk.Work
			},
		},
	}
}

// maxPrices bounds the tables below [prices].
const maxPrices = 100

// pricesTable describes [prices."my-model"].
func pricesTable() Table {
	dollars := func(key, doc string, required bool, example string) Rule {
		return Rule{Key: key, Kind: KindNumber, Doc: doc, Max: 10_000, Above: required, Required: required, Example: example}
	}
	return Table{
		Name:  "prices",
		Doc:   "Dollars per million tokens, for a model that the built-in table lacks.",
		Named: true, MaxNames: maxPrices,
		Names: Rule{Kind: KindText, Words: modelWords, Pattern: modelPattern, Never: "//", Refused: aliasNames(), check: CheckModel},
		Rules: []Rule{
			dollars("input", "a million tokens that the model reads", true, "2.0"),
			dollars("output", "a million tokens that the model writes", true, "10.0"),
			dollars("cached_input", "a million tokens read from the provider's cache; the default is `input`", false, "0.2"),
		},
	}
}

// Tables describes config.toml for the schema and the documentation.
func Tables() []Table {
	tables := append([]Table{}, tableDocs...)
	for i := range tables {
		for _, s := range settings() {
			if s.table == tables[i].Name {
				tables[i].Rules = append(tables[i].Rules, s.rule)
			}
		}
	}
	return append(tables, pricesTable())
}

func engineNames() []string {
	names := make([]string, len(engine.Names))
	for i, n := range engine.Names {
		names[i] = string(n)
	}
	return names
}
