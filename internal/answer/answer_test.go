package answer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/shorten"
	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func testLabels() Labels {
	l := func(name, group string) config.Label {
		return config.Label{Name: name, Group: group, Ask: name != "enhancement"}
	}
	return LabelsOf(config.LabelFile{Labels: []config.Label{
		l("bug", config.GroupType), l("enhancement", config.GroupType), l("it's a question", config.GroupType),
		l("~stale", config.GroupType), l("Area: CLI", config.GroupArea), l("area: web", config.GroupArea), l("a", config.GroupArea),
		l("b", config.GroupArea), l("security-approved", config.GroupTopic), l("🐛 crash", config.GroupTopic),
	}}, []string{"~*", "*-approved"})
}

const goodAnalysis = `{"language":"en","kind":"bug","areas":["area: web"],"topics":[],"label_rationale":"r","summary":"s","analysis":"a",
"next_steps":["n"],"missing_information":["m"],"duplicates":[{"number":3,"confidence":"high","reason":"r"}],
"related":[{"kind":"issue","number":4,"reason":"r"}],"references":[{"path":"a.go","line":3,"anchor":"","reason":"r"}],
"sensitive_data":"none","security_report":false,"spam":false}`

// edit returns the good analysis with one property replaced (nil: removed).
func edit(t *testing.T, key string, value any) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(goodAnalysis), &m); err != nil {
		t.Fatal(err)
	}
	m[key] = value
	if value == nil {
		delete(m, key)
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOneFaultEach(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("One sentence. ", 60)
	for _, tt := range []struct {
		name, raw string
		repair    string // part of the one repair
		refused   string // part of the refusal
		check     func(a Analysis) bool
	}{
		{name: "good", raw: goodAnalysis},
		{name: "too long by one", raw: edit(t, "summary", strings.Repeat("x", 701)), repair: "summary: had 701 characters", check: func(a Analysis) bool { return runes(a.Summary) <= 700 }},
		{name: "exactly long enough", raw: edit(t, "summary", strings.Repeat("ü", 700))},
		{name: "cut at a sentence", raw: edit(t, "summary", long), repair: "cut to 700", check: func(a Analysis) bool { return strings.HasSuffix(a.Summary, "sentence.") }},
		{name: "entry too long", raw: edit(t, "next_steps", []string{"a", strings.Repeat("y", 401)}), repair: "next_steps[1]: had 401"},
		{name: "too many entries", raw: edit(t, "next_steps", []string{"1", "2", "3", "4", "5", "6"}), repair: "kept the first 5", check: func(a Analysis) bool { return len(a.NextSteps) == 5 && a.NextSteps[4] == "5" }},
		{name: "extra key", raw: edit(t, "extra\n::error::x", 1), refused: `the answer has what no answer has: "extra\n::error::x"`},
		{name: "missing key", raw: edit(t, "spam", nil), refused: "the answer lacks spam"},
		{name: "label of other case", raw: edit(t, "areas", []string{"AREA: cli"}), repair: `areas: label written as "Area: CLI"`, check: func(a Analysis) bool { return a.Areas[0] == "Area: CLI" }},
		{name: "unknown label", raw: edit(t, "areas", []string{"nope", "a"}), repair: `dropped a label that the repository lacks: "nope"`, check: func(a Analysis) bool { return len(a.Areas) == 1 }},
		{name: "unknown kind", raw: edit(t, "kind", "feature"), repair: "kind: dropped", check: func(a Analysis) bool { return a.Kind == "" }},
		{name: "denied kind", raw: edit(t, "kind", "~stale"), repair: "[labels] deny", check: func(a Analysis) bool { return a.Kind == "" }},
		{name: "denied topic", raw: edit(t, "topics", []string{"Security-Approved"}), repair: "[labels] deny", check: func(a Analysis) bool { return len(a.Topics) == 0 }},
		{name: "emoji label", raw: edit(t, "topics", []string{"🐛 CRASH"}), repair: "🐛 crash", check: func(a Analysis) bool { return a.Topics[0] == "🐛 crash" }},
		{name: "wrong type", raw: edit(t, "summary", 5), refused: "summary is number, want string"},
		{name: "wrong type in a list", raw: edit(t, "areas", []any{5}), refused: "areas[0]"},
		{name: "null", raw: edit(t, "analysis", json.RawMessage("null")), refused: "analysis is null"},
		{name: "wrong word", raw: edit(t, "sensitive_data", "some"), refused: `sensitive_data is "some"`},
		{name: "no language", raw: edit(t, "language", "English, please"), repair: "taken as English", check: func(a Analysis) bool { return a.Language == "en" }},
		{name: "underscore", raw: edit(t, "language", "pt_BR"), check: func(a Analysis) bool { return a.Language == "pt-BR" }},
		{name: "fence", raw: "```json\n" + goodAnalysis + "\n```", repair: "out of a fence"},
		{name: "prose", raw: "Here you go: {not json}\n" + goodAnalysis + "\nBye", repair: "out of other text"},
		{name: "two objects", raw: goodAnalysis + "\n" + goodAnalysis, refused: "more than one JSON object"},
		{name: "no object", raw: "I cannot do that.", refused: "no JSON object"},
		{name: "array", raw: "[" + goodAnalysis + "]", refused: "no JSON object"},
		{name: "cut off", raw: goodAnalysis[:len(goodAnalysis)-9], refused: "no complete JSON"},
		{name: "empty", raw: " \n", refused: "empty"},
		{name: "not UTF-8", raw: "\xff" + goodAnalysis, refused: "not UTF-8"},
		{name: "too large", raw: strings.Repeat(" ", MaxBytes) + goodAnalysis, refused: "more than the 100000"},
		{name: "path too long", raw: edit(t, "references", []any{map[string]any{"path": strings.Repeat("p", 201), "reason": ""}}), repair: "its path is too long", check: func(a Analysis) bool { return len(a.References) == 0 }},
		{name: "line below zero", raw: edit(t, "references", []any{map[string]any{"path": "a", "line": -1, "reason": ""}}), repair: "no file has the line"},
		{name: "null anchor", raw: edit(t, "references", []any{map[string]any{"path": "a", "line": nil, "anchor": nil, "reason": ""}}), check: func(a Analysis) bool { return len(a.References) == 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, repairs, err := Parse(task.Triage, tt.raw, testLabels())
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("error %v, want %q", err, tt.refused)
				}
				if strings.ContainsAny(err.Error(), "\n\r") {
					t.Errorf("the refusal has more than one line: %q", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, r := range repairs {
				all += r.Field + ": " + r.What + " " + shorten.Quoted(r.Value) + "\n"
			}
			if tt.repair == "" && all != "" || !strings.Contains(all, tt.repair) || (tt.repair != "" && len(repairs) != 1) {
				t.Errorf("repairs %q, want one with %q", all, tt.repair)
			}
			if tt.check != nil && !tt.check(*got.Analysis) {
				t.Errorf("got %+v", *got.Analysis)
			}
			// What leaves Parse fits the checked schema.
			again, err := json.Marshal(got.Analysis)
			if err != nil {
				t.Fatal(err)
			}
			if _, more, err := Parse(task.Triage, string(again), testLabels()); err != nil || len(more) > 0 {
				t.Errorf("a second time: %v, %v", more, err)
			}
		})
	}
}

// B67: numbers that are no numbers are dropped; whether the others exist is looked up later.
func TestInventedNumbers(t *testing.T) {
	t.Parallel()
	var list []any
	for _, n := range []any{7, 0, -1, "12", 12.5, 999999, 8, 8, "#9; x", json.RawMessage("8.0"), json.RawMessage("1e3")} {
		list = append(list, map[string]any{"number": n, "confidence": "high", "reason": "r"})
	}
	got, _, err := Parse(task.Triage, edit(t, "duplicates", list), testLabels())
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, d := range got.Analysis.Duplicates {
		numbers = append(numbers, d.Number)
	}
	if diff := cmp.Diff([]int{7, 999999, 8}, numbers); diff != "" {
		t.Error(diff)
	}
}

func TestOtherTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		task task.Name
		raw  string
		ok   bool
	}{
		{task.MaintainerReply, `{"waiting_for_reporter":true,"reason":"asks for a log"}`, true},
		{task.MaintainerReply, `{"waiting_for_reporter":"yes","reason":""}`, false},
		{task.MaintainerReply, `{"waiting_for_reporter":true}`, false},
		{task.ReleaseReply, `{"language":"de","problem_persists":false,"reason":"dankt"}`, true},
		{task.ReleaseReply, `{"problem_persists":false,"reason":""}`, true},
		{task.ReleaseReply, `{"problem_persists":0,"reason":""}`, false},
		{task.FollowUp, `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"","reply":"r","missing_information":[],"references":[],"sensitive_data":"none"}`, true},
		{task.FollowUp, goodAnalysis, false},
		{task.None, `{}`, false},
	} {
		_, _, err := Parse(tt.task, tt.raw, testLabels())
		if (err == nil) != tt.ok {
			t.Errorf("%s %s: %v", tt.task, tt.raw, err)
		}
	}
}

