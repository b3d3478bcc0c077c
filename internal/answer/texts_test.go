package answer

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/task"
)

// words of closed lists hold nothing of the AI's own.
var closedWords = map[string]bool{"Confidence": true, "SensitiveData": true, "Related.Kind": true}

// fill gives every text below v a value of its own and returns those that the AI is free in.
func fill(v reflect.Value, name string, n *int) []string {
	var out []string
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), name, n)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i).Name
			full := v.Type().Name() + "." + field
			texts := fill(v.Field(i), full, n)
			if !closedWords[field] && !closedWords[full] {
				out = append(out, texts...)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			out = append(out, fill(v.Index(i), name, n)...)
		}
	case reflect.String:
		*n++
		v.SetString(fmt.Sprintf("%s#%d", name, *n))
		out = append(out, v.String())
	default: // numbers and yes or no
	}
	return out
}

// TestTextsHoldEveryWordOfTheAI fails when a new field of an answer is not searched for secrets.
func TestTextsHoldEveryWordOfTheAI(t *testing.T) {
	t.Parallel()
	for _, a := range []Answer{{Analysis: &Analysis{}}, {FollowUp: &FollowUp{}}, {MaintainerReply: &MaintainerReply{}}, {ReleaseReply: &ReleaseReply{}}} {
		v := reflect.ValueOf(&a).Elem()
		n, want := 0, []string(nil)
		for _, f := range v.Fields() {
			if f.Kind() == reflect.Pointer && !f.IsNil() {
				want = append(want, fill(f.Elem(), f.Type().Elem().Name(), &n)...)
			}
		}
		if len(want) == 0 {
			t.Fatalf("%+v has no texts", a)
		}
		got := strings.Join(a.Texts(), "\n") + "\n"
		for _, w := range want {
			if !strings.Contains(got, w+"\n") {
				t.Errorf("%s is not among the texts", w)
			}
		}
	}
}

func TestAsks(t *testing.T) {
	t.Parallel()
	labels := testLabels()
	for kind, want := range map[string]bool{"bug": true, "Enhancement": false, "it's a question": true, "": true, "unknown": true} {
		if got := labels.Asks(kind); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

// TestRefusalsNameThePlace: what the checker finds becomes one line that says where and what.
func TestRefusalsNameThePlace(t *testing.T) {
	t.Parallel()
	one := func(key string, entry map[string]any) string { return edit(t, key, []any{entry}) }
	for name, c := range map[string]struct{ raw, want string }{
		"deep word":       {one("duplicates", map[string]any{"number": 3, "confidence": "low\n::error::", "reason": ""}), `duplicates[0].confidence is "low\n::error::", which is none of the words`},
		"word of no text": {one("related", map[string]any{"number": 3, "kind": 7, "reason": ""}), "related[0].kind is"},
		"deep extra":      {one("references", map[string]any{"path": "a", "reason": "", "url": "https://x"}), `references[0] has what no answer has: "url"`},
		"deep lack":       {one("references", map[string]any{"path": "a"}), "references[0] lacks reason"},
		"a list":          {edit(t, "next_steps", "one"), "next_steps is string, want array"},
		"an entry":        {edit(t, "missing_information", []any{"a", nil}), "missing_information[1] is null, want string"},
		"an object":       {edit(t, "duplicates", []any{3}), "duplicates[0] is number, want object"},
		"long extra":      {edit(t, strings.Repeat("k", 90), 1), `"` + strings.Repeat("k", 60) + `"…`},
		"yes in words":    {edit(t, "security_report", "yes"), "security_report is string, want boolean"},
		"nested answer":   {`{"answer":` + goodAnalysis + `}`, "the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Parse(task.Triage, c.raw, testLabels())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestPropertiesOfSchemas: a schema that was edited by hand into what the reader does not know is refused, not cut down.
func TestPropertiesOfSchemas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[]`, `"a"`, `{"a":1}`, `{"a":{"type":5}}`, `{"a":{"pattern":"x"}}`, `{"a":{"properties":[]}}`, `{"a"`, ``} {
		var p properties
		if err := p.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	const order = `{"b":{"type":"string"},"a":{"items":{"type":"integer"},"type":"array"}}`
	var p properties
	if err := p.UnmarshalJSON([]byte(order)); err != nil {
		t.Fatal(err)
	}
	if got, err := p.MarshalJSON(); err != nil || string(got) != order {
		t.Errorf("got %s, %v", got, err)
	}
	if p.get("a") == nil || p.get("c") != nil {
		t.Error("properties are not found by their name")
	}
}
