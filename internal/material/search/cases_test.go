package search

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everyCase is an index of all older issues of the cases among a thousand others, without those that hold a word.
func everyCase(t *testing.T, without string) (map[string]dup, *Index) {
	t.Helper()
	cases := loadDups(t)
	x := New()
	for _, id := range []string{"D02", "D03", "D05", "D06", "D08", "D09", "D11", "D14", "D15", "D17", "D20"} {
		for _, others := range []map[string]caseText{cases[id].Others, cases[id].Also.Hard} {
			for number, o := range others {
				if n := atoi(t, number); !has(x, n) || id == "D05" { // D06 says "see D05" of the same original
					x.Add(Doc{Number: n, Title: o.Title, Body: o.Body, State: "open"})
				}
			}
		}
	}
	for i, d := range distractors(31, 1000) {
		if without != "" && strings.Contains(d.Title+d.Body, without) {
			continue
		}
		d.Number = 1_000_001 + i
		x.Add(d)
	}
	return cases, x
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func has(x *Index, n int) bool {
	_, ok := x.byNum[n]
	return ok
}

func (d dup) query() Doc { return Doc{Number: d.New, Title: d.Text.Title, Body: d.Text.Body} }

// A report that shares no word with its original: the original may be missing, but nothing else may be called the same.
func TestCaseD06NothingIsSureWithoutSharedWords(t *testing.T) {
	t.Parallel()
	cases, x := everyCase(t, "")
	hits := x.Similar(cases["D06"].query(), Query{Newer: true})
	for _, h := range hits {
		if h.Verdict == MayBeSame {
			t.Errorf("#%d %q is called the same, by %v", h.Number, h.Title, h.Matched)
		}
		if h.Share > 0.6 {
			t.Errorf("#%d %q is said to cover %.0f %%", h.Number, h.Title, 100*h.Share)
		}
	}
	// The same crash in full words is found, so the silence above is not that of a search that finds nothing.
	x.Add(Doc{Number: 77_000, Title: "ICE: index out of bounds: the len is 0 but the index is 0", Body: "compiler panic in librustc/ty/mod.rs with a long backtrace", State: "open"})
	hits = x.Similar(cases["D06"].query(), Query{Newer: true})
	if len(hits) == 0 || hits[0].Number != 77_000 {
		t.Errorf("the same crash is not first: %+v", hits)
	}
}

// A title of two common words: what finds the original is its body and its code.
func TestCaseD09BodyAndCodeFindWhatTheTitleCannot(t *testing.T) {
	t.Parallel()
	cases, x := everyCase(t, "")
	d := cases["D09"]
	byTitle := x.Similar(Doc{Number: d.New, Title: d.Text.Title}, Query{Newer: true})
	if r := rankOf(byTitle, 241); r != 0 {
		t.Errorf("%q alone finds the original at %d: the case shows nothing", d.Text.Title, r)
	}
	hits := x.Similar(d.query(), Query{Newer: true})
	// Its title was not retrieved: the words of the paraphrase are all there is.
	if r := rankOf(hits, 241); r == 0 || r > 10 {
		t.Errorf("the original has rank %d", r)
	}
	for _, h := range hits {
		if h.Verdict == MayBeSame {
			t.Errorf("#%d is called the same, by %v", h.Number, h.Matched)
		}
		for _, m := range h.Matched {
			if h.Number == 241 && m.Word == "error" {
				t.Error("the original is found by the word of the title")
			}
		}
	}
	// Code alone, with the same names in other surroundings.
	x.Add(Doc{Number: 78_000, Title: "Excess property in nested callback accepted", Body: "```ts\nconst rows: RowShape[][] = [[makeRow(() => ({ rowId: 1, extraCell: 2 }))]]\n```", State: "open"})
	code := Doc{Number: 79_000, Title: "no error", Body: "```ts\nlet grid: RowShape[][]\ngrid = [[makeRow(() => { return { rowId: 7, extraCell: 'x' } })]]\n```"}
	if hits := x.Similar(code, Query{}); len(hits) == 0 || hits[0].Number != 78_000 {
		t.Errorf("the same code is not first: %+v", hits)
	}
}

// A report of two problems: each half finds its own issue, and none is said to cover the whole.
func TestCaseD11EachHalfFindsItsOwn(t *testing.T) {
	t.Parallel()
	// Of the original only "keyboard handling bug" is known: among issues about keyboards no search could tell it.
	cases, x := everyCase(t, "keyboard")
	d := cases["D11"]
	const upgrade = 80_000
	x.Add(Doc{Number: upgrade, Title: "broken upgrade of the SDK", Body: "the upgrade command ends half-way and leaves a broken checkout", State: "open"})
	hits := x.Similar(d.query(), Query{Newer: true})
	words := map[int][]string{}
	for _, h := range hits {
		for _, m := range h.Matched {
			words[h.Number] = append(words[h.Number], m.Word)
		}
	}
	for _, half := range []struct {
		number     int
		has, lacks string
	}{{10826, "keyboard", "upgrade"}, {upgrade, "upgrade", "keyboard"}} {
		r := rankOf(hits, half.number)
		if r == 0 || r > 5 {
			t.Errorf("#%d has rank %d", half.number, r)
			continue
		}
		if h := hits[r-1]; h.Verdict == MayBeSame || h.Share > 0.8 {
			t.Errorf("#%d covers one half and is called %q, share %.2f", h.Number, h.Verdict, h.Share)
		}
		if got := words[half.number]; !slices.Contains(got, half.has) || slices.Contains(got, half.lacks) {
			t.Errorf("#%d matched by %s", half.number, strings.Join(got, ", "))
		}
	}
}
