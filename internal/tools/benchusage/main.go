// Command benchusage measures `issue-assistant usage` on large execution files beside jq and Node's JSON.parse, which
// take the last result of the same file, in one run. It writes docs/benchmarks/usage.md.
//
//	go run ./internal/tools/benchusage [-binary PATH] [-sizes 5,100,1024] [-rounds 10] [-out FILE]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/tools/buildflags"
)

func main() {
	binary := flag.String("binary", "", "the program to measure; empty: one is built as it is released")
	sizes := flag.String("sizes", "5,100,1024", "sizes in MiB")
	out := flag.String("out", "docs/benchmarks/usage.md", "where the table goes")
	rounds := flag.Int("rounds", 10, "how often each is run; the best counts")
	flag.Parse()
	if err := bench(*binary, *sizes, *out, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "benchusage:", err)
		os.Exit(1)
	}
}

const (
	jqProgram   = `[.[]|select(.type=="result")]|last|[.total_cost_usd,.num_turns]|tostring`
	jqLines     = `select(.type=="result")|[.total_cost_usd,.num_turns]|tostring`
	nodeProgram = `const t=require("fs").readFileSync(process.argv[1],"utf8");` +
		`const l=process.argv[2]=="lines"?t.trim().split("\n").map(x=>JSON.parse(x)):JSON.parse(t);` +
		`const r=l.filter(x=>x.type=="result").pop();console.log(r.total_cost_usd,r.num_turns)`
)

// one is what one program took for one file, the least of all rounds each.
type one struct {
	wall, cpu time.Duration
	rss       int64 // KiB
	fail      string
}

func bench(binary, sizes, out string, rounds int) (err error) {
	dir, err := os.MkdirTemp("", "benchusage")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if binary == "" {
		if binary, err = build(dir); err != nil {
			return err
		}
	}
	var doc bytes.Buffer
	fmt.Fprintf(&doc, "# Benchmark of `usage`\n\nWritten by `make bench-usage`: %s, %d processors, %s. Each figure is the best of %d runs (one from 1 GiB on, but for\n"+
		"`usage`) of a whole process, one after another, with the file in the page cache: its time, its processor time (user and system, which other\n"+
		"work on the machine changes less), its peak of memory. `usage` is built as it is released. `jq` and Node (`JSON.parse`) take cost and turns of the last result.\n\n"+
		"\"printed array\" is what Claude's action writes, \"lines\" what its command line does, \"one line\" is a log with a single line of that\n"+
		"size; these are read from their ends, with a search for another result in between. \"array on one line\" has no line breaks to go by, and\n"+
		"\"ours\" is an execution file of `run`, whose calls are all added up: both are read whole, ahead by a goroutine.\n\n"+
		"| file | size | usage | processor | memory | jq | processor | memory | Node | processor | memory | jq / usage | processor |\n"+
		"| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
		runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly), rounds)
	for size := range strings.SplitSeq(sizes, ",") {
		mib, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("-sizes: %w", err)
		}
		for _, form := range forms {
			path := filepath.Join(dir, "log")
			if err := form.write(path, int64(mib)<<20); err != nil {
				return err
			}
			others := rounds
			if mib >= 1024 {
				others = 1
			}
			row, err := measure(binary, path, form, rounds, others)
			if err != nil {
				return fmt.Errorf("%s, %d MiB: %w", form.name, mib, err)
			}
			line := fmt.Sprintf("| %s | %d MiB %s\n", form.name, mib, row)
			fmt.Print(line)
			doc.WriteString(line)
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(out, doc.Bytes(), 0o644)
}

// build makes the program as it is released.
func build(dir string) (string, error) {
	binary := filepath.Join(dir, "issue-assistant")
	cmd := exec.CommandContext(context.Background(), "go", append(buildflags.Args(), "-o", binary, "./cmd/issue-assistant")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return binary, nil
}

func measure(binary, path string, f form, rounds, others int) (string, error) {
	mode, filter := "array", []string{"-r", jqProgram}
	if f.lines {
		mode, filter = "lines", []string{"-r", jqLines}
	}
	usage := best(rounds, "$1.25", binary, "usage", "--execution-file", path)
	if usage.fail != "" {
		return "", errors.New(usage.fail)
	}
	jq := best(others, "1.25", "jq", append(filter, path)...)
	node := best(others, "1.25", "node", "-e", nodeProgram, path, mode)
	ratios := "- | -"
	if jq.fail == "" {
		ratios = fmt.Sprintf("%.0f | %.0f", float64(jq.wall)/float64(usage.wall), float64(jq.cpu)/float64(usage.cpu))
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", usage, jq, node, ratios), nil
}

func (o one) String() string {
	if o.fail != "" {
		return "fails | - | -"
	}
	return fmt.Sprintf("%.3f s | %.3f s | %.0f MB", o.wall.Seconds(), o.cpu.Seconds(), float64(o.rss)/1000)
}

// best runs a program and keeps its least time, processor time and its most memory; one that fails or prints something
// else is not tried again.
func best(rounds int, want, name string, args ...string) one {
	result := one{fail: "not run"}
	for range rounds {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
		var text bytes.Buffer
		cmd.Stdout = &text
		begin := time.Now()
		err := cmd.Start()
		peak := make(chan int64, 1)
		if err == nil {
			go func() { peak <- peakOf(cmd.Process.Pid) }()
			err = cmd.Wait()
		}
		wall := time.Since(begin)
		cancel()
		if err != nil || !strings.Contains(text.String(), want) {
			return one{fail: fmt.Sprintf("%s: %v: %.200q", name, err, text.String())}
		}
		cpu, rss := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), <-peak
		if result.fail != "" {
			result = one{wall: wall, cpu: cpu}
		}
		result = one{wall: min(wall, result.wall), cpu: min(cpu, result.cpu), rss: max(rss, result.rss)}
	}
	return result
}

// peakOf reads the most memory that a process had, in kB, until it ends. The kernel's figure for a child that has ended
// will not do: it counts this program's own memory before the child's exec.
func peakOf(pid int) int64 {
	peak := int64(0)
	for {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return peak
		}
		_, rest, found := strings.Cut(string(data), "VmHWM:")
		if !found { // it has ended and waits to be collected
			return peak
		}
		var kB int64
		if _, err := fmt.Sscan(rest, &kB); err == nil {
			peak = max(peak, kB)
		}
		time.Sleep(200 * time.Microsecond)
	}
}
