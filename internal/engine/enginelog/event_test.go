package enginelog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]float64{
		"0": 0, "-0": 0, "3.0": 3, "2e-1": 0.2, "1.5E+1": 15, "123456789": 123456789,
	} {
		if x, ok := (Field{Raw: []byte(raw)}).Number(); !ok || x != want {
			t.Errorf("%s is %v, %t", raw, x, ok)
		}
	}
	for _, raw := range []string{
		"", "NaN", "Infinity", "-Infinity", "1e400", "0x10", "+1", ".5", "1.", "01", "1_000", "1e", "true", "null", `"1"`,
		"[1]", "-", "--1", "1 ", "1e5000000000",
	} {
		if x, ok := (Field{Raw: []byte(raw)}).Number(); ok {
			t.Errorf("%q is the number %v", raw, x)
		}
	}
	if _, ok := (Field{Raw: []byte("12"), Cut: true}).Number(); ok {
		t.Error("half a number is a number")
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	field := func(raw string) Field { return Field{Raw: []byte(raw)} }
	for _, raw := range []string{"-1", "1.5", "1000001", "1e300"} {
		if n := field(raw).Count(MaxTurns); n != nil {
			t.Errorf("%s counts as %d", raw, *n)
		}
	}
	if n := field("3e0").Count(MaxTurns); n == nil || *n != 3 {
		t.Error("3e0 is not 3")
	}
	for _, raw := range []string{"-0.01", "10000.01", "1e99"} {
		if x := field(raw).Dollars(); x != nil {
			t.Errorf("%s is %v dollars", raw, *x)
		}
	}
	if x := field("-0.0").Dollars(); x == nil || 1/(*x) < 0 {
		t.Error("-0.0 is not 0")
	}
	if ms := field("1500.7").Millis(); ms == nil || *ms != 1500 {
		t.Error("1500.7 is not 1500 ms")
	}
	if ms := field("1e15").Millis(); ms != nil {
		t.Errorf("1e15 is %d ms", *ms)
	}
}

func TestFieldText(t *testing.T) {
	t.Parallel()
	ev, ok := Parse([]byte(`{"type":"caf\u00e9 \ud83d","n":true,"s":"a\u0041bcdef","o":{"a":1,"a":2,"b":"x"}}`),
		Want{"type": 64, "n": 64, "s": 5, "o": 64})
	if !ok {
		t.Fatal("not parsed")
	}
	if s, ok := ev.Str("type"); !ok || s != "café \ufffd" {
		t.Errorf("type is %q", s)
	}
	if ev.Word("type") != "" || ev.Word("n") != "" || ev.Word("missing") != "" {
		t.Error("what is no plain string is a word")
	}
	if v, ok := ev.Field("n").Bool(); !v || !ok {
		t.Error("true is not true")
	}
	if _, ok := ev.Field("s").Bool(); ok {
		t.Error("a string is a truth value")
	}
	if s := ev.Field("s"); !s.Cut || s.Text() != "a" {
		t.Errorf("the start of a cut string is %q", s.Text())
	}
	if _, ok := ev.Str("s"); ok {
		t.Error("a cut string is a string")
	}
	o := ev.Field("o").Sub()
	if got := string(o.Get("a").Raw); got != "2" || !o.Has("b") || o.Has("B") || o.Get("c").Kind() != 0 {
		t.Errorf("a is %q", got)
	}
	if (Field{Raw: []byte("null")}).IsNull() != true || (Field{}).Text() != "" || (Field{Raw: []byte("[]")}).Sub() != nil {
		t.Error("null, nothing or an array is taken for something else")
	}
	raw := Field{Raw: []byte("\"a\x01b\"")}
	if s, ok := raw.Str(); !ok || s != "a\x01b" {
		t.Errorf("a raw control character gives %q", s)
	}
}

func TestMembersOfACutObject(t *testing.T) {
	t.Parallel()
	whole := `{"a": {"x":[1,2]} , "b":"}\"", "c":[ ], "d":12}`
	for n := range len(whole) {
		for _, m := range members([]byte(whole[:n])) {
			if !json.Valid(m.Value.Raw) {
				t.Errorf("cut at %d: %s is %q", n, m.Key, m.Value.Raw)
			}
		}
	}
	var keys []string
	for _, m := range members([]byte(whole)) {
		keys = append(keys, m.Key)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, keys); diff != "" {
		t.Error(diff)
	}
	many := "{" + strings.Repeat(`"k":1,`, maxMembers+5) + `"z":1}`
	if n := len(members([]byte(many))); n != maxMembers {
		t.Errorf("%d members", n)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"claude-opus-5-5", "us.anthropic.claude-opus-4-6-v1", "claude-opus-4-7[1m]", "a:b/c@d_e", strings.Repeat("a", 200),
	} {
		if ModelName(name) != name {
			t.Errorf("%q is no model name", name)
		}
	}
	for _, name := range []string{
		"", "-x", "a b", "a\nb", "https://evil.example/x", "a|b", "<b>", "[x](y)", "`", "a\x1b", "ü", strings.Repeat("a", 201), "a\n",
	} {
		if got := ModelName(name); got != UnknownModel {
			t.Errorf("%q is the model %q", name, got)
		}
	}
	if SmallWord("future_status") == "" || SmallWord("Future") != "" || SmallWord("a b") != "" || SmallWord("a\n") != "" {
		t.Error("small words")
	}
	if Version("2.1.332") == "" || Version("1.0-rc.1+x") == "" || Version("1 | 2") != "" || Version("") != "" {
		t.Error("versions")
	}
	for text, blank := range map[string]bool{"": true, " \n\u200b\ufeff\u2060": true, "a": false, ".": false, "🙂": false} {
		if IsBlank(text) != blank {
			t.Errorf("IsBlank(%q) = %t", text, !blank)
		}
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[1,"x"]}}`))
	f.Add([]byte(`{"a\"":"\\","b":[{}],}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || data[0] != '{' {
			return
		}
		found := members(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil {
			return
		}
		for key, value := range want {
			if strings.ContainsAny(key, "\"\\\ufffd") {
				continue
			}
			got := Members(found).Get(key)
			if !found.Has(key) {
				// the key stands in the file with escapes
				continue
			}
			if !json.Valid(got.Raw) {
				t.Errorf("%q: %q, want %q", key, got.Raw, value)
			}
		}
		if len(want) > 0 && len(found) == 0 {
			t.Errorf("no members in %q", data)
		}
	})
}
