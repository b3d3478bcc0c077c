package sanitize

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// FuzzComment puts a text into every place of a comment and asks both oracles and the product's own check.
// `make fuzz-sanitize` runs it; what it finds goes to testdata/corpus, where every test reads it.
func FuzzComment(f *testing.F) {
	path := testtool.Need(f, "cmark-gfm")
	second := startMicromark(f)
	// Without -fuzz the seeds would only repeat TestNothingIsLive.
	seeds := payloads[:10]
	if fuzzing := flag.Lookup("test.fuzz"); fuzzing != nil && fuzzing.Value.String() != "" {
		seeds = corpus(f)
	}
	for _, text := range seeds {
		f.Add(text)
	}
	policy := testPolicy()
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 4<<10 {
			return
		}
		for _, place := range places() {
			once := clean(text, place, policy)
			if twice := clean(once, place, policy); twice != once {
				t.Errorf("place %d: %q is cleaned to %q and that to %q", place, text, once, twice)
			}
		}
		comment := compose(text, policy)
		first, err := readCmark(path, comment)
		if err != nil {
			t.Fatal(err)
		}
		other, err := second.read(comment)
		if err != nil {
			t.Fatal(err)
		}
		if bad := judge(comment, first, other); len(bad) > 0 {
			t.Errorf("%q\nlive: %v\n%s", text, bad, comment)
		}
		if problems := CheckComment(comment, policy); len(problems) > 0 {
			t.Errorf("%q\ncheck: %v\n%s", text, problems, comment)
		}
	})
}

// TestCorpusFilesAreSmall keeps the findings readable: each is one text of a few lines.
func TestCorpusFilesAreSmall(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > 2<<10 {
			t.Errorf("%s: %v, at most 2 KiB", file, err)
		}
	}
}
