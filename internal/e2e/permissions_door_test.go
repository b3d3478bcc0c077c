package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

// door stands before the fake GitHub and does to tokens what GitHub does and act does not: each job's token may do what
// the job was granted, nothing else. The stand-in of the action's dist/ makes the tokens differ: it appends the task and
// the job to the one token that act hands out.
type door struct {
	t    testing.TB
	next http.Handler

	mu      sync.Mutex
	granted map[string]grants            // by "file/job"
	used    map[string]map[string]string // by "file/job": scope and level, the highest that was asked for
	example map[string]string            // by "file/job scope level": a request
	unnamed []string                     // requests with the token of no job
	refused []string
}

// grants are the scopes of a job, as its file and its caller name them together.
type grants map[string]string

func newDoor(t testing.TB, next http.Handler) *door {
	t.Helper()
	return &door{t: t, next: next, used: map[string]map[string]string{}, example: map[string]string{}}
}

// level orders the levels.
func level(l string) int { return map[string]int{"read": 1, "write": 2}[l] }

// read takes the grants from the workflows that a run starts from.
func (d *door) read(t testing.TB, repo string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.granted = readGrants(t, repo)
}

// readGrants returns what each job with steps is granted: what its own block says, and no more than the jobs that call
// its file were granted.
func readGrants(t testing.TB, repo string) map[string]grants {
	t.Helper()
	type job struct {
		Permissions grants `yaml:"permissions"`
		Uses        string `yaml:"uses"`
	}
	files, err := filepath.Glob(filepath.Join(repo, ".github", "workflows", "issue-assistant*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	own, callers := map[string]grants{}, map[string][]grants{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var flow struct {
			Jobs map[string]job `yaml:"jobs"`
		}
		if err := yaml.Unmarshal(data, &flow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, j := range flow.Jobs {
			if j.Uses != "" {
				callers[filepath.Base(j.Uses)] = append(callers[filepath.Base(j.Uses)], j.Permissions)
				continue
			}
			own[filepath.Base(file)+"/"+name] = j.Permissions
		}
	}
	for name, g := range own {
		file, _, _ := strings.Cut(name, "/")
		for _, caller := range callers[file] {
			for scope, l := range g {
				if level(caller[scope]) < level(l) {
					t.Errorf("%s asks for %s: %s, its caller was granted %q; GitHub would not load the caller", name, scope, l, caller[scope])
				}
			}
		}
	}
	return own
}

// tokenOf is the token of a job: what act hands out, and a digest of the task and the job, of which no word could be
// taken for a secret in a comment.
func tokenOf(task, job string) string {
	sum := sha256.Sum256([]byte(task + "/" + job))
	return theToken + "." + hex.EncodeToString(sum[:])[:40]
}

// jobOf is the job whose token a request carries.
func (d *door) jobOf(r *http.Request) string {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	for name := range d.granted {
		file, job, _ := strings.Cut(name, "/")
		task := "" // only the workflows of tasks give their steps one
		if job == "analyze" || job == "apply" {
			task = strings.TrimSuffix(strings.TrimPrefix(file, "issue-assistant-"), ".yml")
		}
		if token == tokenOf(task, job) {
			return name
		}
	}
	return ""
}

// ServeHTTP lets a request through when its job was granted what it needs.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	path := r.URL.EscapedPath()
	if strings.HasPrefix(path, "/_blob/") { // the blob host: an artifact's address is its own permission
		if r.Header.Get("Authorization") != "" {
			d.t.Errorf("the token went to the blob host")
		}
		d.next.ServeHTTP(w, r)
		return
	}
	d.mu.Lock()
	job := d.jobOf(r)
	granted := maps.Clone(d.granted[job])
	d.mu.Unlock()
	if job == "" {
		d.mu.Lock()
		d.unnamed = append(d.unnamed, r.Method+" "+path)
		d.mu.Unlock()
		d.t.Errorf("%s %s came with the token of no job", r.Method, path)
	}
	r.Header.Set("Authorization", "Bearer "+theToken)
	asked, err := needed(r, path, body)
	if err != nil {
		d.t.Errorf("%s: %v", job, err)
	}
	if d.note(job, granted, asked, r.Method+" "+path) != nil && job != "" {
		forbidden(w)
		return
	}
	if r.Method != http.MethodGet || !fits("/repos/{}/{}/issues/{}", path) {
		d.next.ServeHTTP(w, r)
		return
	}
	// Whether a number is a pull request is known only afterwards.
	answer := httptest.NewRecorder()
	d.next.ServeHTTP(answer, r)
	var issue struct {
		Pull any `json:"pull_request"`
	}
	if json.Unmarshal(answer.Body.Bytes(), &issue) == nil && issue.Pull != nil {
		if d.note(job, granted, []permission{{"pull-requests", "read"}}, r.Method+" "+path+" (a pull request)") != nil && job != "" {
			forbidden(w)
			return
		}
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// note keeps what was asked for, and reports the first permission that the job lacks.
func (d *door) note(job string, granted grants, asked []permission, request string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var lacking error
	for _, p := range asked {
		if p.scope == metadata {
			continue
		}
		if level(granted[p.scope]) < level(p.level) {
			lacking = fmt.Errorf("%s needs %s: %s for %s and was granted %q", job, p.scope, p.level, request, granted[p.scope])
			d.refused = append(d.refused, lacking.Error())
			d.t.Error(lacking)
			continue
		}
		if d.used[job] == nil {
			d.used[job] = map[string]string{}
		}
		if level(d.used[job][p.scope]) < level(p.level) {
			d.used[job][p.scope] = p.level
			d.example[job+" "+p.scope+" "+p.level] = request
		}
	}
	return lacking
}

// forbidden is GitHub's answer to a token that lacks a permission.
func forbidden(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest","status":"403"}`)
}
