package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

type caseText struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// dup is a case of testdata/cases/dups.
type dup struct {
	ID       string              `json:"id"`
	New      int                 `json:"new"`
	Original []int               `json:"original"`
	Text     caseText            `json:"new_paraphrase"`
	Others   map[string]caseText `json:"original_paraphrase"`
	Also     struct {
		Hard map[string]caseText `json:"hard_negative"`
	} `json:"also"`
}

func loadDups(t *testing.T) map[string]dup {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "dups", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	cases := map[string]dup{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var d dup
		if err := json.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		cases[d.ID] = d
	}
	return cases
}

// caseIndex holds the older issues of one case among distractors; with others, those of all cases.
func caseIndex(t *testing.T, cases map[string]dup, id string) *Index {
	t.Helper()
	x := New()
	docs := distractors(7, 1000)
	for i, d := range docs {
		d.Number = 1_000_001 + i // newer than every case: found with Newer
		x.Add(d)
	}
	d := cases[id]
	state := "open"
	if id == "D17" || id == "D20" {
		state = "closed"
	}
	for number, o := range d.Others {
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		x.Add(Doc{Number: n, Title: o.Title, Body: o.Body, State: state, PullRequest: id == "D12"})
	}
	if id == "D20" {
		x.Add(Doc{Number: 92172, Title: d.Others["92172"].Title, Body: d.Others["92172"].Body, State: state})
	}
	for number, o := range d.Also.Hard {
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		x.Add(Doc{Number: n, Title: o.Title, Body: o.Body, State: "open"})
	}
	return x
}

func rankOf(hits []Hit, n int) int {
	return slices.IndexFunc(hits, func(h Hit) bool { return h.Number == n }) + 1
}

func TestCasesOfDuplicates(t *testing.T) {
	t.Parallel()
	cases := loadDups(t)
	for id, top := range map[string]int{"D02": 3, "D03": 3, "D05": 1, "D14": 1, "D15": 1, "D20": 5} {
		d := cases[id]
		hits := caseIndex(t, cases, id).Similar(Doc{Number: d.New, Title: d.Text.Title, Body: d.Text.Body}, Query{Newer: true})
		want := d.Original
		if id == "D20" {
			want = []int{92172}
		}
		for _, n := range want {
			if r := rankOf(hits, n); r == 0 || r > top {
				t.Errorf("%s: #%d has rank %d among %d", id, n, r, len(hits))
			}
		}
		for _, h := range hits {
			if h.Verdict == MayBeSame && !slices.Contains(d.Original, h.Number) {
				t.Errorf("%s: too much is said of #%d (%.2f)", id, h.Number, h.Share)
			}
		}
	}
	for id, d := range cases {
		x := caseIndex(t, cases, id)
		for _, h := range x.Similar(Doc{Number: d.New, Title: d.Text.Title, Body: d.Text.Body}, Query{Newer: true}) {
			if _, hard := d.Also.Hard[strconv.Itoa(h.Number)]; (hard || len(d.Original) == 0) && h.Verdict != Related {
				t.Errorf("%s: hard negative #%d is called %q", id, h.Number, h.Verdict)
			}
			if id == "D12" && h.Number == 48731 {
				t.Error("D12: a pull request is offered")
			}
			if id == "D18" {
				t.Errorf("D18: spam finds #%d by %v", h.Number, h.Matched)
			}
		}
		for _, h := range x.Similar(Doc{Number: d.New, Title: d.Text.Title, Body: d.Text.Body}, Query{}) {
			if h.Number >= d.New {
				t.Errorf("%s: a newer issue is offered: #%d", id, h.Number)
			}
		}
	}
	// A report of two problems: what is shared says which half is meant.
	all := New()
	for id, d := range cases {
		for number, o := range d.Others {
			n, _ := strconv.Atoi(number)
			if id != "D12" {
				all.Add(Doc{Number: n, Title: o.Title, Body: o.Body, State: "open"})
			}
		}
	}
	mixed := cases["D11"]
	hits := all.Similar(Doc{Number: mixed.New, Title: mixed.Text.Title, Body: mixed.Text.Body}, Query{Newer: true})
	if r := rankOf(hits, 10826); r == 0 || r > 3 || !slices.ContainsFunc(hits[r-1].Matched, func(m Match) bool { return m.Word == "keyboard" }) {
		t.Errorf("D11: %+v", hits)
	}
	// The older of two never gets the newer one offered.
	d := cases["D14"]
	x := New()
	x.Add(Doc{Number: d.New, Title: d.Text.Title, Body: d.Text.Body, State: "open"})
	if hits := x.Similar(Doc{Number: 4182, Title: d.Others["4182"].Title, Body: d.Others["4182"].Body}, Query{}); len(hits) != 0 {
		t.Errorf("D14: %+v", hits)
	}
}

