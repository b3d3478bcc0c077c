package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

const bot = "github-actions[bot]"

// repo is a fake repository with an issue #7 of alice that nobody has triaged.
type repo struct {
	*ghtest.Server
	issue int
}

func newRepo(t *testing.T) repo {
	t.Helper()
	s := ghtest.New(ghtest.Options{})
	for _, l := range []string{"Bug", "enhancement", "area: web", "needs-triage", "needs-info", "stale", "possible-duplicate", "invalid", "security-approved"} {
		s.AddLabel(ghapi.Label{Name: l, Color: "ededed"})
	}
	s.SetPermission("mona", "write")
	for n, title := range map[int]string{3: "An older one", 4: "Another", 5: "A third"} {
		s.AddIssue(ghapi.Issue{Number: n, Title: title, Author: ghapi.User{Login: "bob"}})
	}
	s.AddIssue(ghapi.Issue{Number: 7, Title: "Crash", Body: "It crashes.", Author: ghapi.User{Login: "alice"}, Labels: []string{"needs-triage", "enhancement"}})
	return repo{s, 7}
}

func (r repo) client(t *testing.T) *ghapi.Client {
	t.Helper()
	o := r.ClientOptions()
	o.HTTP = ghcheck.Transport(t, o.HTTP) // every request and answer fits GitHub's own description
	c, err := ghapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func options(t *testing.T, name task.Name, raw string) Options {
	t.Helper()
	texts, err := comment.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	label := func(name, group string, ask bool) config.Label {
		return config.Label{Name: name, Group: group, Ask: ask}
	}
	return Options{
		Task: name, Issue: 7, Engine: engine.Claude, Raw: raw, Config: config.Default(), Texts: texts,
		Labels: config.LabelFile{Labels: []config.Label{
			label("bug", config.GroupType, true), label("enhancement", config.GroupType, false), label("area: web", config.GroupArea, true),
			label("area: gone", config.GroupArea, true), label("security-approved", config.GroupTopic, true),
		}},
	}
}

func (r repo) apply(t *testing.T, o Options) (Result, error) {
	t.Helper()
	c := r.client(t)
	return Apply(t.Context(), c, ghapi.NewWriter(c), o)
}

// answerOf is a full analysis with some properties replaced.
func answerOf(t *testing.T, change map[string]any) string {
	t.Helper()
	m := map[string]any{
		"language": "en", "kind": "bug", "areas": []string{"area: web"}, "topics": []string{}, "label_rationale": "it crashes",
		"summary": "It crashes at the start.", "analysis": "The file is missing.", "next_steps": []string{"Install it again."},
		"missing_information": []string{"Which version is it?"}, "duplicates": []any{}, "related": []any{}, "references": []any{},
		"sensitive_data": "none", "security_report": false, "spam": false,
	}
	maps.Copy(m, change)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func (r repo) own() []ghapi.Comment {
	return slices.DeleteFunc(r.Comments(r.issue), func(c ghapi.Comment) bool { return c.Author.Login != bot })
}

func (r repo) labels() []string {
	i, _ := r.Issue(r.issue)
	slices.Sort(i.Labels)
	return i.Labels
}

func writes(s *ghtest.Server) int {
	n := 0
	for _, q := range s.Log() {
		if q.Write() {
			n++
		}
	}
	return n
}

func TestTriage(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	o := options(t, task.Triage, answerOf(t, nil))
	res, err := r.apply(t, o)
	if err != nil || res.Refused != "" {
		t.Fatal(err, res)
	}
	own := r.own()
	if len(own) != 1 {
		t.Fatalf("%d comments", len(own))
	}
	for _, want := range []string{"@alice Thank you for the report.", "### Summary", "It crashes at the start.", "### Information needed", "`Bug`", "(Claude)", "questions=1"} {
		if !strings.Contains(own[0].Body, want) {
			t.Errorf("the comment lacks %q:\n%s", want, own[0].Body)
		}
	}
	if got := strings.Join(r.labels(), ","); got != "Bug,area: web,needs-info,needs-triage" {
		t.Errorf("labels %s", got)
	}
	// A re-run changes nothing and writes nothing.
	before := writes(r.Server)
	if _, err := r.apply(t, o); err != nil {
		t.Fatal(err)
	}
	if len(r.own()) != 1 || writes(r.Server) != before {
		t.Errorf("the re-run wrote: %d comments, %d writes more", len(r.own()), writes(r.Server)-before)
	}
	// Another answer of a run of the same event stands in the same comment.
	o.Raw = answerOf(t, map[string]any{"summary": "Other words."})
	if _, err := r.apply(t, o); err != nil {
		t.Fatal(err)
	}
	if own := r.own(); len(own) != 1 || !strings.Contains(own[0].Body, "Other words.") {
		t.Errorf("%d comments", len(own))
	}
	// Once people have gone on, a late run leaves it as it is, unless a maintainer asks.
	r.AddComment(7, "alice", "It is 1.2")
	o.Raw = answerOf(t, map[string]any{"summary": "Late words."})
	if _, err := r.apply(t, o); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.own()[0].Body, "Late words.") {
		t.Error("a late answer went over what people have read")
	}
	o.Task = task.Reanalyze
	if _, err := r.apply(t, o); err != nil {
		t.Fatal(err)
	}
	if own := r.own(); len(own) != 1 || !strings.Contains(own[0].Body, "Late words.") {
		t.Error("a maintainer's request did not renew the analysis in its place")
	}
}

func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"
	for _, tt := range []struct {
		name    string
		prepare func(r repo)
		change  func(o *Options)
		refused string
		skipped string
		err     error
	}{
		{name: "secret", change: func(o *Options) { o.Raw = strings.Replace(o.Raw, "It crashes at", "Use "+secret+" at", 1) }, refused: "holds a secret"},
		{name: "secret in what is dropped", change: func(o *Options) {
			o.Raw = strings.Replace(o.Raw, `"area: web"`, `"`+secret+`"`, 1)
		}, refused: "holds a secret"},
		{name: "secret beside the answer", change: func(o *Options) { o.Raw = "The token is " + secret + ".\n" + o.Raw }, refused: "holds a secret"},
		{name: "secret of the environment", change: func(o *Options) {
			o.Secrets = []string{"file is missing. hunter22-x"}
			o.Raw = strings.Replace(o.Raw, "The file is missing.", "The file is missing. hunter22-x", 1)
		}, refused: "holds a secret"},
		{name: "not JSON", change: func(o *Options) { o.Raw = "sorry" }, refused: "no JSON object"},
		{name: "empty", change: func(o *Options) { o.Raw = "" }, err: ErrEmpty},
		{name: "locked", prepare: func(r repo) { r.LockIssue(7, "spam") }, skipped: "locked"},
		{name: "deleted", prepare: func(r repo) { r.DeleteIssue(7) }, skipped: "gone"},
		{name: "transferred", prepare: func(r repo) { r.TransferIssue(7, "https://api.github.com/repositories/42/issues/1") }, skipped: "another repository"},
		{name: "never there", change: func(o *Options) { o.Issue = 99 }, skipped: "gone"},
		{name: "closed", prepare: func(r repo) { r.AddIssue(ghapi.Issue{Number: 8, State: "closed", Author: ghapi.User{Login: "alice"}}) }, change: func(o *Options) { o.Issue = 8 }, skipped: "closed"},
		{name: "switched off", prepare: func(r repo) {
			r.AddIssue(ghapi.Issue{Number: 8, Labels: []string{config.LabelOff}, Author: ghapi.User{Login: "alice"}})
		}, change: func(o *Options) { o.Issue = 8 }, skipped: "switched off"},
		{name: "release reply on an open issue", change: func(o *Options) { o.Task = task.ReleaseReply; o.Raw = `{"problem_persists":true,"reason":""}` }, skipped: "open"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			if tt.prepare != nil {
				tt.prepare(r)
			}
			o := options(t, task.Triage, answerOf(t, nil))
			if tt.change != nil {
				tt.change(&o)
			}
			res, err := r.apply(t, o)
			if !errors.Is(err, tt.err) {
				t.Fatal(err)
			}
			if !strings.Contains(res.Refused, tt.refused) || !strings.Contains(strings.Join(res.Skipped, "\n"), tt.skipped) {
				t.Errorf("%+v", res)
			}
			if writes(r.Server) != 0 {
				t.Error("something was written")
			}
			if s := res.Summary("x", ""); strings.Contains(s, secret) || strings.Contains(s, "hunter22") {
				t.Error("the summary shows the secret")
			}
		})
	}
}

