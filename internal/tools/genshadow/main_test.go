package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/session"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

func TestThePageIsWhatIsComputed(t *testing.T) {
	t.Parallel()
	docs := filepath.Join(testtool.Root(t), "docs")
	page, picture, err := generate(docs)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"sessions.md": page, "sessions.svg": picture} {
		want, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("docs/%s is not what `go run ./internal/tools/genshadow` writes (-want +got):\n%s", name, diff)
		}
	}
	// Written elsewhere, and changed by hand before: the same again.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sessions.md"), bytes.Replace(page, []byte("| $"), []byte("| x$"), 3), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "sessions.md")); err != nil || !bytes.Equal(page, again) {
		t.Errorf("a second run differs (%v)", err)
	}
	for _, r := range session.Reasons {
		if !bytes.Contains(page, []byte("`"+string(r)+"`")) {
			t.Errorf("the page does not name the reason %s", r)
		}
	}
}

func TestAPageWithoutItsPlacesIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "<!-- genshadow: prices -->\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "sessions.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := write(dir); err == nil || !strings.Contains(err.Error(), "place") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := write(t.TempDir()); err == nil {
		t.Error("a page that is not there was written")
	}
}

func prices(t *testing.T) func(string) session.Price {
	t.Helper()
	table, err := meter.Prices(priced())
	if err != nil {
		t.Fatal(err)
	}
	return func(m string) session.Price {
		p := session.PriceOf(table.Cost, m, session.CacheTTL)
		if p == nil {
			t.Fatalf("no price for %s", m)
		}
		return *p
	}
}

// TestBreakEven compares with the published table: contexts in thousands, cold and warm.
func TestBreakEven(t *testing.T) {
	t.Parallel()
	price := prices(t)
	for model, want := range map[string][][2]float64{
		"claude-opus-5-5": {{15, 134}, {30.8, 215}, {62, 311}, {260, 882}},
		"claude-opus-5":   {{15.5, 74}, {32.8, 127}, {67, 196}, {298, 641}},
	} {
		for i, p := range profiles() {
			for j, warm := range []bool{false, true} {
				got := breakEven(p.Profile, price(model), warm) / 1000
				if math.Abs(got-want[i][j]) > 0.01*want[i][j]+0.2 {
					t.Errorf("%s, %s, warm %t: %.1fk, published %.1fk", model, p.name, warm, got, want[i][j])
				}
			}
		}
	}
}

// TestSimulation: every run is counted once, following the decisions is never dearer than they say, and each life is
// the same again.
func TestSimulation(t *testing.T) {
	t.Parallel()
	opus := prices(t)("claude-opus-5-5")
	o := simulate(session.ProfileOf, opus)
	if diff := cmp.Diff(o, simulate(session.ProfileOf, opus), cmp.AllowUnexported(outcome{}, sums{})); diff != "" {
		t.Errorf("a second simulation differs:\n%s", diff)
	}
	headlines, reasons := 0, 0
	for _, n := range o.headline {
		headlines += n
	}
	for _, n := range o.any {
		reasons += n
	}
	if o.runs < 2*issues || headlines != o.fresh || o.fresh+o.resume != o.runs || reasons < headlines || o.resume == 0 {
		t.Errorf("%d runs, %d fresh of which %d have a first reason, %d resumed", o.runs, o.fresh, headlines, o.resume)
	}
	if o.headline[session.WakeIssueOpened] != issues {
		t.Errorf("%d triages of %d issues", o.headline[session.WakeIssueOpened], issues)
	}
	for name, s := range o.perTask {
		if s.decidedUSD > s.freshUSD+1e-9 {
			t.Errorf("%s: following the decisions costs $%.2f, fresh runs $%.2f", name, s.decidedUSD, s.freshUSD)
		}
	}
	if r := o.retries; r.runs == 0 || r.decidedUSD >= r.freshUSD {
		t.Errorf("retries %+v", r)
	}
}
