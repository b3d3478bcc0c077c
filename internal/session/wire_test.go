package session

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func someKept() Kept {
	effort := "medium"
	h := func(s string) string { return Hash(s) }
	return Kept{
		Record: Record{
			Schema: RecordVersion, Key: "follow-up/octo/demo#7", Engine: "claude", EngineVersion: "2.1.332", Model: "claude-opus-5-5[1m]",
			Effort: &effort, RulesHash: h("r"), ConfigHash: h("c"), ToolsHash: h("t"), Permission: PermissionRead, Workspace: h("w"),
			RepositoryID: 42, Head: strings.Repeat("a", 40), BodyHash: h("b"), Ended: "finished", Runs: 2, ContextTokens: 30_000,
			CostUSD: 0.123456, Created: time.Unix(1_800_000_000, 0).UTC(), LastUsed: time.Unix(1_800_000_100, 0).UTC(),
			Warm: map[Bucket]Observed{BucketMinute: {Hits: 3, Misses: 1}},
		},
		Ingested: h("i"), Through: 1234, First: 12_000, Turns: 4, Output: 800,
	}
}

func TestRecordComesBackAsItWas(t *testing.T) {
	t.Parallel()
	k := someKept()
	text := k.Encode()
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(k, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(text, "-") || strings.ContainsAny(text, " \n<>=") || len(text) > 1100 {
		t.Errorf("%d characters: %s", len(text), text)
	}
	k.Effort, k.Warm = nil, nil
	if got, err = Decode(k.Encode()); err != nil || *got.Effort != "" || got.Warm != nil {
		t.Errorf("%+v %v", got, err)
	}
}

// The longest record that a run can write is read again.
func TestLongestRecord(t *testing.T) {
	t.Parallel()
	k := someKept()
	k.Key = "maintainer-reply/" + strings.Repeat("o", 39) + "/" + strings.Repeat("r", 100) + "#2147483647"
	k.Model, k.EngineVersion, k.Head = strings.Repeat("m", 200), strings.Repeat("9", 64), strings.Repeat("f", 64)
	k.RepositoryID, k.Through, k.ContextTokens, k.First, k.Output = 1<<53, 1<<53, maxTokens, maxTokens, maxTokens
	k.CostUSD, k.Runs, k.Turns, k.Ended = maxMicro/1e6, maxCount, maxCount, "finished"
	k.Warm = map[Bucket]Observed{BucketMinute: {maxCount, maxCount}, BucketSmall: {maxCount, maxCount}, BucketLarge: {maxCount, maxCount}}
	if _, err := Decode(k.Encode()); err != nil {
		t.Errorf("%d characters: %v", len(k.Encode()), err)
	}
}

// TestOddRecordsAreNone changes each field to what no run writes. The error names no value.
func TestOddRecordsAreNone(t *testing.T) {
	t.Parallel()
	const evil = "ZEBRA --> @everyone\n::error::"
	for name, change := range map[string]func(map[string]any){
		"key": func(m map[string]any) { m["k"] = evil }, "key of no issue": func(m map[string]any) { m["k"] = "triage/o/r#0" },
		"engine": func(m map[string]any) { m["e"] = evil }, "version": func(m map[string]any) { m["ev"] = evil },
		"model": func(m map[string]any) { m["m"] = "--model" }, "effort": func(m map[string]any) { m["ef"] = "a b" },
		"rules": func(m map[string]any) { m["r"] = evil }, "config": func(m map[string]any) { m["c"] = "" },
		"tools": func(m map[string]any) { m["t"] = strings.Repeat("A", 32) }, "permission": func(m map[string]any) { m["p"] = "admin" },
		"workspace": func(m map[string]any) { m["w"] = "/home/x" }, "repository": func(m map[string]any) { m["n"] = -1 },
		"head": func(m map[string]any) { m["h"] = "main" }, "body": func(m map[string]any) { m["b"] = evil },
		"ingested": func(m map[string]any) { m["i"] = 7 }, "through": func(m map[string]any) { m["z"] = -1 },
		"ended": func(m map[string]any) { m["o"] = "Finished!" }, "runs": func(m map[string]any) { m["u"] = 0 },
		"runs beyond": func(m map[string]any) { m["u"] = maxCount + 1 }, "context": func(m map[string]any) { m["x"] = -5 },
		"context of parts": func(m map[string]any) { m["x"] = 1.5 }, "dollars": func(m map[string]any) { m["d"] = -1 },
		"dollars beyond": func(m map[string]any) { m["d"] = 1e18 }, "created": func(m map[string]any) { m["a"] = 0 },
		"used before it was made": func(m map[string]any) { m["l"] = 5 }, "used beyond": func(m map[string]any) { m["l"] = 1e15 },
		"first": func(m map[string]any) { m["f"] = -1 }, "turns": func(m map[string]any) { m["q"] = -1 }, "output": func(m map[string]any) { m["y"] = -1 },
		"bucket": func(m map[string]any) { m["g"] = map[string]any{evil: map[string]any{"hits": 1}} },
		"hits":   func(m map[string]any) { m["g"] = map[string]any{"small": map[string]any{"hits": -1}} },
		"null":   func(m map[string]any) { m["k"] = nil },
	} {
		raw, err := base64.RawStdEncoding.DecodeString(someKept().Encode())
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(base64.RawStdEncoding.EncodeToString(data))
		if err == nil || strings.Contains(err.Error(), "ZEBRA") || !reflect.DeepEqual(got, Kept{}) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "no base64": "%%%", "no JSON": "AAAA", "cut": someKept().Encode()[:200], "long": strings.Repeat("A", maxEncoded+4),
		"an array": base64.RawStdEncoding.EncodeToString([]byte("[1]")),
	} {
		if _, err := Decode(text); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestARecordOfAnotherVersionIsItsVersionOnly(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{"v":2,"k":"x","u":7}`, `{"v":0}`, `{}`, `{"v":-3,"m":"--model"}`} {
		k, err := Decode(base64.RawStdEncoding.EncodeToString([]byte(doc)))
		want := Kept{Record: Record{Schema: k.Schema}}
		if err != nil || k.Schema == RecordVersion || !reflect.DeepEqual(k, want) {
			t.Errorf("%s: %+v %v", doc, k, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(someKept().Encode())
	f.Add("eyJ2IjoyfQ")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Decode(text)
		if err != nil || k.Schema != RecordVersion {
			return
		}
		again, err := Decode(k.Encode())
		if err != nil {
			t.Fatalf("what was read is not read again: %v", err)
		}
		if diff := cmp.Diff(k, again); diff != "" {
			t.Error(diff)
		}
	})
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	if got := KeyOf("triage", "o/r", 7); got != "triage/o/r#7" {
		t.Error(got)
	}
	for _, k := range []string{KeyOf("", "o/r", 7), KeyOf("triage", "", 7), KeyOf("triage", "o/r", 0)} {
		if k != "" {
			t.Errorf("%q is a key", k)
		}
	}
}

// TestHashes: where texts are cut counts, and so do order, edits and deletions; what came later does not.
func TestHashes(t *testing.T) {
	t.Parallel()
	if Hash("ab", "c") == Hash("a", "bc") || Hash("a") == Hash("a", "") || len(Hash()) != 32 {
		t.Error("two lists of texts have one hash")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var list []Text
	for i := range 50 {
		list = append(list, Text{ID: int64(100 + i), Body: strings.Repeat("x", rng.IntN(5))})
	}
	base := Ingested(list, 149)
	if Ingested(append(list, Text{ID: 150, Body: "new"}), 149) != base {
		t.Error("a new comment changes the hash")
	}
	for i := range list {
		edited := append([]Text(nil), list...)
		edited[i].Body += "!"
		deleted := append(append([]Text(nil), list[:i]...), list[i+1:]...)
		if Ingested(edited, 149) == base || Ingested(deleted, 149) == base {
			t.Errorf("comment %d was edited or deleted unseen", i)
		}
	}
	list[0], list[1] = list[1], list[0]
	if Ingested(list, 149) == base {
		t.Error("the order does not count")
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	in := rowNamed(t, "S04").Input
	d := decide(in)
	s := StateOf(Shadow, d, Compare(in, priceOf(in.Current.Model, 300)), someKept())
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeState(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" || *got.ResumeUSD != 0.3236 || *got.FreshUSD != 0.2704 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{
		"long": strings.Repeat(" ", MaxState+1), "no JSON": "x", "off": strings.Replace(string(data), "shadow", "off", 1),
		"reason": strings.Replace(string(data), "resume_dearer", "because", 1), "facts": strings.Replace(string(data), s.Facts, "AAAA", 1),
	} {
		if _, err := DecodeState([]byte(text)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestCompare says what both ways cost, whatever else decides; a changed set-up makes the cache cold.
func TestCompare(t *testing.T) {
	t.Parallel()
	in := rowNamed(t, "S05").Input // 45k, warm
	price := priceOf(in.Current.Model, 300)
	if e := Compare(in, price); e == nil || e.Warm != 0.9 {
		t.Errorf("%+v", e)
	}
	in.Current.RulesHash = "other"
	e := Compare(in, price)
	if e == nil || e.Warm != 0 {
		t.Fatalf("%+v", e)
	}
	near(t, "cold", e.ResumeUSD, 0.3236)
	for name, change := range map[string]func(*Input){
		"nothing saved": func(i *Input) { i.Saved = nil },
		"other version": func(i *Input) { r := *i.Saved; r.Schema = 2; i.Saved = &r },
		"empty run":     func(i *Input) { r := *i.Saved; r.ContextTokens = 0; i.Saved = &r },
	} {
		changed := in
		change(&changed)
		if Compare(changed, price) != nil {
			t.Errorf("%s: compared", name)
		}
	}
	if Compare(in, nil) != nil {
		t.Error("compared without a price")
	}
}

func TestProfileOf(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(followUp, ProfileOf("follow-up", nil)); diff != "" {
		t.Error(diff)
	}
	k := someKept() // 12,000 at first, 4 turns up to 30,000, 800 tokens of output
	want := Profile{FreshTokens: 12_000, NewTokens: 1_500, ResumedTurns: 2, FreshTurns: 4, GrowthTokens: 6_000, OutputTokens: 200}
	if diff := cmp.Diff(want, ProfileOf("follow-up", &k)); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
	k.Turns = 1
	if p := ProfileOf("triage", &k); p.ResumedTurns != 1 || p.FreshTurns != 1 || p.GrowthTokens != 2_500 {
		t.Errorf("one turn: %+v", p)
	}
	k.First = 0
	if diff := cmp.Diff(ProfileOf("triage", nil), ProfileOf("triage", &k)); diff != "" {
		t.Errorf("not measured: %s", diff)
	}
}

func TestPriceOf(t *testing.T) {
	t.Parallel()
	cost := func(model string, in, cached, w5, w1, out int64) (float64, bool) {
		return (float64(cached)*0.2 + float64(w5)*5 + float64(w1)*8 + float64(out)*20 + float64(in)*4) / 1e6, model == "m"
	}
	if diff := cmp.Diff(&Price{Write: 5, Read: 0.2, Output: 20}, PriceOf(cost, "m", CacheTTL), cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
		t.Error(diff)
	}
	if p := PriceOf(cost, "m", time.Hour); p.Write < 7.99 || p.Write > 8.01 {
		t.Errorf("an hour: %+v", p)
	}
	if PriceOf(cost, "other", CacheTTL) != nil {
		t.Error("a model without a price has one")
	}
}