// The engine's schema: closed, all required, no lengths, no single quote, and it takes what Parse takes.
func TestEngineSchema(t *testing.T) {
	t.Parallel()
	for _, name := range task.Names {
		for _, labels := range []Labels{testLabels(), {}} {
			data, err := Schema(name, labels)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			for _, bad := range []string{"'", "\n", "maxLength", "maxItems", "minimum", "$schema", "$ref", "~stale", "-approved"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s: the schema holds %q: %s", name, bad, text)
				}
			}
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			closed(t, string(name), m)
		}
	}
}

func closed(t *testing.T, at string, s map[string]any) {
	t.Helper()
	if s["type"] == "object" {
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		if s["additionalProperties"] != false || len(required) != len(properties) {
			t.Errorf("%s: not closed or not all required: %v", at, s)
		}
		for k, v := range properties {
			p := v.(map[string]any)
			if p["description"] == nil {
				t.Errorf("%s.%s has no description", at, k)
			}
			closed(t, at+"."+k, p)
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		closed(t, at+"[]", items)
	}
}

func TestSchemaTakesGoodAnswer(t *testing.T) {
	t.Parallel()
	data, err := Schema(task.Triage, testLabels())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	good, err := jsonschema.UnmarshalJSON(strings.NewReader(goodAnalysis))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(good); err != nil {
		t.Error(err)
	}
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(edit(t, "kind", "nope")))
	if s.Validate(bad) == nil {
		t.Error("an unknown kind fits")
	}
}

