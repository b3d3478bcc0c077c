package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// actTimeout bounds one run of a workflow, 40 turns on a machine under load among them.
const actTimeout = 4 * time.Minute

// start says how act is started.
type start struct {
	event    string // issues, issue_comment, workflow_dispatch
	payload  map[string]any
	workflow string // file name; empty: the router
	run      int64  // id of the run on GitHub; 0: 4711
	attempt  int    // 0: the first
	job      string // only this job, and what it needs
	key      string // empty: the engine's
	noKey    bool   // the secret does not exist
	during   func(running *exec.Cmd)
	more     []string // further arguments of act
}

// result is what act said about a run.
type result struct {
	code      int
	took      time.Duration
	jobs      map[string]string // name of the job, such as "Triage/Analyze": success or failure; skipped ones are missing
	steps     map[string]string // "job/step": success, failure
	summaries []summary
	outputs   map[string]string // "step.name" of set-output, the last one that was said
	warnings  []string
	errors    []string
	log       string // everything
}

type summary struct{ job, step, text string }

// actLine is one line of act's log.
type actLine struct {
	Job        string   `json:"job"`
	JobID      string   `json:"jobID"`
	Step       string   `json:"step"`
	StepID     []string `json:"stepID"`
	StepResult string   `json:"stepResult"`
	JobResult  string   `json:"jobResult"`
	Command    string   `json:"command"`
	Name       string   `json:"name"`
	Arg        string   `json:"arg"`
	Content    string   `json:"content"`
	Message    string   `json:"msg"`
	Raw        string   `json:"raw"`
}

var pins = regexp.MustCompile(`uses: (actions/[a-z-]+@[0-9a-f]{40})`)

// run starts act for one event and waits for its end.
func (w *world) run(t *testing.T, s start) result {
	t.Helper()
	actAtOnce <- struct{}{}
	defer func() { <-actAtOnce }()
	if s.run == 0 {
		s.run = 4711
	}
	if s.attempt == 0 {
		s.attempt = 1
	}
	if s.workflow == "" {
		s.workflow = "issue-assistant.yml"
	}
	if s.key == "" {
		s.key = w.cli.key
	}
	w.door.read(t, w.repo)
	w.started++
	dir := w.path("act" + strconv.Itoa(w.started))
	data, err := json.Marshal(s.payload)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "event.json", string(data))
	cmd := exec.Command(w.act, w.arguments(t, s, dir)...)
	cmd.Dir = w.repo
	cmd.Env = []string{
		"HOME=" + dir, "PATH=" + w.path("bin") + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "ACT_DISABLE_VERSION_CHECK=1", "NO_COLOR=1",
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(actTimeout, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	var during sync.WaitGroup
	if s.during != nil {
		during.Go(func() { s.during(cmd) })
	}
	err = cmd.Wait()
	during.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("act: %v\n%s", err, tail(out.String()))
	}
	r := readAct(out.Bytes())
	r.code, r.took = cmd.ProcessState.ExitCode(), time.Since(began)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("act, run %d: rc %d after %s, jobs %v\n%s", s.run, r.code, r.took, r.jobs, tail(r.log))
		}
	})
	if strings.Contains(r.log, s.key) {
		t.Error("the log holds the key")
	}
	return r
}

func (w *world) arguments(t *testing.T, s start, dir string) []string {
	t.Helper()
	args := []string{
		s.event, "-e", filepath.Join(dir, "event.json"), "-C", w.repo, "-W", ".github/workflows/" + s.workflow, "--json",
		"-P", "ubuntu-latest=-self-hosted", "--action-cache-path", filepath.Join(dir, "cache"), "--rm", "--pull=false",
		"--env-file", "/dev/null", "--secret-file", "/dev/null", "--var-file", "/dev/null", "--input-file", "/dev/null",
		"--no-cache-server", "--defaultbranch", "main", "--actor", reporter,
		"--local-repository", "issue-assistant/issue-assistant@" + actionSHA + "=" + w.path("action"),
	}
	seen := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(w.repo, ".github", "workflows", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pins.FindAllStringSubmatch(string(text), -1) {
			if !seen[m[1]] && strings.HasPrefix(m[1], "actions/upload-artifact@") {
				args = append(args, "--local-repository", m[1]+"="+w.path("upload"))
			}
			seen[m[1]] = true
		}
	}
	for name, value := range map[string]string{
		"GITHUB_API_URL": w.api, "GITHUB_GRAPHQL_URL": w.api + "/graphql", "GITHUB_REPOSITORY": repoName,
		"GITHUB_RUN_ID": strconv.FormatInt(s.run, 10), "GITHUB_RUN_ATTEMPT": strconv.Itoa(s.attempt),
		w.cli.baseVar: w.cli.url(),
	} {
		args = append(args, "--env", name+"="+value)
	}
	if s.job != "" {
		args = append(args, "-j", s.job)
	}
	if !s.noKey {
		args = append(args, "-s", w.cli.secret+"="+s.key)
	}
	return append(append(args, "-s", "GITHUB_TOKEN="+theToken), s.more...)
}

func readAct(out []byte) result {
	r := result{jobs: map[string]string{}, steps: map[string]string{}, outputs: map[string]string{}, log: string(out)}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l actLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue // act's last words are no JSON
		}
		job := jobName(l.Job)
		step := l.Step
		if l.JobResult != "" {
			r.jobs[job] = l.JobResult
		}
		if l.StepResult != "" && len(l.StepID) == 1 {
			r.steps[job+"/"+strings.TrimPrefix(step, "Main ")] = l.StepResult
		}
		switch l.Command {
		case "summary":
			// A step of a composite action is reported twice: as itself and as the step that uses the action.
			if len(l.StepID) == 1 && strings.TrimSpace(l.Content) != "" {
				r.summaries = append(r.summaries, summary{job, step, l.Content})
			}
		case "set-output":
			if len(l.StepID) > 0 {
				r.outputs[l.StepID[0]+"."+l.Name] = l.Arg
			}
		case "warning":
			r.warnings = append(r.warnings, l.Arg)
		case "error":
			r.errors = append(r.errors, l.Arg)
		}
	}
	return r
}

// jobName is what act calls a job, without the workflow's name before it.
func jobName(s string) string {
	if i := strings.LastIndex(s, "/"); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(s)
}

// lines are the summaries of a job, each read once, line by line.
func (r result) lines(job string) []string {
	var all []string
	for _, s := range r.summaries {
		if s.job == job {
			all = append(all, strings.Split(strings.TrimRight(s.text, "\n"), "\n")...)
		}
	}
	return all
}

func tail(s string) string {
	const most = 12000
	if len(s) > most {
		s = fmt.Sprintf("… %d bytes before\n%s", len(s)-most, s[len(s)-most:])
	}
	return s
}
