package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestTheWorkedExample plays docs/chunks.md: what people do stands in comments of the page, what the agent does are its
// commands, and their output must be what is printed below them. -update writes it.
func TestTheWorkedExample(t *testing.T) {
	t.Parallel()
	file := filepath.Join(testtool.Root(t), "docs", "chunks.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := newChunkRig(t)
	var out []string
	inside := false
	for line := range strings.SplitSeq(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "<!-- example: "):
			for act := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "<!-- example: "), " -->"), "; ") {
				r.act(strings.Fields(act))
			}
		case line == "```console":
			inside = true
		case line == "```" && inside:
			inside = false
		case inside && !strings.HasPrefix(line, "$ "):
			continue // output: written anew below
		}
		out = append(out, line)
		if command, ok := strings.CutPrefix(line, "$ "); ok && inside {
			r.pass(10 * time.Minute)
			token := "tok_a"
			if strings.Contains(command, "--chunk 16") {
				token = "tok_b"
			}
			args := words(strings.TrimPrefix(command, "issue-assistant "))
			code, stdout, errs := r.as(token, args...)
			if code == ExitUsage || code == ExitFailure {
				t.Fatalf("%s: exit %d, %s%s", command, code, stdout, errs)
			}
			if text := strings.TrimRight(stdout, "\n"); text != "" {
				out = append(out, strings.Split(text, "\n")...)
			}
		}
	}
	want := strings.Join(out, "\n")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("docs/chunks.md is not what its commands print (-want +got):\n%s", diff)
	}
	if !strings.Contains(want, "\nchunk 15: wrapped, ready for reset\n") {
		t.Error("the example does not end in \"wrapped, ready for reset\"")
	}
}

// words splits a command as a shell does, as far as the page needs it.
func words(command string) []string {
	var out []string
	for i, part := range strings.Split(command, `"`) {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// act does what people, the agent's tools and other agents do in the example.
func (r *chunkRig) act(words []string) {
	r.t.Helper()
	r.pass(time.Minute)
	n := 0
	if len(words) > 1 {
		n = number(r.t, words[1])
	}
	switch words[0] {
	case "issues":
		for i := 1; i < 15; i++ {
			issue := ghapi.Issue{Number: i, Title: "broken"}
			if i >= 12 {
				issue.Labels = []string{config.LabelReady}
			}
			r.s.AddIssue(issue)
		}
	case "other":
		if id := r.start("tok_b"); id != "16" {
			r.t.Fatalf("the other chunk is %s", id)
		}
	case "pull":
		p := r.pull("15", words[2])
		if p != n {
			r.t.Fatalf("the pull request is %d", p)
		}
	case "remark":
		r.s.CommentAs(n, "maintainer", "Please add a test.")
	case "merge":
		r.s.SetPullState(n, "maintainer", "merged")
	case "bot":
		r.s.AddReview(n, "reviewer[bot]", "The second loop never ends.")
	case "answer":
		r.s.CommentAs(n, "agent-a", "It does: see line 40.\n\n<!-- issue-assistant:chunk-agent chunk=15 -->")
	case "transcripts":
		var b strings.Builder
		enc := json.NewEncoder(&b)
		for i := range 118 {
			context := 24_000 + 1100*i
			err := enc.Encode(map[string]any{
				"type": "assistant", "timestamp": r.now().Add(time.Duration(i) * time.Second).Format(time.RFC3339Nano), "isSidechain": false,
				"message": map[string]any{"id": "msg_" + strconv.Itoa(i), "model": "claude-opus-5-5", "usage": map[string]any{
					"input_tokens": 4, "cache_read_input_tokens": context - 1100, "cache_creation_input_tokens": 1096, "output_tokens": 500,
				}},
			})
			if err != nil {
				r.t.Fatal(err)
			}
		}
		r.file("transcripts/"+fmt.Sprintf("%08d.jsonl", 1), b.String())
	default:
		r.t.Fatalf("%v is no act", words)
	}
}