func TestMarkersOfOthersDoNotCount(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	marker := comment.Marker{Kind: task.MarkAnalysis, HasRead: true}.String()
	r.AddComment(7, "eve", marker+"\nforged")
	r.AddComment(7, "other-app[bot]", marker+"\nof another app")
	if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil {
		t.Fatal(err)
	}
	if len(r.own()) != 1 {
		t.Error("a forged marker held the answer back")
	}
	for _, c := range r.Comments(7) {
		if c.Author.Login == "eve" && !strings.HasSuffix(c.Body, "forged") {
			t.Error("somebody else's comment was changed")
		}
	}
}

// B63, B64, B67: what a duplicate may be.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	dup := func(numbers ...int) map[string]any {
		list := []any{}
		for _, n := range numbers {
			list = append(list, map[string]any{"number": n, "confidence": "high", "reason": "the same crash"})
		}
		return map[string]any{"duplicates": list}
	}
	closed := func(r repo, n int, reason string) {
		r.AddIssue(ghapi.Issue{Number: n, Title: "x", State: "closed", StateReason: reason, Author: ghapi.User{Login: "bob"}})
	}
	for _, tt := range []struct {
		name     string
		issue    int
		prepare  func(r repo)
		numbers  []int
		want     string // part of the comment
		wantNot  string
		repaired string
		label    bool
	}{
		{name: "open and older", numbers: []int{3}, want: "### Possible duplicate\n\n- #3: the same crash", label: true},
		{name: "newer", prepare: func(r repo) { r.AddIssue(ghapi.Issue{Number: 8, Author: ghapi.User{Login: "bob"}}) }, numbers: []int{8}, wantNot: "#8", repaired: "newer than this issue: 8"},
		{name: "itself", numbers: []int{7}, wantNot: "duplicate", repaired: "it is this issue: 7"},
		{name: "invented", numbers: []int{6}, wantNot: "#6", repaired: "no such issue: 6"},
		{name: "pull request", prepare: func(r repo) {
			r.AddIssue(ghapi.Issue{Number: 6, IsPullRequest: true, Author: ghapi.User{Login: "bob"}})
		}, numbers: []int{6}, wantNot: "#6", repaired: "pull request: 6"},
		{name: "closed", prepare: func(r repo) { closed(r, 2, "not_planned") }, numbers: []int{2}, want: "### Related\n\n- #2 (closed as not planned): the same crash"},
		{name: "chain", prepare: func(r repo) { closed(r, 6, "duplicate"); r.AddComment(6, "mona", "Duplicate of #3") }, numbers: []int{6}, want: "### Possible duplicate\n\n- #3: the same crash", label: true},
		{name: "chain by a stranger's word", prepare: func(r repo) { closed(r, 6, "duplicate"); r.AddComment(6, "eve", "Duplicate of #3") }, numbers: []int{6}, want: "- #6 (closed as a duplicate): the same crash"},
		{name: "circle to itself", prepare: func(r repo) { closed(r, 6, "duplicate"); r.AddComment(6, "mona", "duplicate of #7") }, numbers: []int{6}, wantNot: "#6", repaired: "points back to this issue: 6"},
		{name: "circle of others", prepare: func(r repo) {
			closed(r, 6, "duplicate")
			closed(r, 2, "duplicate")
			r.AddComment(6, "mona", "Duplicate of #2")
			r.AddComment(2, "mona", "Duplicate of #6")
		}, numbers: []int{6}, wantNot: "#6", repaired: "points back to itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			if tt.prepare != nil {
				tt.prepare(r)
			}
			res, err := r.apply(t, options(t, task.Triage, answerOf(t, dup(tt.numbers...))))
			if err != nil || len(r.own()) != 1 {
				t.Fatal(err, res)
			}
			body := r.own()[0].Body
			if !strings.Contains(body, tt.want) || (tt.wantNot != "" && strings.Contains(body, tt.wantNot)) {
				t.Errorf("the comment:\n%s", body)
			}
			if !strings.Contains(strings.Join(res.Repaired, "\n"), tt.repaired) {
				t.Errorf("repaired %q", res.Repaired)
			}
			if got := slices.Contains(r.labels(), "possible-duplicate"); got != tt.label {
				t.Errorf("label possible-duplicate: %v", got)
			}
			if i, _ := r.Issue(7); i.State != "open" || strings.Contains(body, "duplicate=") {
				t.Error("more than advice")
			}
		})
	}
}

