package tracker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/chunk/tracker"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
)

// world is a repository in which several agents act at once. One request is answered at a time; the seed chooses whose.
type world struct {
	t     *testing.T
	s     *ghtest.Server
	rnd   *rand.Rand
	lost  float64 // share of writes whose answer is lost, or that never arrive
	late  float64 // share of lists that show an earlier state
	calls chan request
	old   map[string][][]byte // earlier states of a list, by its address

	mu    sync.Mutex
	clock time.Time
}

type request struct {
	actor int
	req   *http.Request
	reply chan answer
}

type answer struct {
	resp *http.Response
	err  error
}

func newWorld(t *testing.T, seed uint64, lost, late float64) *world {
	t.Helper()
	w := &world{
		t: t, rnd: rand.New(rand.NewPCG(seed, 15)), lost: lost, late: late, calls: make(chan request), old: map[string][][]byte{},
		clock: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
	}
	w.s = ghtest.New(ghtest.Options{
		Token: "ghs_job", Viewers: map[string]string{"a": "agent-a", "b": "agent-b"}, RateLimit: 1 << 30, Now: w.now,
	})
	w.s.SetPermission("agent-a", "write")
	w.s.SetPermission("agent-b", "write")
	w.s.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/" + tracker.PollFile})
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// tracker is an agent's; with an actor of at least 0 its requests wait for their turn.
func (w *world) tracker(token string, actor int) *tracker.Tracker {
	w.t.Helper()
	send := w.s.Transport()
	if actor >= 0 {
		send = transport(func(r *http.Request) (*http.Response, error) {
			reply := make(chan answer)
			w.calls <- request{actor, r, reply}
			got := <-reply
			return got.resp, got.err
		})
	}
	c, err := ghapi.New(ghapi.Options{Repo: "octo/demo", Token: token, HTTP: send, Now: w.now, Sleep: w.pass, WaitBudget: 24 * time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	return &tracker.Tracker{
		Client: c, Writer: ghapi.NewWriter(c), Now: w.now, Sleep: w.pass, Warn: func(string) {},
		Nonce: func() string { n++; return fmt.Sprintf("%s%d.%d", token, actor, n) },
	}
}

// together runs the actors until all are done.
func (w *world) together(actors ...func()) {
	done := make(chan struct{})
	for _, act := range actors {
		go func() {
			act()
			done <- struct{}{}
		}()
	}
	var waiting []request
	for left := len(actors); left > 0; {
		for len(waiting) < left { // until everybody who still acts has asked for something
			select {
			case r := <-w.calls:
				waiting = append(waiting, r)
			case <-done:
				left--
			}
		}
		if left == 0 {
			return
		}
		slices.SortFunc(waiting, func(a, b request) int { return a.actor - b.actor })
		i := w.rnd.IntN(len(waiting))
		r := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		resp, err := w.serve(r.req) //nolint:bodyclose // the client that asked closes it
		r.reply <- answer{resp, err}
	}
}

var commentsPath = regexp.MustCompile(`^/repos/octo/demo/issues/(?:comments/)?(\d+)`)

// serve answers one request, now and then wrongly.
func (w *world) serve(r *http.Request) (*http.Response, error) {
	send := w.s.Transport()
	write := r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/graphql")
	list := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/comments")
	w.pass(time.Duration(w.rnd.IntN(3)) * time.Second)
	switch {
	case write:
		if m := commentsPath.FindStringSubmatch(r.URL.Path); m != nil && strings.HasSuffix(r.URL.Path, "/comments") {
			w.remember(send, m[1])
		}
		if w.rnd.Float64() < w.lost {
			if w.rnd.IntN(2) == 0 {
				return nil, io.ErrUnexpectedEOF // it never arrived
			}
			if _, err := send.RoundTrip(r); err != nil {
				return nil, err
			}
			return nil, io.ErrUnexpectedEOF // its answer is lost
		}
	case list && w.rnd.Float64() < w.late:
		if states := w.old[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/repos/octo/demo/issues/"), "/comments")]; len(states) > 0 {
			body := states[max(0, len(states)-1-w.rnd.IntN(2))]
			return &http.Response{
				StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
				Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
			}, nil
		}
	}
	return send.RoundTrip(r)
}

func (w *world) remember(send http.RoundTripper, issue string) {
	r, err := http.NewRequest(http.MethodGet, "https://api.github.com/repos/octo/demo/issues/"+issue+"/comments?per_page=100", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := send.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.old[issue] = append(w.old[issue], body)
}

// holders are the chunks that hold an issue by its locks: at most one, by what everybody can read.
func (w *world) holder(issue int) (string, int) {
	var all []chunk.Marker
	for _, x := range w.s.Comments(issue) {
		if m, ok := chunk.ParseClaim(x.ID, x.Body, true); ok {
			all = append(all, m)
		}
	}
	live := map[string]bool{}
	for _, m := range all {
		if !m.Withdrawn && w.now().Before(m.LeaseUntil) {
			live[m.Chunk] = true
		}
	}
	h, ok := chunk.Holder(all, w.now())
	if !ok {
		return "", 0
	}
	return h.Chunk, len(live)
}

func (w *world) log(id int) []chunk.Event {
	var log []chunk.Event
	for _, x := range w.s.Comments(id) {
		if e, ok := chunk.ParseEvent(x.ID, x.CreatedAt, x.Body); ok {
			log = append(log, e)
		}
	}
	return log
}

// seeds is how many interleavings a test tries: few in `go test`, 1,000 by `make chaos-chunk`.
func seeds(t *testing.T, few int) uint64 {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("CHUNK_SEEDS")); err == nil {
		return uint64(n)
	}
	return uint64(few)
}

// TestTwoAgentsClaimTheSameIssues: two agents claim the same 20 issues at once, while a second process of the first one
// claims, too, and polls, which fixes its set. Answers are lost and lists are late.
func TestTwoAgentsClaimTheSameIssues(t *testing.T) {
	t.Parallel()
	n := seeds(t, 40)
	full, contested := 0, 0
	for seed := range n {
		lost, late := 0.0, 0.3
		if seed%2 == 1 {
			lost = 0.04
		}
		w := newWorld(t, seed, lost, late)
		var issues []int
		for range 20 {
			issues = append(issues, w.s.AddIssue(ghapi.Issue{Labels: []string{config.LabelReady}}))
		}
		ctx := context.Background()
		a, err := w.tracker("a", -1).Start(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.tracker("b", -1).Start(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		results := make([][]tracker.ClaimResult, 3)
		claimer := func(i int, token string, id int, order []int) func() {
			tr := w.tracker(token, i)
			return func() {
				c, err := tr.Load(ctx, id)
				if err == nil {
					results[i], _ = tr.Claim(ctx, c, order)
				}
			}
		}
		backwards := slices.Clone(issues)
		slices.Reverse(backwards)
		actors := []func(){claimer(0, "a", a.ID, issues), claimer(1, "b", b.ID, issues)}
		if seed%3 != 0 {
			gate := w.tracker("a", 3)
			at := w.rnd.IntN(40)
			actors = append(actors, claimer(2, "a", a.ID, backwards), func() {
				for range at { // at some moment of the race
					_, _ = gate.Client.Issue(ctx, a.ID)
				}
				_, _ = gate.Poll(ctx, a.ID, tracker.PollOptions{})
			})
		}
		w.together(actors...)
		if t.Failed() {
			return
		}
		// What is left of lost answers, the next tick of each gate clears up.
		w.lost, w.late = 0, 0
		for i, id := range []int{a.ID, b.ID} {
			tr := w.tracker([]string{"a", "b"}[i], -1)
			c, err := tr.Load(ctx, id)
			if err == nil {
				_, _, err = tr.Status(ctx, c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		check(t, w, seed, lost, a.ID, b.ID, issues, results)
		if lost == 0 && seed%3 == 0 {
			full++
			for _, i := range issues {
				if h, _ := w.holder(i); h != "" {
					contested++
				}
			}
		}
	}
	if want := full * 2 * chunk.MaxClaims; contested != want {
		t.Errorf("%d issues are held where nothing was lost, want %d: both chunks full", contested, want)
	}
}

func check(t *testing.T, w *world, seed uint64, lost float64, a, b int, issues []int, results [][]tracker.ClaimResult) {
	t.Helper()
	records := map[string]chunk.Record{strconv.Itoa(a): chunk.Fold(a, w.log(a)), strconv.Itoa(b): chunk.Fold(b, w.log(b))}
	held := map[int]string{}
	for id, r := range records {
		if r.OpenClaims() > chunk.MaxClaims {
			t.Errorf("seed %d: chunk %s holds %d claims", seed, id, r.OpenClaims())
		}
		for _, h := range r.Claims {
			if h.State != chunk.ClaimOpen {
				continue
			}
			if other, twice := held[h.Issue]; twice {
				t.Errorf("seed %d: issue %d is in the records of %s and %s", seed, h.Issue, other, id)
			}
			held[h.Issue] = id
			if by, _ := w.holder(h.Issue); by != id {
				t.Errorf("seed %d: issue %d is in the record of %s, its lock is %q's", seed, h.Issue, id, by)
			}
		}
		// The set never grows after it is fixed.
		log := w.log(id2int(t, id))
		at := slices.IndexFunc(log, func(e chunk.Event) bool { return e.Do == chunk.DoFixed })
		if at < 0 {
			continue
		}
		fixed := chunk.Fold(id2int(t, id), log[:at+1])
		for _, h := range r.Claims {
			if fixed.Find(h.Issue) == nil {
				t.Errorf("seed %d: issue %d joined chunk %s after its set was fixed", seed, h.Issue, id)
			}
		}
	}
	for _, i := range issues {
		by, live := w.holder(i)
		if lost == 0 && (live > 1 || (by != "" && held[i] != by)) {
			t.Errorf("seed %d: issue %d has %d live locks, holder %q, record of %q", seed, i, live, by, held[i])
		}
	}
	for n, list := range results {
		id := strconv.Itoa([]int{a, b, a}[n])
		for _, r := range list {
			if r.Result == tracker.Claimed && held[r.Issue] != id {
				t.Errorf("seed %d: chunk %s was told it has issue %d, which is in the record of %q", seed, id, r.Issue, held[r.Issue])
			}
		}
	}
}

func id2int(t *testing.T, id string) int {
	t.Helper()
	n, err := strconv.Atoi(id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