func TestHitsSayWhatMatched(t *testing.T) {
	t.Parallel()
	x := New()
	x.Add(Doc{Number: 1, Title: "Two halves", Body: "crash in src/plan/planner.go:88\n```\npanic: runtime error: index out of range\nPlanner.firstStage\n```", State: "open", Labels: []string{"deploy"}})
	x.Add(Doc{Number: 2, Title: "Keyboard hides the field", Body: "The soft keyboard covers the text field in landscape.", State: "open"})
	hits := x.Similar(Doc{Number: 9, Title: "deploy: planner.go panics", Body: "panic: runtime error: index out of range in firstStage\n\nAlso the keyboard hides a field in landscape."}, Query{})
	if len(hits) != 2 {
		t.Fatalf("%+v", hits)
	}
	fields := map[int][]string{}
	for _, h := range hits {
		for _, m := range h.Matched {
			fields[h.Number] = append(fields[h.Number], m.Field+" "+m.Word)
		}
	}
	if first := strings.Join(fields[1], ", "); !strings.Contains(first, "path planner.go") || !strings.Contains(first, "error ") {
		t.Errorf("#1: %s", first)
	}
	if second := strings.Join(fields[2], ", "); !strings.Contains(second, "keyboard") || strings.Contains(second, "planner") {
		t.Errorf("#2: %s", second)
	}
}

func TestOnlyOlderAndNeverItself(t *testing.T) {
	t.Parallel()
	x := New()
	text := "the sync engine stops after the folder was renamed on another device"
	for n := 1; n <= 30; n++ {
		x.Add(Doc{Number: n, Title: fmt.Sprint("sync engine stops ", n), Body: text, State: "open"})
	}
	x.Add(Doc{Number: 3, Title: "something else entirely", Body: "print preview cuts tables", State: "open"}) // edited since
	x.Add(Doc{Number: 40, Title: "sync engine stops", Body: text, PullRequest: true})
	d := Doc{Number: 15, Title: "sync engine stops", Body: text}
	for _, h := range x.Similar(d, Query{Max: 100}) {
		if h.Number >= 15 || h.Number == 3 {
			t.Errorf("#%d", h.Number)
		}
	}
	if n := len(x.Similar(d, Query{Newer: true, Max: 100})); n != 28 {
		t.Errorf("%d issues, want 28", n)
	}
	if n := len(x.Similar(d, Query{Newer: true})); n != 20 {
		t.Errorf("%d issues, want 20", n)
	}
	if len(x.byNum) != 30 {
		t.Errorf("%d issues in the index", len(x.byNum))
	}
}

// A closed issue, spam and an empty template are never called the same.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	text := "Segmentation fault in vips_region_prepare when a multi page TIFF is resized by the thumbnail worker"
	for _, state := range []string{"open", "closed"} {
		x := New()
		for _, d := range distractors(3, 200) {
			d.Number = len(x.byNum) + 100
			x.Add(d)
		}
		x.Add(Doc{Number: 5, Title: "TIFF kills the worker", Body: text, State: state})
		hits := x.Similar(Doc{Number: 1000, Title: "TIFF kills the worker", Body: text}, Query{})
		if len(hits) == 0 || hits[0].Number != 5 || (hits[0].Verdict == MayBeSame) != (state == "open") || hits[0].Share < 0.9 {
			t.Errorf("%s: %+v", state, hits)
		}
	}
	x := New()
	x.Add(Doc{Number: 1, Title: "A problem with a user name", Body: "the user name is empty", State: "open"})
	for _, d := range []Doc{
		{Number: 9, Title: "Duplicate of # user-name", Body: "1. \n2. \n3. "},
		{Number: 9, Title: "", Body: ""},
		{Number: 9, Title: "bug", Body: "### Steps\n\n_No response_\n\n### Version\n\n1\n"},
		{Number: 9, Title: "name", Body: "<!-- user name empty problem describe -->"},
	} {
		if hits := x.Similar(d, Query{}); len(hits) != 0 {
			t.Errorf("%q finds %+v", d.Title, hits)
		}
	}
}

func TestLanguagesAndForms(t *testing.T) {
	t.Parallel()
	x := New()
	for i, d := range distractors(4, 300) {
		d.Number = i + 10
		x.Add(d)
	}
	x.Add(Doc{Number: 1, Title: "编辑器打开日志时闪退", Body: "日志很大"})
	x.Add(Doc{Number: 2, Title: "ＴｅｘｔＦｉｅｌｄ ignores fullwidth", Body: "full width letters"})
	x.Add(Doc{Number: 3, Title: "crash", Body: "HTTPServerTimeout_ms is ignored by listen_and_serve"})
	for n, d := range map[int]Doc{
		1: {Number: 900, Title: "大日志导致编辑器崩溃", Body: "打开时出现"},
		2: {Number: 900, Title: "textfield", Body: "fullwidth letters are ignored in text"},
		3: {Number: 900, Title: "option has no effect", Body: "setting `HTTPServerTimeout_ms` before `listen_and_serve` does nothing at all"},
	} {
		if r := rankOf(x.Similar(d, Query{}), n); r == 0 || r > 3 {
			t.Errorf("#%d has rank %d", n, r)
		}
	}
}

