package cli

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// chunkRig is a repository with a poll workflow and two agents, each with an account of its own. Time moves only when it
// is told to, or by sleeping.
type chunkRig struct {
	t    testing.TB
	s    *ghtest.Server
	home string
	dir  string

	mu    sync.Mutex
	clock time.Time
	wrap  func(http.RoundTripper) http.RoundTripper
}

const pollPath = ".github/workflows/issue-assistant-poll.yml"

func newChunkRig(t testing.TB) *chunkRig {
	t.Helper()
	r := &chunkRig{t: t, clock: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), home: t.TempDir(), dir: t.TempDir()}
	r.s = ghtest.New(ghtest.Options{
		Token: "ghs_job", Viewers: map[string]string{"tok_a": "agent-a", "tok_b": "agent-b", "tok_m": "maintainer", "tok_s": "stranger"}, Now: r.now,
		RateLimit: 1 << 30,
	})
	for _, who := range []string{"agent-a", "agent-b", "maintainer"} {
		r.s.SetPermission(who, "write")
	}
	r.s.SetPermission("stranger", "read")
	r.s.AddWorkflow(ghapi.Workflow{Path: pollPath, Name: "poll", State: "disabled_manually"})
	return r
}

func (r *chunkRig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clock
}

func (r *chunkRig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock = r.clock.Add(d)
}

// ready adds issues that an agent may claim.
func (r *chunkRig) ready(n int) []string {
	var out []string
	for range n {
		out = append(out, strconv.Itoa(r.s.AddIssue(ghapi.Issue{Title: "broken", Body: "it breaks", Labels: []string{config.LabelReady}})))
	}
	return out
}

// as runs a command with a token and returns its exit code and what it wrote.
func (r *chunkRig) as(token string, args ...string) (code int, stdout, stderr string) {
	return r.with(token, nil, "", args...)
}

func (r *chunkRig) with(token string, env map[string]string, stdin string, args ...string) (code int, stdout, stderr string) {
	r.t.Helper()
	var out, errs bytes.Buffer
	transport := ghcheck.Transport(r.t, r.s.Transport())
	if r.wrap != nil {
		transport = r.wrap(transport)
	}
	code = Main(context.Background(), Env{
		Args: args, Dir: r.dir, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, HTTP: transport,
		Now: r.now, Sleep: r.pass, Environ: func() []string { return nil },
		Getenv: func(name string) string {
			if v, ok := env[name]; ok {
				return v
			}
			return map[string]string{"GITHUB_REPOSITORY": "octo/demo", "GITHUB_TOKEN": token, "HOME": r.home}[name]
		},
	})
	return code, out.String(), errs.String()
}

// want runs a command and compares exit code and output.
func (r *chunkRig) want(token string, code int, stdout string, args ...string) {
	r.t.Helper()
	r.pass(time.Minute)
	got, out, errs := r.as(token, args...)
	if got != code || strings.TrimSpace(out) != strings.TrimSpace(stdout) {
		r.t.Fatalf("%v: exit %d, output %q; want %d, %q\n%s", args, got, out, code, stdout, errs)
	}
}

// start opens a chunk for agent-a and returns its number.
func (r *chunkRig) start(token string, args ...string) string {
	r.t.Helper()
	code, out, errs := r.as(token, append([]string{"chunk", "start"}, args...)...)
	first, _, _ := strings.Cut(out, "\n")
	id, ok := strings.CutPrefix(first, "chunk ")
	if !ok {
		r.t.Fatalf("start: exit %d, %q, %s", code, out, errs)
	}
	return id
}

func (r *chunkRig) armed() bool {
	for _, w := range r.s.Workflows() {
		if w.Path == pollPath {
			return w.State == "active"
		}
	}
	return false
}

func (r *chunkRig) labels(issue string) string {
	n, err := strconv.Atoi(issue)
	if err != nil {
		r.t.Fatal(err)
	}
	i, _ := r.s.Issue(n)
	return strings.Join(i.Labels, " ")
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// file writes a file into the rig's folder.
func (r *chunkRig) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func TestAChunkFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	r := newChunkRig(t)
	issues := r.ready(2)
	id := r.start("tok_a", issues...)
	if !r.armed() {
		t.Error("the poll is not armed by the first claim")
	}
	if got := r.labels(issues[0]); got != config.LabelReady+" "+config.LabelClaimed {
		t.Errorf("labels %q", got)
	}
	r.want("ghs_job", 0, "chunk "+id+": run: live_and_changed; not known: calls, context_tokens, cost_usd; look at "+issues[0]+", "+issues[1], "chunk", "poll")
	p, q := r.pull(id, issues[0]), r.pull(id, issues[1])
	r.want("tok_a", 0, "chunk "+id+": quiet: no_change", "chunk", "poll", "--chunk", id, "--ran")
	r.s.AddReview(p, "reviewer[bot]", "one fault")
	r.s.SetPullState(p, "maintainer", "merged")
	r.want("tok_a", 0, "chunk "+id+": run: live_and_changed; not known: calls, context_tokens, cost_usd; look at "+issues[0]+", "+strconv.Itoa(p), "chunk", "poll", "--chunk", id)
	r.pass(time.Second)
	r.s.CommentAs(p, "agent-a", "mended in the next one")
	r.s.SetPullState(q, "maintainer", "merged")
	r.want("tok_a", 0, "chunk "+id+": wrap: nothing_live, the poll is switched off", "chunk", "poll", "--chunk", id, "--ran", "--execution-file", r.use(40, 90_000, 3.5))
	r.want("tok_a", 0, "chunk "+id+": wrapped, ready for reset\n2 pull requests · 40 calls · last context 90000 tokens · $3.50 · $1.75 per pull request", "chunk", "wrap", "--chunk", id)
	if r.armed() {
		t.Error("the poll is armed")
	}
	if i, _ := r.s.Issue(number(t, id)); i.State != "closed" {
		t.Errorf("the chunk issue is %s", i.State)
	}
}
