package cli

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// allocated is what one operation of a benchmark takes from the heap.
type allocated struct{ bytes, count float64 }

var benchmarkLine = regexp.MustCompile(`(?m)^BenchmarkBudget/(\S+?)(?:-\d+)?\s.*?(\d+) B/op\s+(\d+) allocs/op$`)

// TestAllocationsStayInTheirBudget counts in programs of their own, without the race detector, which allocates too. The
// counts are the same on a slow machine and on a fast one.
func TestAllocationsStayInTheirBudget(t *testing.T) {
	t.Parallel()
	measure := func(pkg string) map[string]allocated {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", "test", "-run", "^$", "-bench", "^BenchmarkBudget$", "-benchtime", "5x", "-benchmem", "./internal/"+pkg)
		cmd.Dir = testtool.Root(t)
		cmd.Env = append(os.Environ(), "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", pkg, err, out)
		}
		found := map[string]allocated{}
		for _, m := range benchmarkLine.FindAllStringSubmatch(string(out), -1) {
			bytes, err1 := strconv.ParseFloat(m[2], 64)
			count, err2 := strconv.ParseFloat(m[3], 64)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			found[m[1]] = allocated{bytes, count}
		}
		return found
	}
	// usage keeps no more of a large log than of a small one, whether it reads block by block or ahead, and allocates less
	// than twice for a KiB.
	logs := measure("usage")
	for _, form := range []string{"array", "lines"} {
		for _, sizes := range []struct {
			small, large int // MiB
			most         float64
		}{{1, 8, 1 << 20}, {24, 64, 4 << 20}} {
			small, large := logs[fmt.Sprint(form, "/", sizes.small)], logs[fmt.Sprint(form, "/", sizes.large)]
			if small.bytes == 0 || large.bytes > 2*small.bytes || large.bytes > sizes.most {
				t.Errorf("usage, %s: %.0f bytes for %d MiB, %.0f for %d MiB", form, small.bytes, sizes.small, large.bytes, sizes.large)
			}
			if large.count > float64(2*sizes.large<<10) {
				t.Errorf("usage, %s: %.0f allocations for %d MiB", form, large.count, sizes.large)
			}
		}
	}
	// sanitize grows with its text and not faster, and takes a bounded number of bytes for each of it.
	texts := measure("sanitize")
	const length = 8 * 600.0 // of the longer comment, about
	for name, each := range map[string]float64{"clean": 160, "check": 80, "secrets": 120, "material": 40} {
		once, eight := texts[name+"/1"], texts[name+"/8"]
		if once.bytes == 0 || eight.bytes > 12*once.bytes || eight.count > 12*once.count+100 {
			t.Errorf("%s: %.0f bytes in %.0f for one comment, %.0f in %.0f for eight", name, once.bytes, once.count, eight.bytes, eight.count)
		}
		if eight.bytes > each*length {
			t.Errorf("%s: %.0f bytes for a text of about %.0f, more than %.0f for each", name, eight.bytes, length, each)
		}
	}
	if len(logs) != 8 || len(texts) != 8 {
		t.Errorf("measured %s", strings.TrimSpace(strconv.Itoa(len(logs))+" logs, "+strconv.Itoa(len(texts))+" texts"))
	}
}
