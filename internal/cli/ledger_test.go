package cli

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	usagepkg "github.com/issue-assistant/issue-assistant/internal/usage"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// month is a stage whose repository has had runs, and a runner for `engine`.
type month struct{ *stage }

func newMonth(t *testing.T, settings string) month {
	t.Helper()
	m := month{newStage(t)}
	m.write(t, ".issue-assistant/config.toml", settings)
	m.env["RUNNER_TEMP"] = t.TempDir()
	m.env["GITHUB_RUN_ID"], m.env["GITHUB_RUN_ATTEMPT"] = "9000", "1"
	m.env["GITHUB_STEP_SUMMARY"] = filepath.Join(m.env["RUNNER_TEMP"], "summary.md")
	return m
}

const routerPath = ".github/workflows/issue-assistant.yml"

// past adds a finished run with its record.
func (m month) past(t *testing.T, id int64, cost float64) {
	t.Helper()
	started := m.Now()
	rec := usagepkg.Record{Schema: 1, Repository: "octo/demo", Issue: 1, Task: "triage", RunID: id, Attempt: 1, Started: &started, Ended: "finished", CostUSD: &cost}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(ledger.RecordFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(w).Encode(rec); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	m.AddRun(ghapi.Run{ID: id, Path: routerPath})
	m.AddArtifact(ghapi.Artifact{Name: ledger.ArtifactName(1), RunID: id}, b.Bytes())
}

func (m month) engine(t *testing.T) int {
	t.Helper()
	return m.run(t, "engine", "--task", "triage", "--issue", "1", "--ready-engines", "claude")
}

func TestMonthlyCapStopsTheNextRun(t *testing.T) {
	t.Parallel()
	m := newMonth(t, "[limits]\nmonthly_usd = 5.0\n")
	m.past(t, 101, 1.5)
	m.past(t, 102, 2.25)
	if code := m.engine(t); code != 0 || m.output("ready") != "true" {
		t.Fatalf("$3.75 and a run of $1 fit into $5: exit %d, %s\n%s", code, m.out, m.err)
	}
	carried, err := os.ReadFile(filepath.Join(m.env["RUNNER_TEMP"], ledger.CarriedFile))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := ledger.DecodeCarried(carried); err != nil || len(c.Records) != 2 || len(c.Artifacts) != 2 {
		t.Errorf("carried: %s %v", carried, err)
	}
	m.past(t, 103, 0.5)
	if code := m.engine(t); code != 0 || m.output("ready") != "false" || m.output("reason") != "monthly cap" || m.output("max-turns") != "40" {
		t.Fatalf("exit %d, %s\n%s", code, m.out, m.err)
	}
	summary, err := os.ReadFile(m.env["GITHUB_STEP_SUMMARY"])
	if err != nil {
		t.Fatal(err)
	}
	want := "**triage** of #1 · not started: this month's runs cost $4.25, and $0.00 is kept back for 0 runs of unknown cost; another $1.00 would exceed `monthly_usd = 5.00`\n"
	if string(summary) != want {
		t.Errorf("got %q", summary)
	}
}

func TestRunsWithoutARecordCountAgainstTheCap(t *testing.T) {
	t.Parallel()
	m := newMonth(t, "[limits]\nmonthly_usd = 2.5\n")
	m.past(t, 101, 0.5)
	analyze := func(step string) ghapi.Job {
		return ghapi.Job{Name: "Triage / Analyze", Status: "completed", Conclusion: "failure", Steps: []ghapi.Step{{Name: "Run", Status: "completed", Conclusion: step}}}
	}
	m.AddRun(ghapi.Run{ID: 201, Path: routerPath, Status: "completed", Conclusion: "failure"})
	m.SetJobs(201, analyze("skipped"))
	if m.engine(t); m.output("ready") != "true" {
		t.Fatalf("a run that never reached its engine costs nothing: %s\n%s", m.out, m.err)
	}
	m.AddRun(ghapi.Run{ID: 202, Path: routerPath, Status: "completed", Conclusion: "cancelled"})
	m.SetJobs(202, analyze("cancelled"))
	if m.engine(t); m.output("ready") != "true" {
		t.Fatalf("$0.50 + $1.00 lost + $1.00 fit into $2.50: %s\n%s", m.out, m.err)
	}
	m.AddRun(ghapi.Run{ID: 203, Path: routerPath, Status: "in_progress"})
	m.SetJobs(203, ghapi.Job{Name: "Triage / Analyze", Status: "in_progress"})
	if m.engine(t); m.output("reason") != "monthly cap" {
		t.Fatalf("an older run on its way counts: %s\n%s", m.out, m.err)
	}
}

func TestUnreadableHistoryStartsNothing(t *testing.T) {
	t.Parallel()
	for settings, reason := range map[string]string{"": "ledger unreadable", "[limits]\nmonthly_usd = 0\n": ""} {
		m := newMonth(t, settings)
		m.AddFault(ghtest.Fault{Method: "GET", Path: "/repos/octo/demo/actions/artifacts", Status: 403, Times: 100})
		if code := m.engine(t); code != 0 || m.output("reason") != reason || m.output("ready") != strconv.FormatBool(reason == "") || m.output("max-budget-usd") != "1" {
			t.Errorf("settings %q: exit %d\n%s\n%s", settings, code, m.out, m.err)
		}
	}
}

func TestModelWithoutPriceIsRefused(t *testing.T) {
	t.Parallel()
	m := newMonth(t, "[engine]\nmodel = \"claude-of-next-year\"\n")
	if code := m.engine(t); code != 2 || !strings.Contains(m.err, "claude-of-next-year") {
		t.Errorf("exit %d\n%s", code, m.err)
	}
	m = newMonth(t, "[engine]\nmodel = \"claude-of-next-year\"\n[prices.\"claude-of-next-year\"]\ninput = 4.0\noutput = 20.0\n")
	if code := m.engine(t); code != 0 || m.output("ready") != "true" {
		t.Errorf("a price of one's own: exit %d\n%s\n%s", code, m.out, m.err)
	}
}

func TestCostReadsTheLedger(t *testing.T) {
	t.Parallel()
	m := newMonth(t, "")
	m.past(t, 101, 1.5)
	m.past(t, 102, 2.25)
	m.Advance(time.Hour)
	if code := m.run(t, "cost", "--since", "7d", "--json"); code != 0 {
		t.Fatalf("exit %d\n%s", code, m.err)
	}
	var rep struct {
		Total struct{ Cents, Runs int }
	}
	if err := json.Unmarshal([]byte(m.out), &rep); err != nil || rep.Total.Cents != 375 || rep.Total.Runs != 2 {
		t.Errorf("%+v %v\n%s", rep, err, m.out)
	}
	if err := checkSchema([]byte(m.out), "cost.schema.json"); err != nil {
		t.Errorf("the report does not fit its schema: %v", err)
	}
	summary, err := os.ReadFile(m.env["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(string(summary), "| **total** | **2** |") {
		t.Errorf("summary %q, %v", summary, err)
	}
}
