package sanitize

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestNothingIsLive is the promise: every text, in every place of a comment, judged by two parsers that are not the one
// that cleaned, and by the product's own check.
func TestNothingIsLive(t *testing.T) {
	t.Parallel()
	path := testtool.Need(t, "cmark-gfm")
	second := startMicromark(t)
	texts := corpus(t)
	if len(texts) < 400 {
		t.Fatalf("%d texts, want at least 400", len(texts))
	}
	policy := testPolicy()
	jobs := make(chan string)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for text := range jobs {
				comment := compose(text, policy)
				first, err := readCmark(path, comment)
				if err != nil {
					t.Error(err)
					continue
				}
				other, err := second.read(comment)
				if err != nil {
					t.Error(err)
					continue
				}
				if bad := judge(comment, first, other); len(bad) > 0 {
					t.Errorf("text %q\nlive: %s\ncomment:\n%s", text, strings.Join(bad, "; "), comment)
				}
				if problems := CheckComment(comment, policy); len(problems) > 0 {
					t.Errorf("text %q\ncheck: %v\ncomment:\n%s", text, problems, comment)
				}
			}
		})
	}
	for _, text := range texts {
		jobs <- text
	}
	close(jobs)
	wg.Wait()
	t.Logf("%d texts in %d places", len(texts), len(places()))
}

// TestCleanTextIsAFixedPoint: cleaning twice is cleaning once, in every place.
func TestCleanTextIsAFixedPoint(t *testing.T) {
	t.Parallel()
	policy := testPolicy()
	for _, text := range corpus(t) {
		for _, place := range places() {
			once := clean(text, place, policy)
			if twice := clean(once, place, policy); twice != once {
				t.Errorf("place %d, text %q (-once +twice):\n%s", place, text, cmp.Diff(once, twice))
			}
		}
	}
}

// places lists all places.
func places() []Place {
	return []Place{Paragraph, ListEntry, NestedEntry, Quote, AfterNumber, Cell, BesideCode, Line}
}

// TestClosingKeywordsBehindAnySpace: #12 may stand as a reference, but not behind a word that closes or marks an issue,
// whatever spaces lie between.
func TestClosingKeywordsBehindAnySpace(t *testing.T) {
	t.Parallel()
	policy := testPolicy()
	for _, space := range []string{" ", "\u00a0", "\u2003", "\u3000", "&nbsp;", ": ", ":\u00a0", " \u00a0 ", strings.Repeat(" ", 60)} {
		for _, word := range []string{"closes", "FIXES", "reſolves", "closeſ", "Duplicate of", "duplicate\u00a0of"} {
			if got := Clean(word+space+"#12", places()[0], policy); !strings.Contains(got, "`#12`") {
				t.Errorf("%q%q: %q is live", word, space, got)
			}
		}
		if got := Clean("sees"+space+"#12", places()[0], policy); strings.Contains(got, "`#12`") {
			t.Errorf("sees%q: %q lost its reference", space, got)
		}
	}
}