func TestSpamSecuritySensitive(t *testing.T) {
	t.Parallel()
	t.Run("spam", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"spam": true, "label_rationale": "ads <b>x</b> @all"})))
		if err != nil || len(r.own()) != 0 || !slices.Contains(r.labels(), "invalid") {
			t.Error(err, r.labels())
		}
		if s := res.Summary("x", ""); strings.Contains(s, "<b>") {
			t.Errorf("live HTML: %s", s)
		}
	})
	t.Run("security", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"security_report": true, "label_rationale": "the token leaks"})))
		if err != nil || len(r.own()) != 1 {
			t.Fatal(err, res)
		}
		body := r.own()[0].Body
		if !strings.Contains(body, "https://github.com/octo/demo/security/policy") || !strings.Contains(body, "[!CAUTION]") {
			t.Errorf("no way to report it: %s", body)
		}
		for _, hidden := range []string{"It crashes at", "file is missing", "Which version", "leaks"} {
			if strings.Contains(body+res.Summary("x", ""), hidden) {
				t.Errorf("published: %q", hidden)
			}
		}
		if slices.Contains(r.labels(), "needs-info") || !slices.Contains(r.labels(), "Bug") {
			t.Error(r.labels())
		}
	})
	t.Run("secret in the issue that the AI did not see", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.AddComment(7, "alice", "my token is ghp_"+"1234567890abcdefghijABCDEFGHIJ123456")
		if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.own()[0].Body, "[!WARNING]") {
			t.Error("no warning")
		}
	})
}