// Strangers write the texts: none may take long, or cost much memory.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 1<<16)
	for name, body := range map[string]string{
		"one word": long, "backticks": strings.Repeat("`", 1<<16), "comments": strings.Repeat("<!--", 1<<14), "fences": strings.Repeat("```\n", 1<<14),
		"han": strings.Repeat("错", 1<<15), "slashes": strings.Repeat("a/", 1<<15), "dots": strings.Repeat("a.go ", 1<<13), "invalid": strings.Repeat("\xff\xfe", 1<<15),
		"camel": strings.Repeat("aB", 1<<15), "unique": unique(1 << 14), "urls": strings.Repeat("https://x/", 1<<12), "nul": strings.Repeat("\x00", 1<<16),
		"headings": strings.Repeat("### a\n\n", 1<<13), "colons": strings.Repeat("os:", 1<<14), "marks": strings.Repeat("\u0301", 1<<15),
	} {
		an := newAnalyzer(true)
		a := an.analyze(Doc{Number: 1, Title: body, Body: body, Labels: []string{body, body}})
		if len(a.terms) > 2*maxTerms+2 {
			t.Errorf("%s: %d terms", name, len(a.terms))
		}
		x := New()
		x.Add(Doc{Number: 1, Title: body, Body: body})
		x.Similar(Doc{Number: 2, Title: body, Body: body}, Query{})
	}
}

func unique(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%sx ", strings.Repeat(string(rune('a'+i%26)), 1+i/26%9)+string(rune('a'+i/234%26))+string(rune('a'+i/6084)))
	}
	return b.String()
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	text := "\xef\xbb\xbf" + `{"number":1,"title":"a","body":null,"state":"open","labels":["x",{"name":"y"}],"created_at":"2026-01-02T03:04:05Z"}` + "\r\n\n" +
		`{"number":2,"title":"b","excerpt":"text","state":"closed","state_reason":"completed","labels":null,"opened":"2026-01-03","pull_request":{"url":"x"}}` + "\n"
	var got []Doc
	for d, err := range ReadLines(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d)
	}
	if len(got) != 2 || got[0].Opened != "2026-01-02" || !slices.Equal(got[0].Labels, []string{"x", "y"}) || got[0].PullRequest || !got[1].PullRequest || got[1].Body != "text" || got[1].StateReason != "completed" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"{}\n", "[]\n", "{\"number\":1}\n{\n", `{"number":"1"}`, `{"number":-4}`, strings.Repeat(" ", maxLine+1)} {
		failed := error(nil)
		for _, err := range ReadLines(strings.NewReader(bad)) {
			failed = err
		}
		if failed == nil || !strings.Contains(failed.Error(), "line ") {
			t.Errorf("%.20q: %v", bad, failed)
		}
		if strings.HasPrefix(bad, "  ") && failed.Error() != "line 1: more than the 2097152 bytes that an issue can have" {
			t.Errorf("a long line: %v", failed)
		}
		if err := New().AddAll(ReadLines(strings.NewReader(bad))); err == nil {
			t.Errorf("%.20q is accepted", bad)
		}
	}
}

// AddAll on several processors gives the same index as Add.
func TestAddAllIsAdd(t *testing.T) {
	t.Parallel()
	docs := distractors(9, 500)
	one, all := New(), New()
	for i := range docs {
		docs[i].Number = i + 1
		one.Add(docs[i])
	}
	err := all.AddAll(func(yield func(Doc, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	})
	if err != nil || len(one.byNum) != len(all.byNum) {
		t.Fatal(err, len(one.byNum), len(all.byNum))
	}
	for _, d := range docs[400:450] {
		d.Number = 10_000
		if a, b := one.ranked(d), all.ranked(d); !slices.Equal(a, b) {
			t.Errorf("%v and %v", a, b)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	f.Add("TypeError: x", "### Version\n\n1\n\n```go\nfoo_bar.Baz(x)\n```\nsrc/a.go:1 错误 ーー")
	f.Add("Duplicate of #1", "<!-- x")
	f.Fuzz(func(t *testing.T, title, body string) {
		an := newAnalyzer(true)
		a := an.analyze(Doc{Number: 1, Title: title, Body: body})
		seen := map[uint64]bool{}
		for _, term := range a.terms {
			if seen[term.hash] || term.tf <= 0 || term.in == 0 {
				t.Fatalf("%+v", term)
			}
			seen[term.hash] = true
		}
		x := New()
		x.Add(Doc{Number: 1, Title: title, Body: body, State: "open"})
		for _, h := range x.Similar(Doc{Number: 2, Title: title, Body: body}, Query{}) {
			if h.Number != 1 || h.Share < 0 || h.Share > 1 {
				t.Fatalf("%+v", h)
			}
		}
	})
}
