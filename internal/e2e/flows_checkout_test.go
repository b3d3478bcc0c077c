package e2e

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// checkoutAction does what actions/checkout does with `persist-credentials: false` and no other input: a fetch of one
// commit into an empty folder, by the job's token in a header that is taken away again, a branch of the default branch's
// name. The action itself cannot be had from a package registry; docs/unverified.md says so.
const checkoutAction = `name: Checkout
description: Fetches one commit
inputs:
  persist-credentials: {description: whether the token stays, required: false, default: 'true'}
  token: {description: token, required: false, default: "${{ github.token }}"}
runs:
  using: composite
  steps:
    - shell: bash
      env:
        TOKEN: ${{ inputs.token }}
        KEEP: ${{ inputs.persist-credentials }}
      run: |
        [ "$KEEP" = false ] || { echo "the token would stay in the checkout" >&2; exit 1; }
        [ -z "$(ls -A)" ] || { echo "the workspace is not empty" >&2; exit 1; }
        git init -q -b empty .
        git remote add origin "SERVER/$GITHUB_REPOSITORY"
        header="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$TOKEN" | base64 -w0)"
        git -c protocol.version=2 -c "http.SERVER/.extraheader=$header" fetch -q --no-tags --prune --no-recurse-submodules --depth=1 origin "+HEAD:refs/remotes/origin/main"
        git checkout -q --force -B main refs/remotes/origin/main
`

// TestACloneAsCheckoutMakesIt: everywhere else act copies the work tree; here each job fetches it from a git server, one
// commit deep, and is left without credentials.
func TestACloneAsCheckoutMakesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyTask(), "")
	git := testtool.Need(t, "git")
	exe, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	w.git(t, "clone", "-q", "--bare", w.repo, w.path("served", repoName))
	var mu sync.Mutex
	fetches, tokens := 0, 0
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(exe)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + w.path("served"), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + w.dir, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		mu.Lock()
		if fetches++; ok && user == "x-access-token" && password == theToken {
			tokens++
		}
		mu.Unlock()
		if !ok {
			http.Error(rw, "no token", http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization") // CGI would hand it on
		backend.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	put(t, w.path("checkout"), "action.yml", strings.ReplaceAll(checkoutAction, "SERVER", server.URL))
	// Before each command: what the checkout left behind.
	dist, err := filepath.Glob(filepath.Join(w.path("action"), "dist", "*"))
	if err != nil || len(dist) != 1 {
		t.Fatal(dist, err)
	}
	text, err := os.ReadFile(dist[0])
	if err != nil {
		t.Fatal(err)
	}
	put(t, w.path("action"), "dist/"+filepath.Base(dist[0]), once(t, dist[0], string(text), "name=\"$1\"\n",
		"name=\"$1\"\n{ cat .git/config; git log --format=%H; git status --porcelain; } >>\""+w.path("left")+"\"\n"))

	pin := ""
	flows, err := os.ReadFile(filepath.Join(w.repo, ".github", "workflows", "issue-assistant.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range pins.FindAllStringSubmatch(string(flows), -1) {
		if strings.HasPrefix(m[1], "actions/checkout@") {
			pin = m[1]
		}
	}
	w.play(t, "triage", start{event: "issues", payload: w.opened(), more: []string{"--no-skip-checkout", "--local-repository", pin + "=" + w.path("checkout")}}, played{
		jobs: map[string]string{"Event": "success", "Analyze": "success", "Apply": "success"}, summary: []string{"**triage** of #12"},
		writes: []string{"POST /issues/12/labels", "POST /issues/12/labels", "POST /issues/12/labels", "POST /issues/12/comments"},
	})
	if fetches == 0 || fetches != tokens || fetches%3 != 0 {
		t.Errorf("%d requests for the code, %d with the token", fetches, tokens)
	}
	head := w.head(t)
	if got := w.ours(); len(got) != 1 || !strings.Contains(got[0].Body, "https://github.com/octo-org/demo/blob/"+head+"/main.go#L1") {
		t.Errorf("%d comments; the file is not named at %s: %+v", len(got), head, got)
	}
	left, err := os.ReadFile(w.path("left"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(left), head+"\n"); n != 6 || strings.Contains(string(left), "parent") {
		t.Errorf("%d of 6 commands saw one commit:\n%s", n, left)
	}
	if dirty := regexp.MustCompile(`(?m)^(\?\?| M|M |A ) .*$`).FindAllString(string(left), -1); len(dirty) > 0 {
		t.Errorf("a command left its traces in the checkout: %q", dirty)
	}
	if strings.Contains(strings.ToLower(string(left)), "authorization") || strings.Contains(string(left), theToken) {
		t.Errorf("the checkout holds credentials:\n%s", left)
	}
}

// head is the commit of the work tree.
func (w *world) head(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.repo, ".git", "refs", "heads", "main"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}