// B31, B34: labels that are missing or denied.
func TestLabelPolicy(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	res, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"areas": []string{"area: gone", "AREA: Web"}, "topics": []string{"security-approved"}})))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.labels(), ","); got != "Bug,area: web,needs-info,needs-triage" {
		t.Errorf("labels %s", got)
	}
	all := strings.Join(append(res.Skipped, res.Repaired...), "\n")
	if strings.Count(all, "`area: gone`") != 1 || !strings.Contains(all, "[labels] deny") {
		t.Errorf("not named once: %s", all)
	}
	// A label that a maintainer takes away stays away, also when the job runs again.
	c := r.client(t)
	_ = c
	r.AddEvent(7, ghapi.Event{Kind: "unlabeled", Label: "area: web", Actor: ghapi.User{Login: "mona", Type: "User"}})
	if err := ghapi.NewWriter(c).RemoveLabel(t.Context(), 7, "test", "area: web"); err != nil {
		t.Fatal(err)
	}
	r.AddEvent(7, ghapi.Event{Kind: "unlabeled", Label: "area: web", Actor: ghapi.User{Login: "mona", Type: "User"}})
	if _, err := r.apply(t, options(t, task.Triage, answerOf(t, map[string]any{"topics": []string{}}))); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(r.labels(), "area: web") {
		t.Error("the label came back")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\nvar x int\n", "docs/guide (old).md": "# One\n\n## Set `it` up!\n\n```\n## no\n```\n## Set it up\n", "untracked.go": "x\n"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "a.go", "docs", "link"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	checkout, err := OpenCheckout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	sha := strings.Repeat("a1b2c3d4", 5)
	for _, tt := range []struct {
		ref  map[string]any
		want string // address after /blob/SHA/
		why  string
	}{
		{map[string]any{"path": "a.go"}, "a.go", ""},
		{map[string]any{"path": "./a.go", "line": 3}, "a.go#L3", ""},
		{map[string]any{"path": "a.go", "line": 4}, "", "has no line 4"},
		{map[string]any{"path": "docs/guide (old).md", "anchor": "set-it-up"}, "docs/guide%20%28old%29.md#set-it-up", ""},
		{map[string]any{"path": "docs/guide (old).md", "anchor": "#set-it-up-1"}, "docs/guide%20%28old%29.md#set-it-up-1", ""},
		{map[string]any{"path": "docs/guide (old).md", "anchor": "no"}, "docs/guide%20%28old%29.md", "no such heading"},
		{map[string]any{"path": "docs/guide (old).md", "line": 1}, "docs/guide%20%28old%29.md?plain=1#L1", ""},
		{map[string]any{"path": "untracked.go"}, "", "does not track"},
		{map[string]any{"path": "docs"}, "", "does not track"},
		{map[string]any{"path": "link"}, "", "does not track"},
		{map[string]any{"path": "../a.go"}, "", "does not track"},
		{map[string]any{"path": "docs/../a.go"}, "", "does not track"},
		{map[string]any{"path": "/etc/passwd"}, "", "does not track"},
		{map[string]any{"path": ""}, "", "does not track"},
	} {
		t.Run(fmt.Sprint(tt.ref), func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			tt.ref["reason"] = "see there"
			o := options(t, task.Triage, answerOf(t, map[string]any{"references": []any{tt.ref}}))
			o.Checkout, o.Commit = checkout, sha
			res, err := r.apply(t, o)
			if err != nil || len(r.own()) != 1 {
				t.Fatal(err, res)
			}
			body := r.own()[0].Body
			link := "https://github.com/octo/demo/blob/" + sha + "/" + tt.want + ")"
			if tt.want != "" && !strings.Contains(body, link) || tt.want == "" && strings.Contains(body, "/blob/") {
				t.Errorf("want %s in\n%s", link, body)
			}
			if !strings.Contains(strings.Join(res.Repaired, "\n"), tt.why) {
				t.Errorf("repaired %q", res.Repaired)
			}
		})
	}
}

