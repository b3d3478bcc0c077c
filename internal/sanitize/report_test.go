package sanitize

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestWriteBenchmarks is `make bench-sanitize`: it measures and writes docs/benchmarks/sanitize.md.
func TestWriteBenchmarks(t *testing.T) { //nolint:paralleltest // it measures
	testtool.Asked(t, "SANITIZE_BENCH", "make bench-sanitize")
	policy := testPolicy()
	jobs := []struct {
		name string
		run  func(string)
	}{
		{"clean", func(s string) { Clean(s, Paragraph, policy) }},
		{"check", func(s string) { CheckComment(s, policy) }},
		{"secrets", func(s string) { FindSecrets(s, []string{strings.Repeat("0123456789abcdef", 4)}) }},
		{"material", func(s string) { Material(s) }},
	}
	best := func(run func(string), text string) time.Duration {
		least := time.Hour
		for i := 0; i < 5 || i < 25 && least > 50*time.Millisecond; i++ { // more where other programs may have run between
			start := time.Now()
			run(text)
			least = min(least, time.Since(start))
		}
		return least
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Time to clean\n\nWritten by `make bench-sanitize` on %s/%s, %d processors; best of five (of 25 above 50 ms), one thread.\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Fprintf(&b, "A normal comment of %d bytes (four paragraphs of prose, code and a list each):\n\n| step | ms |\n| --- | ---: |\n", 4*len(normalComment))
	for _, job := range jobs {
		fmt.Fprintf(&b, "| %s | %.2f |\n", job.name, ms(best(job.run, strings.Repeat(normalComment, 4))))
	}
	small, large := hostile(32<<10), hostile(64<<10)
	b.WriteString("\nThe five slowest of " + fmt.Sprint(len(large)) + " hostile texts of 64 KiB, and how many times longer they take than their halves:\n\n| step | text | ms | growth |\n| --- | --- | ---: | ---: |\n")
	for _, job := range jobs {
		type row struct {
			what   string
			time   time.Duration
			growth float64
		}
		var rows []row
		for what, text := range large {
			took := best(job.run, text)
			rows = append(rows, row{what, took, float64(took) / float64(max(1, best(job.run, small[what])))})
		}
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(b.time, a.time) })
		for _, r := range rows[:5] {
			fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f |\n", job.name, r.what, ms(r.time), r.growth)
		}
		if rows[0].time > 100*time.Millisecond {
			t.Errorf("%s takes %v for %s", job.name, rows[0].time, rows[0].what)
		}
	}
	b.WriteString("\nCaps: a text is not parsed but shown as code when it is longer than 256 KiB, nests deeper than 100, or holds more than 2,000 of the marks that pair up (1,000 in one\nblock), if they are an eighth of it; so is one that still changes after 12 passes. The check refuses twice as many in one block.\n")
	path := filepath.Join(testtool.Root(t), "docs", "benchmarks", "sanitize.md")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
