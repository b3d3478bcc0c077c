package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghcheck"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// github is what a new user's gh talks to: the fake, and what the fake lacks because only gh asks for it.
type github struct {
	t    *testing.T
	w    *world
	mu   sync.Mutex
	asks []string // method and path, without the server
}

const api = "/repos/" + repoName

func (g *github) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.asks = append(g.asks, r.Method+" "+r.URL.Path)
	g.mu.Unlock()
	answer := func(v any) {
		rw.Header().Set("Content-Type", "application/json; charset=utf-8")
		if err := json.NewEncoder(rw).Encode(v); err != nil {
			g.t.Error(err)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		g.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	release := "/repos/issue-assistant/issue-assistant"
	switch at := r.Method + " " + r.URL.Path; {
	case strings.HasSuffix(at, "/graphql") && bytes.Contains(body, []byte(`"issue-assistant"`)): // a draft of that name
		answer(map[string]any{"data": map[string]any{"repository": map[string]any{"release": nil}}})
	case strings.HasSuffix(at, "/graphql") && bytes.Contains(body, []byte("query RepositoryInfo")): // gh repo view
		answer(map[string]any{"data": map[string]any{"repository": map[string]any{
			"name": "demo", "owner": map[string]any{"login": "octo-org"}, "url": "https://github.com/" + repoName, "defaultBranchRef": map[string]any{"name": "main"},
		}}})
	case at == "GET "+release+"/releases/tags/v0.1.0":
		answer(map[string]any{"id": 1, "tag_name": "v0.1.0", "assets": []any{
			map[string]any{"id": 1, "name": "issue-assistant_0.1.0_linux_amd64.tar.gz", "url": "https://api.github.com" + release + "/releases/assets/1"},
			map[string]any{"id": 2, "name": "issue-assistant_0.1.0_darwin_arm64.tar.gz", "url": "https://api.github.com" + release + "/releases/assets/2"},
		}})
	case at == "GET "+release+"/releases/assets/1":
		_, _ = rw.Write(archive(g.t))
	case at == "GET "+release+"/commits/v0.1.0":
		answer(map[string]any{"sha": actionSHA})
	case at == "PUT "+api+"/environments/issue-assistant":
		var in struct {
			Policy struct {
				Protected bool `json:"protected_branches"`
				Custom    bool `json:"custom_branch_policies"`
			} `json:"deployment_branch_policy"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Policy.Protected || !in.Policy.Custom {
			g.t.Errorf("environment: %+v, %v", in, err)
		}
		g.w.gh.SetEnvironment(ghapi.Environment{Name: "issue-assistant", CustomBranches: true})
		answer(map[string]any{"id": 1, "name": "issue-assistant"})
	case at == "POST "+api+"/environments/issue-assistant/deployment-branch-policies":
		var in struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			g.t.Error(err)
		}
		g.w.gh.SetEnvironment(ghapi.Environment{Name: "issue-assistant", CustomBranches: true, Branches: []string{in.Name}})
		answer(map[string]any{"id": 1, "name": in.Name})
	case strings.HasSuffix(at, "/environments/issue-assistant/secrets/public-key"):
		answer(map[string]any{"key_id": "1", "key": "2Sg8iYjAxxmI2LvUXpJjkYrMxURPc8r+dB7TJyvvcCU="})
	case strings.HasPrefix(at, "PUT ") && strings.Contains(at, "/environments/issue-assistant/secrets/"):
		g.w.gh.SetEnvironment(ghapi.Environment{Name: "issue-assistant", CustomBranches: true, Branches: []string{"main"}}, filepath.Base(r.URL.Path))
		rw.WriteHeader(http.StatusCreated)
		answer(map[string]any{})
	default:
		g.w.gh.ServeHTTP(rw, r)
	}
}

// githubCom answers for github.com behind a proxy, as far as a program that trusts the certificate can tell.
func githubCom(t *testing.T, h http.Handler, certificate string) (proxy string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"github.com", "api.github.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(certificate), filepath.Base(certificate), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	server := httptest.NewUnstartedServer(h)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	tunnel := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || !strings.HasSuffix(r.Host, "github.com:443") {
			t.Errorf("%s %s by the proxy", r.Method, r.Host)
			http.Error(rw, "only github.com is here", http.StatusForbidden)
			return
		}
		to, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = to.Close() }()
		from, buffered, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			t.Error(err)
		}
		go func() {
			_, _ = io.Copy(from, to)
			_ = from.Close()
		}()
		_, _ = io.Copy(to, buffered)
	}))
	t.Cleanup(tunnel.Close)
	return tunnel.URL
}

// archive is the release's archive with the program under test.
func archive(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	a := tar.NewWriter(z)
	if err := a.WriteHeader(&tar.Header{Name: "issue-assistant", Mode: 0o755, Size: int64(len(data)), Format: tar.FormatUSTAR}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// blocks are the commands of README's section on setting up, one text for each indented block.
func blocks(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testtool.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n## Set it up\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var all []string
	inside := false
	for line := range strings.Lines(section) {
		command, is := strings.CutPrefix(line, "       ") // a code block inside of a numbered list
		switch {
		case is && !inside:
			all = append(all, command)
		case is:
			all[len(all)-1] += command
		}
		inside = is
	}
	return all
}

// step is one step of the trial as its page shows it.
type step struct {
	what     string
	commands int
	took     time.Duration
}

// TestReadmeSetUp follows README's section on setting up to the letter, as somebody new to all of it: an empty home, git,
// gh, and nothing else; then what GitHub would do, until the first comment.
func TestReadmeSetUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyTask(), "")
	testtool.Need(t, "gh")
	// A GitHub of a repository that knows nothing of the assistant yet.
	w.gh = ghtest.New(ghtest.Options{Repo: repoName, Now: time.Now})
	w.gh.SetPermission("mona", "admin")
	w.door.next = ghcheck.Handler(t, w.gh)
	g := &github{t: t, w: w}
	home, clone := w.path("home"), w.path("clone")
	proxy := githubCom(t, g, filepath.Join(home, "ca.pem"))
	put(t, home, ".gitconfig", `[user]
	name = mona
	email = mona@example.com
[url "`+w.path("served")+`/"]
	pushInsteadOf = https://github.com/
`)
	env := []string{
		"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "BROWSER=true", "GH_TOKEN=gho_mona", // gh auth login
		"HTTPS_PROXY=" + proxy, "SSL_CERT_FILE=" + filepath.Join(home, "ca.pem"),
	}
	script := func(dir, input, text string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(input)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s\n%s\n%s", err, text, out, stderr.String())
		}
		return string(out)
	}
	// Their repository: one file, on a server.
	script(w.dir, "", "git init -q --bare -b main served/"+repoName+` && git init -q -b main clone && cd clone &&
		git remote add origin https://github.com/`+repoName+` && printf 'package main\n' >main.go && git add -A && git commit -qm First && git push -qu origin main 2>&1`)

	var steps []step
	did := func(what string, commands int, began time.Time) {
		steps = append(steps, step{what, commands, time.Since(began)})
	}
	commands := blocks(t)
	if len(commands) != 2 {
		t.Fatalf("README's set-up has %d blocks of commands: %q", len(commands), commands)
	}
	began := time.Now()
	// One shell, as a person has one: what the first block sets, the second one uses.
	out := script(clone, "", commands[0]+"\ncd "+clone+"\n"+commands[1])
	did("the program, the commit of its release, `install`", lines(commands[0])+lines(commands[1]), began)

	began = time.Now()
	rules, err := os.ReadFile(filepath.Join(clone, filepath.FromSlash(config.RulesPath)))
	if err != nil {
		t.Fatal(err)
	}
	put(t, clone, config.RulesPath, string(rules)+"\n"+rulesWord+": this is a test.\n")
	did("a line in `rules.md`", 0, began)

	_, left, found := strings.Cut(out, "What is left to do, in the repository:\n")
	before, last, found2 := strings.Cut(left, "# When the run ")
	if !found || !found2 {
		t.Fatalf("install does not say what is left to do:\n%s", out)
	}
	path := `export PATH="$HOME/.local/bin:$PATH"` + "\n"
	began = time.Now()
	script(clone, theKey+"\n", path+before)
	did("what `install` printed, with the key", lines(before), began)

	// GitHub: the push brought labels.toml.
	if err := os.RemoveAll(w.repo); err != nil {
		t.Fatal(err)
	}
	w.git0(t, "clone", "-q", w.path("served", repoName), w.repo)
	w.adapt(t)
	w.commit(t)
	for _, file := range w.workflows(t) {
		w.gh.AddWorkflow(ghapi.Workflow{Path: ".github/workflows/" + file, Name: file, State: "active"})
	}
	began = time.Now()
	r := w.run(t, start{event: "push", workflow: "issue-assistant-labels.yml", payload: pushed("main")})
	if r.code != 0 || len(w.gh.Labels()) < 10 {
		t.Errorf("labels: rc %d, %d labels", r.code, len(w.gh.Labels()))
	}
	did("GitHub: the workflow of the labels", 0, began)

	began = time.Now()
	if out := script(clone, "", path+"# When the run "+last); strings.Contains(out, "error") || strings.Contains(out, "warning") {
		t.Errorf("check --online after all steps:\n%s", out)
	}
	did("`check --online`", lines("# When the run "+last), began)

	w.gh.AddIssue(ghapi.Issue{Number: number, Title: "It crashes on start", Body: "It says `panic: nil map`.", Author: ghapi.User{Login: reporter}})
	began = time.Now()
	r = w.run(t, start{event: "issues", payload: w.opened()})
	if got := w.ours(); r.code != 0 || len(got) != 1 || !strings.Contains(got[0].Body, "The program ends with a panic") {
		t.Fatalf("rc %d, jobs %v, %d comments", r.code, r.jobs, len(got))
	}
	if lines := r.lines("Analyze"); len(lines) != 1 || !strings.Contains(lines[0], "**triage** of #12") {
		t.Errorf("summary: %q", lines)
	}
	if system, _ := parts(t, w.ai.MainRequests()[0].Body); !strings.Contains(system, rulesWord) {
		t.Error("the line in rules.md did not reach the model")
	}
	did("GitHub: an issue, until its comment stands", 0, began)
	for _, s := range steps {
		t.Logf("%-50s %2d commands %6.1f s", s.what, s.commands, s.took.Seconds())
	}
	if file := os.Getenv("SETUP_TRIAL"); file != "" {
		writeTrial(t, file, steps)
	}
}

// lines counts commands.
func lines(script string) int {
	n := 0
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// git0 runs git outside of the work tree.
func (w *world) git0(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// workflows are the names of the workflow files of the work tree.
func (w *world) workflows(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.repo, ".github", "workflows"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// writeTrial writes docs/benchmarks/setup.md.
func writeTrial(t *testing.T, file string, steps []step) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`# From nothing to the first comment

` + "`make bench-setup`" + ` follows README's "Set it up" to the letter: an empty home, git, gh and nothing else; the commands of
README's blocks, then those that ` + "`install`" + ` prints. github.com is a stand-in on the same machine (the fake of the tests behind
a proxy), workflows are run by act, the engine is the real Claude Code against a stand-in of its provider. So the seconds are those
of the programs: what a person reads and types comes on top, and so do GitHub's queue and the real model. The same trial, without
this page, is a test (` + "`TestReadmeSetUp`" + `): a README that no longer works fails it.

| step | commands | seconds |
|---|---:|---:|
`)
	total, commands := time.Duration(0), 0
	for _, s := range steps {
		fmt.Fprintf(&b, "| %s | %d | %.1f |\n", s.what, s.commands, s.took.Seconds())
		total, commands = total+s.took, commands+s.commands
	}
	fmt.Fprintf(&b, "| **all** | **%d** | **%.1f** |\n", commands, total.Seconds())
	b.WriteString(`
By hand remain: the sign-in to gh, the key, the words in rules.md, and one switch on the settings page (auto-close).

## Where the first trial stumbled

| stumble | now |
|---|---|
| README began with ` + "`issue-assistant install`" + ` and did not say where the program comes from | the first block fetches it from the release |
| nor how one learns the COMMIT of a TAG | the same block asks GitHub for it |
| ` + "`check --online`" + `, the last command that ` + "`install`" + ` prints, found no token: gh keeps it to itself | the printed line hands it over |
| ` + "`gh workflow run issue-assistant-labels.yml`" + ` right after the push: GitHub may not know the new workflow yet | left out: the push of labels.toml starts that workflow by itself |
| the files went to the default branch before the environment with its branch policy was there: a run in between makes GitHub create one without | the environment and the key come first |
| a build that is no release starts nothing until a variable is on, which was said last, after all else had been tried | said first |
`)
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