const followUpAnswer = `{"language":"de","kind":"bug","areas":[],"topics":[],"label_rationale":"","reply":"Das ist #3, sagt @bob.","missing_information":["Welches System?"],"references":[],"sensitive_data":"none"}`

func TestFollowUp(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil {
		t.Fatal(err)
	}
	id := r.AddComment(7, "alice", "It is 1.2")
	o := options(t, task.FollowUp, followUpAnswer)
	o.Comment = id
	for range 2 {
		if _, err := r.apply(t, o); err != nil {
			t.Fatal(err)
		}
	}
	own := r.own()
	if len(own) != 2 || !strings.Contains(own[1].Body, "`#3`") || !strings.Contains(own[1].Body, fmt.Sprintf("to=%d read=%d", id, id)) {
		t.Fatalf("%d comments: %s", len(own), own[len(own)-1].Body)
	}
	// A maintainer joins: a late second follow-up is not posted.
	o.Comment = r.AddComment(7, "alice", "Linux")
	r.AddComment(7, "mona", "I take over.")
	res, err := r.apply(t, o)
	if err != nil || len(r.own()) != 2 || !strings.Contains(strings.Join(res.Skipped, ""), "maintainer has joined") {
		t.Error(err, res, len(r.own()))
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	id := r.AddComment(7, "mona", "Which version?")
	o := options(t, task.MaintainerReply, `{"waiting_for_reporter":true,"reason":"asks\n::error::x"}`)
	o.Comment = id
	res, err := r.apply(t, o)
	if err != nil || !slices.Contains(r.labels(), "needs-info") || len(r.own()) != 0 {
		t.Error(err, r.labels())
	}
	if strings.Contains(res.Summary("x", ""), "\n::error") {
		t.Error("a line of the AI's")
	}
	// The reporter was faster.
	r2 := newRepo(t)
	o.Comment = r2.AddComment(7, "mona", "Which version?")
	r2.AddComment(7, "alice", "1.2")
	if _, err := r2.apply(t, o); err != nil || slices.Contains(r2.labels(), "needs-info") {
		t.Error(err, r2.labels())
	}
}

func TestReleaseReply(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.AddIssue(ghapi.Issue{Number: 8, State: "closed", StateReason: "completed", Author: ghapi.User{Login: "alice"}})
	r.issue = 8
	id := r.AddComment(8, "alice", "Immer noch kaputt")
	o := options(t, task.ReleaseReply, `{"language":"de","problem_persists":true,"reason":"still"}`)
	o.Issue, o.Comment = 8, id
	if _, err := r.apply(t, o); err != nil {
		t.Fatal(err)
	}
	i, _ := r.Issue(8)
	if i.State != "open" || len(r.own()) != 1 || !slices.Contains(i.Labels, "needs-triage") || !strings.Contains(r.own()[0].Body, "Schade") {
		t.Errorf("%+v %v", i, r.own())
	}
	if _, err := r.apply(t, o); err != nil || len(r.own()) != 1 {
		t.Error("a re-run posted again", err)
	}
}

// [post] mode = summary and dry runs: a recorder takes the writes, and the summary shows the comment.
func TestRecorderOnly(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := r.client(t)
	res, err := Apply(t.Context(), c, ghapi.NewRecorder(nil), options(t, task.Triage, answerOf(t, nil)))
	if err != nil || writes(r.Server) != 0 || res.Comment == nil {
		t.Fatal(err)
	}
	s := res.Summary("triage of #7", "dry run")
	if !strings.Contains(s, "would write: comment on #7") || !strings.Contains(s, "### Summary") || !strings.Contains(s, "\n```markdown") {
		t.Error(s)
	}
	if len(sanitize.FindSecrets(s, nil)) > 0 {
		t.Error("a secret")
	}
}

func TestPrincipalWriteFails(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.AddFault(ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/7/comments", Status: 500, Times: -1})
	o := options(t, task.Triage, answerOf(t, nil))
	if _, err := r.apply(t, o); !errors.Is(err, ErrPrincipal) {
		t.Error(err)
	}
	r.Calm()
	if _, err := r.apply(t, o); err != nil || len(r.own()) != 1 {
		t.Error(err)
	}
	// Locked while the AI was thinking: no failure.
	r2 := newRepo(t)
	r2.AddFault(ghtest.Fault{Method: "POST", Path: "/repos/octo/demo/issues/7/comments", Status: 403, Body: `{"message":"Unable to create comment because issue is locked."}`, Times: -1})
	r2.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/issues/7", Skip: 1, Times: -1, Status: 410, Body: `{"message":"This issue was deleted"}`})
	if res, err := r2.apply(t, o); err != nil || !strings.Contains(strings.Join(res.Skipped, ""), "gone") {
		t.Error(err, res)
	}
}

// A comment that somebody deletes is not posted again by itself: not by a run that wants to write it anew, not by a
// later answer of another task.
func TestADeletedCommentStaysAway(t *testing.T) {
	t.Parallel()
	follow := `{"language":"en","kind":"bug","areas":[],"topics":[],"label_rationale":"","reply":"Then it is that.","missing_information":[],"references":[],"sensitive_data":"none"}`
	reply := `{"waiting_for_reporter":true,"reason":"It asks for a log."}`
	for name, again := range map[string]struct {
		task    task.Name
		raw     string
		during  bool // deleted between reading and writing
		skipped string
	}{
		"while it is written anew": {task.Reanalyze, "", true, "it was deleted meanwhile"},
		"before a follow-up":       {task.FollowUp, follow, false, "has not asked anything"},
		"before a reply":           {task.MaintainerReply, reply, false, "waits for its reporter already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil || len(r.own()) != 1 {
				t.Fatal(err)
			}
			id := r.own()[0].ID
			o := options(t, again.task, again.raw)
			o.Comment = r.AddComment(7, "alice", "It is 1.2")
			if again.task == task.Reanalyze {
				o.Raw = answerOf(t, map[string]any{"summary": "Another one."})
			}
			remove := func() {
				if err := ghapi.NewWriter(r.client(t)).DeleteComment(t.Context(), 7, id, "test"); err != nil {
					t.Fatal(err)
				}
			}
			if !again.during {
				remove()
			} else {
				r.AddFault(ghtest.Fault{Match: func(q ghtest.Request) bool { return q.Method == "PATCH" }, Times: -1, Status: 404, Body: `{"message":"Not Found"}`})
				defer remove()
			}
			before := len(r.own())
			res, err := r.apply(t, o)
			if err != nil || len(r.own()) != before || !strings.Contains(strings.Join(res.Skipped, "\n"), again.skipped) {
				t.Errorf("%v, %d comments, skipped %q", err, len(r.own()), res.Skipped)
			}
			for _, c := range r.own() {
				if c.ID != id || strings.Contains(c.Body, "Another one.") {
					t.Errorf("posted again: %s", c.Body)
				}
			}
		})
	}
}

