// Package answer holds the typed answers of the five tasks: their schemas, how raw text becomes an answer, and which
// small faults are mended on the way.
//
// The text is data from a stranger. What leaves [Parse] fits the checked schema; whether the issues, files and labels
// it names exist is looked up later, by package apply.
package answer

import (
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// MaxBytes is the largest raw answer: it travels between jobs in one environment variable, which holds 131,071 bytes.
const MaxBytes = 100_000

// Answer is a checked answer; which of its parts is set depends on the task.
type Answer struct {
	Task            task.Name
	Analysis        *Analysis        // triage, reanalyze
	FollowUp        *FollowUp        // follow-up
	MaintainerReply *MaintainerReply // maintainer-reply
	ReleaseReply    *ReleaseReply    // release-reply
}

// Words of the closed lists.
const (
	ConfidenceHigh   = "high"
	ConfidenceMedium = "medium"

	SensitiveNone     = "none"
	SensitivePersonal = "personal"
	SensitiveSecret   = "secret"

	RelatedIssue      = "issue"
	RelatedDiscussion = "discussion"
)

// Choice is the part of an answer that chooses labels.
type Choice struct {
	Language       string   `json:"language" jsonschema:"maxLength=35" jsonschema_description:"BCP 47 tag of the language this answer is written in, for example en, de, pt-BR"`
	Kind           string   `json:"kind" jsonschema_description:"the one kind that fits the issue best"`
	Areas          []string `json:"areas" jsonschema:"maxItems=3" jsonschema_description:"at most 3 areas the issue is about; empty when none fits"`
	Topics         []string `json:"topics" jsonschema:"maxItems=2" jsonschema_description:"at most 2 topics the issue is about; empty when none fits"`
	LabelRationale string   `json:"label_rationale" jsonschema:"maxLength=280" jsonschema_description:"why these labels, in one sentence of at most 280 characters"`
}

// Analysis answers triage and reanalyze.
type Analysis struct {
	Choice
	Summary            string      `json:"summary" jsonschema:"maxLength=700" jsonschema_description:"what the reporter says, in your words: at most 700 characters"`
	Analysis           string      `json:"analysis" jsonschema:"maxLength=2500" jsonschema_description:"what you found in the documentation, the change log and the code: at most 2500 characters; empty when you found nothing that helps"`
	NextSteps          []string    `json:"next_steps" jsonschema:"maxItems=5,maxLength=400" jsonschema_description:"at most 5 things the reporter can try, each one sentence of at most 400 characters"`
	MissingInformation []string    `json:"missing_information" jsonschema:"maxItems=5,maxLength=400" jsonschema_description:"at most 5 questions without whose answer nobody can go on, each one sentence of at most 400 characters; empty when nothing is missing"`
	Duplicates         []Duplicate `json:"duplicates" jsonschema:"maxItems=3" jsonschema_description:"at most 3 older issues that the same fix would settle, the surest first"`
	Related            []Related   `json:"related" jsonschema:"maxItems=5" jsonschema_description:"at most 5 issues or discussions that help to understand this one"`
	References         []Reference `json:"references" jsonschema:"maxItems=6" jsonschema_description:"at most 6 files of the checkout where to look"`
	SensitiveData      string      `json:"sensitive_data" jsonschema:"enum=none,enum=personal,enum=secret" jsonschema_description:"whether the issue shows data that should not be public: secret for a working password, key or token; personal for data about people; none for placeholders and names of variables"`
	SecurityReport     bool        `json:"security_report" jsonschema_description:"true when the issue describes a weakness that an attacker could use"`
	Spam               bool        `json:"spam" jsonschema_description:"true only for advertising or text without any meaning"`
}

// FollowUp answers follow-up.
type FollowUp struct {
	Choice
	Reply              string      `json:"reply" jsonschema:"maxLength=1500" jsonschema_description:"the answer to what the reporter wrote since: at most 1500 characters"`
	MissingInformation []string    `json:"missing_information" jsonschema:"maxItems=5,maxLength=400" jsonschema_description:"at most 5 questions that are still open and that the reporter can answer, each one sentence of at most 400 characters"`
	References         []Reference `json:"references" jsonschema:"maxItems=6" jsonschema_description:"at most 6 files of the checkout where to look"`
	SensitiveData      string      `json:"sensitive_data" jsonschema:"enum=none,enum=personal,enum=secret" jsonschema_description:"whether the new comments show data that should not be public: secret for a working password, key or token; personal for data about people; none for placeholders and names of variables"`
}

// MaintainerReply answers maintainer-reply.
type MaintainerReply struct {
	WaitingForReporter bool   `json:"waiting_for_reporter" jsonschema_description:"true when the maintainer asks the reporter for something without which the work cannot go on"`
	Reason             string `json:"reason" jsonschema:"maxLength=280" jsonschema_description:"one sentence of at most 280 characters"`
}

// ReleaseReply answers release-reply.
type ReleaseReply struct {
	Language        string `json:"language,omitempty" jsonschema:"maxLength=35" jsonschema_description:"BCP 47 tag of the language the reporter writes in, for example en, de, pt-BR"`
	ProblemPersists bool   `json:"problem_persists" jsonschema_description:"true only when the reporter says that the same problem still happens with that release or a newer one"`
	Reason          string `json:"reason" jsonschema:"maxLength=280" jsonschema_description:"one sentence of at most 280 characters"`
}

// Duplicate is an issue that the same fix would settle.
type Duplicate struct {
	Number     int    `json:"number" jsonschema:"minimum=1" jsonschema_description:"number of an older issue of this repository"`
	Confidence string `json:"confidence" jsonschema:"enum=high,enum=medium" jsonschema_description:"high only when one fix settles both and the other issue is open"`
	Reason     string `json:"reason" jsonschema:"maxLength=280" jsonschema_description:"what both have in common, one sentence of at most 280 characters"`
}

// Related is an issue or a discussion that helps to understand this one.
type Related struct {
	Kind   string `json:"kind" jsonschema:"enum=issue,enum=discussion" jsonschema_description:"whether the number is an issue or a discussion"`
	Number int    `json:"number" jsonschema:"minimum=1" jsonschema_description:"its number in this repository"`
	Reason string `json:"reason" jsonschema:"maxLength=280" jsonschema_description:"what it has to do with this issue, one sentence of at most 280 characters"`
}

// Reference is a place in the checkout. A line of 0 means the whole file; Anchor is the anchor of a Markdown heading.
type Reference struct {
	Path   string `json:"path" jsonschema:"maxLength=200" jsonschema_description:"path of a file of the checkout, from its root"`
	Line   int    `json:"line,omitempty" jsonschema:"minimum=0" jsonschema_description:"number of the line, 0 for the whole file"`
	Anchor string `json:"anchor,omitempty" jsonschema:"maxLength=120" jsonschema_description:"anchor of a heading of a Markdown file, without the number sign; empty for any other place"`
	Reason string `json:"reason" jsonschema:"maxLength=200" jsonschema_description:"what is to be seen there, one sentence of at most 200 characters"`
}

// Labels are the repository's own labels among which an answer chooses.
type Labels struct {
	Kinds, Areas, Topics []config.Label
	Deny                 []string // patterns of names that an answer never sets
}

// LabelsOf picks the labels of the three groups that the settings do not deny.
func LabelsOf(file config.LabelFile, deny []string) Labels {
	pick := func(group string) []config.Label {
		return slices.DeleteFunc(file.In(group), func(l config.Label) bool { return config.DenyLabel(deny, l.Name) })
	}
	return Labels{Kinds: pick(config.GroupType), Areas: pick(config.GroupArea), Topics: pick(config.GroupTopic), Deny: deny}
}

// Asks reports whether an issue of this kind may be asked for more. An unknown kind may.
func (l Labels) Asks(kind string) bool {
	for _, k := range l.Kinds {
		if config.FoldLabel(k.Name) == config.FoldLabel(kind) {
			return k.Ask
		}
	}
	return true
}

func names(labels []config.Label) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = l.Name
	}
	return out
}

// Texts are all words of the answer, in no particular order, for a search over them.
func (a Answer) Texts() []string {
	var out []string
	add := func(s ...string) { out = append(out, s...) }
	choice := func(c Choice) {
		add(c.Language, c.Kind, c.LabelRationale)
		add(c.Areas...)
		add(c.Topics...)
	}
	references := func(list []Reference) {
		for _, r := range list {
			add(r.Path, r.Anchor, r.Reason)
		}
	}
	if x := a.Analysis; x != nil {
		choice(x.Choice)
		add(x.Summary, x.Analysis)
		add(x.NextSteps...)
		add(x.MissingInformation...)
		for _, d := range x.Duplicates {
			add(d.Reason)
		}
		for _, r := range x.Related {
			add(r.Reason)
		}
		references(x.References)
	}
	if x := a.FollowUp; x != nil {
		choice(x.Choice)
		add(x.Reply)
		add(x.MissingInformation...)
		references(x.References)
	}
	if x := a.MaintainerReply; x != nil {
		add(x.Reason)
	}
	if x := a.ReleaseReply; x != nil {
		add(x.Language, x.Reason)
	}
	return out
}
