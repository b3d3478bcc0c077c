package cli

import (
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
	// usage keeps no more of a log of 8 MiB than of one of 1 MiB, and allocates less than twice for a KiB.
	logs := measure("usage")
	for _, form := range []string{"array", "lines"} {
		small, large := logs[form+"/1"], logs[form+"/8"]
		if small.bytes == 0 || large.bytes > 2*small.bytes || large.bytes > 1<<20 {
			t.Errorf("usage, %s: %.0f bytes for 1 MiB, %.0f for 8 MiB", form, small.bytes, large.bytes)
		}
		if large.count > 2*8*1024 {
			t.Errorf("usage, %s: %.0f allocations for 8 MiB", form, large.count)
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
	if len(logs) != 4 || len(texts) != 8 {
		t.Errorf("measured %s", strings.TrimSpace(strconv.Itoa(len(logs))+" logs, "+strconv.Itoa(len(texts))+" texts"))
	}
}