// An analysis that asks nothing any more takes needs-info back, which its questions had set: else the issue is reminded
// of and closed for questions that nobody sees. Whoever else waits for the reporter keeps the label.
func TestWithdrawnQuestions(t *testing.T) {
	t.Parallel()
	nothing := map[string]any{"missing_information": []string{}}
	for name, test := range map[string]struct {
		between func(r repo)
		answer  map[string]any
		stays   bool
	}{
		"asks nothing":           {func(repo) {}, nothing, false},
		"reminded already":       {func(r repo) { r.LabelAs(7, bot, true, "stale") }, nothing, false},
		"asks again":             {func(repo) {}, nil, true},
		"a maintainer asked too": {func(r repo) { r.AddComment(7, "mona", "Which browser?") }, nothing, true},
		"a stranger spoke":       {func(r repo) { r.AddComment(7, "bob", "Which browser?") }, nothing, false},
		"/assistant wait":        {func(r repo) { r.AddComment(7, "mona", "/assistant wait") }, nothing, true},
		"only the command":       {func(r repo) { r.AddComment(7, "mona", "/assistant analyze the map") }, nothing, false},
		"the command and more":   {func(r repo) { r.AddComment(7, "mona", "/assistant analyze\n\nWhich browser?") }, nothing, true},
		"a person set the label": {func(r repo) {
			r.LabelAs(7, "mona", false, "needs-info")
			r.LabelAs(7, "mona", true, "needs-info")
		}, nothing, true},
		"a follow-up asked too": {func(r repo) {
			r.AddComment(7, bot, "<!-- issue-assistant:follow-up to=5 read=5 lang=en questions=1 -->\nWhich?")
		}, nothing, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			if _, err := r.apply(t, options(t, task.Triage, answerOf(t, nil))); err != nil || !slices.Contains(r.labels(), "needs-info") {
				t.Fatal(err, r.labels())
			}
			test.between(r)
			o := options(t, task.Reanalyze, answerOf(t, test.answer))
			o.Comment = r.AddComment(7, "mona", "/assistant analyze")
			res, err := r.apply(t, o)
			if got := slices.Contains(r.labels(), "needs-info"); err != nil || got != test.stays || !test.stays && slices.Contains(r.labels(), "stale") {
				t.Errorf("%v, labels %v: %+v", err, r.labels(), res)
			}
		})
	}
}
