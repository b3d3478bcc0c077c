package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// values are what every key is tried with, as TOML.
var values = append([]string{
	"-1", "0", "1", "2", "3", "4", "15", "40", "60", "61", "90", "91", "200", "201", "365", "366", "730", "731", "1_000", "1001",
	"10000", "10001", "100000", "100001", "0x10", "9223372036854775807", "-9223372036854775808",
	"0.0", "-0.0", "0.01", "1e-300", "0.5", "3.5", "40.0", "100.0", "100.01", "1e5", "1e300", "nan", "-nan", "inf", "-inf",
	"true", "false", "2026-01-02", "2026-01-02T03:04:05Z", "03:04:05",
	"[]", "[1]", "[[]]", "[true, 'a']", "['a', 'a']", "['a', '']", "['a b']", "['~*']", `["a\nb"]`, "[' a']", "['a ']",
	"['docs.example.org']", "['https://evil.example/x']", "['host:80']", "['-a']", "['a..b']",
	"[" + strings.Repeat("'a',", 20) + "]", "[" + strings.Repeat("'a',", 21) + "]",
	"[" + strings.Repeat("'a',", 100) + "]", "[" + strings.Repeat("'a',", 101) + "]",
	"{}", "{a = 1}", "[{a = 1}]",
}, texts()...)

func texts() []string {
	words := []string{
		"", "a", "1", "40", "a b", " a", "a ", "$(id)", "-x", "a\nb", "a\n", "\n", "a\tb", "\x7f", "https://evil.example/x", "a//b", "a/b:c@d[1]",
		"opus", "default", "Opus", "opus-1", "claude", "Claude", "codex", "gemini", "claude-opus-5-5", "low", "Low", "xhigh", "max", "huge",
		"comment", "summary", "off", "shadow", "auto", "true", "nan", "ubuntu-latest", "ubuntu latest", "${{ x }}", "x: y", "d73a4a", "D73A4A", "#d73a4a", "d73a4",
		"type", "area", "lifecycle", "Type", "spam", "bug",
		"./.github/workflows/agent.yml", "./.github/workflows/agent.yaml", ".github/workflows/agent.yml", "./.github/workflows/../x.yml",
		"./.github/workflows/.yml", "./.github/workflows/a.yml\n", "o/r/.github/workflows/x.yml@main", "äöü", "日本", "e\u0301",
	}
	for _, n := range []int{50, 51, 100, 101, 200, 201, 253, 254} {
		words = append(words, strings.Repeat("m", n), strings.Repeat("ä", n))
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = tomlString(w)
	}
	return quoted
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			fmt.Fprintf(&b, `\%c`, r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TestConfigSchemaEqualsDecoder: an editor with the schema and the decoder agree about every file, except for what two
// keys say together.
func TestConfigSchemaEqualsDecoder(t *testing.T) {
	t.Parallel()
	docs := []string{"", "a = 1", "[a]", "[Engine]", "engine = 1", "engine = []", "[[engine]]", "prices = []", "prices = nan", "[prices]", "chunk = 1"}
	for _, table := range config.Tables() {
		head := "[" + table.Name + "]\n"
		if table.Named {
			head = "[" + table.Name + ".m]\n"
			for _, v := range texts() {
				if !strings.Contains(v, "'") {
					docs = append(docs, "[prices."+v+"]\ninput = 1\noutput = 1")
				}
			}
		}
		docs = append(docs, head, head+"x = 1", strings.ToUpper(head))
		var required []config.Rule
		for _, r := range table.Rules {
			if r.Required {
				required = append(required, r)
			}
		}
		for _, r := range table.Rules {
			others := ""
			for _, o := range required {
				if o.Key != r.Key {
					others += o.Sample() + "\n"
				}
			}
			docs = append(docs, head+r.Sample(), head+strings.ToUpper(r.Key)+" = 1", head+others+r.Sample())
			for _, v := range values {
				docs = append(docs, head+others+r.Key+" = "+v)
			}
		}
	}
	docs = append(docs, "prices = {"+manyPrices(100)+"}", "prices = {"+manyPrices(101)+"}")
	docs = append(docs, caseFiles(t)...)
	compare(t, "config.schema.json", docs, func(data []byte) []diag.Diagnostic {
		_, ds := config.Parse("config.toml", data)
		return ds
	})
}

// entries are documents with one entry of a list: for each key without it, with it, in capitals, and with every value.
func entries(table string, rules []config.Rule) []string {
	var docs []string
	for _, r := range rules {
		others := "[[" + table + "]]\n"
		for _, o := range rules {
			if o.Required && o.Key != r.Key {
				others += o.Sample() + "\n"
			}
		}
		docs = append(docs, others, others+r.Sample(), others+strings.ToUpper(r.Key)+" = 1")
		for _, v := range values {
			docs = append(docs, others+r.Key+" = "+v)
		}
	}
	return docs
}

func TestLabelsSchemaEqualsDecoder(t *testing.T) {
	t.Parallel()
	docs := []string{
		"", "label = 1", "label = []", "label = [1]", "label = {}", "[label]", "labels = []", "[[label]]",
		strings.Repeat("[[label]]\nname='a'\ncolor='ededed'\ndescription='d'\ngroup='type'\n", config.MaxLabels),
		strings.Repeat("[[label]]\nname='a'\ncolor='ededed'\ndescription='d'\ngroup='type'\n", config.MaxLabels+1),
	}
	docs = append(docs, entries("label", config.LabelRules())...)
	docs = append(docs, caseFiles(t)...)
	compare(t, "labels.schema.json", docs, func(data []byte) []diag.Diagnostic {
		_, ds := config.ParseLabels("labels.toml", data)
		return ds
	})
}

func TestFindingsSchemaEqualsDecoder(t *testing.T) {
	t.Parallel()
	const one = "[[accept]]\ntool='a'\nrule='r'\nreason='false positive'\ncomment='c'\n"
	docs := []string{
		"", "accept = 1", "accept = []", "accept = [1]", "accept = {}", "[accept]", "accepts = []", "[[accept]]", one,
		strings.Repeat(one, config.MaxAccepts), strings.Repeat(one, config.MaxAccepts+1),
	}
	expires := config.Rule{Key: "expires", Kind: config.KindText, Example: `"2027-01-31"`}
	docs = append(docs, entries("accept", append(config.FindingRules(), expires))...)
	for _, glob := range []string{
		"tests", "tests/**", "**/*.go", "/tests", "tests/", "../x", "./x", "a/../b", "a/..", "..a/b", "a..b", "...", "[", "[a", "[a-z]/x", "a[/]", "[a]b]", "a]", `a\b`, "*", "?", "a/[b", "",
	} {
		docs = append(docs, one+"path = "+tomlString(glob))
	}
	for _, day := range []string{"2027-01-31", "'2027-01-31'", "'2027-13-01'", "'2027-1-1'", "'tomorrow'", "2027-01-31T00:00:01", "''"} {
		docs = append(docs, one+"expires = "+day)
	}
	docs = append(docs, caseFiles(t)...)
	compare(t, "findings.schema.json", docs, func(data []byte) []diag.Diagnostic {
		_, ds := config.ParseFindings("findings.toml", data)
		return ds
	})
}

func manyPrices(n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf("m%d = {input = 1, output = 2}", i)
	}
	return strings.Join(entries, ", ")
}

func caseFiles(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, pattern := range []string{"testdata/cases/bugs/*.toml", ".issue-assistant/*.toml"} {
		files, err := filepath.Glob(filepath.Join(testtool.Root(t), filepath.FromSlash(pattern)))
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(data))
		}
	}
	return texts
}