// What is published is what an answer of a repository without labels is held against, but for the descriptions of the
// lists that labels close: nothing of the file is lost on the way in and out.
func TestPublishedSchemas(t *testing.T) {
	t.Parallel()
	for _, name := range task.Names {
		published, err := os.ReadFile(filepath.Join(testtool.Root(t), "schema", "answer-"+string(name)+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		checked, err := checkedSchema(name, Labels{})
		if err != nil {
			t.Fatal(err)
		}
		var want, got map[string]any
		for data, into := range map[*[]byte]*map[string]any{&published: &want, &checked: &got} {
			if err := json.Unmarshal(*data, into); err != nil {
				t.Fatal(err)
			}
		}
		for _, list := range []string{"kind", "areas", "topics"} {
			for _, s := range []map[string]any{want, got} {
				if p, ok := s["properties"].(map[string]any)[list].(map[string]any); ok {
					delete(p, "description")
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"One. Two. Three.", 10, "One. Two."},
		{"一つ目です。二つ目です。三つ目です。", 13, "一つ目です。二つ目です。"},
		{"one two three four", 12, "one two…"},
		{"xxxxxxxxxxxx", 5, "xxxx…"},
		{"ab👩‍👩‍👧‍👦cd", 6, "ab…"},
		{"ééééééé", 4, "éé…"[:len("é")] + "é" + "é…"},
	} {
		if got := cut(tt.in, tt.limit); got != tt.want || runes(got) > tt.limit {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
	code := "Look:\n```go\n" + strings.Repeat("x := 1\n", 100) + "```\nEnd."
	got := cut(code, 200)
	if runes(got) > 200 || openFence(got) != "" {
		t.Errorf("the fence is open: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(goodAnalysis)
	f.Add("```json\n{}\n```")
	f.Add("{{{{[[[")
	f.Fuzz(func(t *testing.T, raw string) {
		for _, name := range []task.Name{task.Triage, task.MaintainerReply} {
			a, repairs, err := Parse(name, raw, testLabels())
			if err != nil {
				if strings.ContainsAny(err.Error(), "\n\r\x1b") {
					t.Errorf("refusal %q", err)
				}
				continue
			}
			for _, r := range repairs {
				if strings.ContainsAny(r.Field+r.What, "\n\r\x1b") {
					t.Errorf("repair %q", r)
				}
			}
			if x := a.Analysis; x != nil && (runes(x.Summary) > 700 || len(x.Duplicates) > 3 || len(x.Areas) > 3) {
				t.Errorf("too long: %+v", x)
			}
		}
	})
}

func TestManyBraces(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{strings.Repeat("{", MaxBytes), "x" + strings.Repeat(`{"a":`, MaxBytes/5-1), "x" + strings.Repeat("{} ", 3)} {
		if _, _, err := Parse(task.Triage, raw, testLabels()); err == nil {
			t.Error("taken")
		}
	}
}