func compare(t *testing.T, name string, docs []string, decode func([]byte) []diag.Diagnostic) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "schema", name))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, raw); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for _, doc := range docs {
		tree := map[string]any{}
		if _, err := toml.Decode(doc, &tree); err != nil {
			continue // the schema sees only what is TOML
		}
		ds := decode([]byte(doc))
		if slices.ContainsFunc(ds, together) {
			continue
		}
		bySchema, byDecoder := schema.Validate(instance(tree)), diag.HasErrors(ds)
		if (bySchema != nil) != byDecoder {
			t.Errorf("%.200q\n schema: %v\n decoder: %v", doc, bySchema, ds)
		}
		if byDecoder {
			refused++
		} else {
			accepted++
		}
	}
	t.Logf("%s: %d accepted, %d refused by both", name, accepted, refused)
	if accepted < 100 || refused < 500 {
		t.Errorf("%d accepted and %d refused are too few to say anything", accepted, refused)
	}
}

// together is true of what several keys say together, which no schema says.
func together(d diag.Diagnostic) bool {
	return slices.Contains([]string{"config-conflict", "labels-conflict", "labels-duplicate-label", "labels-no-kind"}, d.Code)
}

// instance turns a TOML tree into what JSON could hold. A date of findings.toml is a text, as
// editors see it; other dates, and numbers that JSON has not, become an object that no rule allows.
func instance(v any) any {
	foreign := map[string]any{"\x00": true}
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			m[k] = instance(e)
			if day, ok := e.(time.Time); ok && k == "expires" && day.Equal(day.Truncate(24*time.Hour)) {
				m[k] = day.Format(time.DateOnly)
			}
		}
		return m
	case []map[string]any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = instance(e)
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = instance(e)
		}
		return list
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return foreign
		}
	case time.Time:
		return foreign
	}
	return v
}
