package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// Source is the part of GitHub that a reader needs.
type Source interface {
	Artifacts(ctx context.Context, name string, n int) ([]ghapi.Artifact, error)
	DownloadArtifact(ctx context.Context, id, limit int64) ([]byte, error)
	Run(ctx context.Context, id int64) (ghapi.Run, error)
	Runs(ctx context.Context, f ghapi.RunFilter) ([]ghapi.Run, error)
}

// ArtifactName is the name under which one attempt uploads its files; a fixed name would be refused on a re-run.
func ArtifactName(attempt int) string { return fmt.Sprintf("issue-assistant-usage-%d", attempt) }

// maxAttempts is up to which attempt artifacts are looked for.
const maxAttempts = 10

// Reader reads the ledger of one repository.
type Reader struct {
	Source    Source
	Repo      string   // owner/name
	Branch    string   // the default branch
	Workflows []string // paths of the workflow files whose runs count
	Self      Key      // the run that reads: it is not counted as lost
	// Started says whether a run without a record has started an engine. It is asked once per run.
	Started func(ctx context.Context, run ghapi.Run) (bool, error)
	Warn    func(text string) // one line of fixed words and numbers; may be nil
}

// Result is a ledger together with the started runs that have no record.
type Result struct {
	Ledger *Ledger
	Lost   []Key
}

// Read loads a month. An error means that the history is not known: no run may be started on it.
func (r Reader) Read(ctx context.Context, month Month) (Result, error) {
	artifacts, err := r.list(ctx, month)
	if err != nil {
		return Result{}, err
	}
	l := New()
	known := &runs{source: r.Source, byID: map[int64]ghapi.Run{}}
	for _, a := range artifacts {
		if l.Contains(a.ID) {
			continue
		}
		if err := r.load(ctx, l, known, a, month); err != nil {
			return Result{}, err
		}
	}
	lost, err := r.lost(ctx, l, month)
	for _, key := range known.damaged {
		if !l.Has(key) && key != r.Self && !slices.Contains(lost, key) {
			lost = append(lost, key)
		}
	}
	return Result{Ledger: l, Lost: lost}, err
}

// ReadAll loads everything that was started since a moment, for the report.
func (r Reader) ReadAll(ctx context.Context, since time.Time) (Result, error) {
	return r.Read(ctx, Month{start: since, end: farFuture})
}

var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// list returns the artifacts of the month that may be ours, newest first.
func (r Reader) list(ctx context.Context, month Month) ([]ghapi.Artifact, error) {
	var all []ghapi.Artifact
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		page, err := r.Source.Artifacts(ctx, ArtifactName(attempt), -1)
		if err != nil {
			return nil, fmt.Errorf("list the usage artifacts: %w", err)
		}
		if len(page) == 0 {
			break
		}
		for _, a := range page {
			if r.mayBeOurs(a) && !a.CreatedAt.Before(month.start) {
				all = append(all, a)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ghapi.Artifact) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all, nil
}

// mayBeOurs refuses what a fork's pull request or another branch has uploaded under our name.
func (r Reader) mayBeOurs(a ghapi.Artifact) bool {
	return !a.Expired && a.RunID > 0 && a.RepoID == a.HeadRepoID && a.HeadBranch == r.Branch
}

// ours reports whether a run may speak for itself: one of our workflow files, on the default branch of this repository.
func (r Reader) ours(run ghapi.Run) bool {
	return run.HeadRepo == r.Repo && run.HeadBranch == r.Branch && slices.Contains(r.Workflows, run.Path)
}

// load adds one artifact: its own record under its own run, and the records it carries of runs that exist.
func (r Reader) load(ctx context.Context, l *Ledger, known *runs, a ghapi.Artifact, month Month) error {
	run, found, err := known.get(ctx, a.RunID)
	if err != nil {
		return fmt.Errorf("read the run of an artifact: %w", err)
	}
	if !found || !r.ours(run) {
		return nil
	}
	data, err := r.Source.DownloadArtifact(ctx, a.ID, maxZip)
	if ghapi.IsGone(err) { // it has expired since it was listed
		known.noteDamaged(a, run, month)
		return nil
	}
	if ghapi.KindOf(err) == ghapi.KindTooLarge {
		known.noteDamaged(a, run, month)
		r.warn("artifact %d is too large and does not count: its run counts at its budget", a.ID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("download a usage artifact: %w", err)
	}
	files, err := unzip(data)
	if err != nil {
		known.noteDamaged(a, run, month)
		r.warn("artifact %d is not readable and does not count: its run counts at its budget", a.ID)
		return nil
	}
	if !r.loadOwn(l, files[RecordFile], a) {
		known.noteDamaged(a, run, month)
	}
	return r.loadCarried(ctx, l, known, files[CarriedFile], month)
}

func (r Reader) loadOwn(l *Ledger, data []byte, a ghapi.Artifact) bool {
	var own usage.Record
	if err := json.Unmarshal(data, &own); err != nil || !plausible(own) || own.RunID != a.RunID || a.Name != ArtifactName(own.Attempt) {
		r.warn("artifact %d holds no record of its own run and does not count: its run counts at its budget", a.ID)
		return false
	}
	l.Add(own)
	l.MarkContained(a.ID)
	return true
}

func (r Reader) loadCarried(ctx context.Context, l *Ledger, known *runs, data []byte, month Month) error {
	if len(data) == 0 {
		return nil
	}
	carried, err := DecodeCarried(data)
	if err != nil {
		r.warn("carried records are not readable: their artifacts are read one by one")
		return nil
	}
	if err := known.prefetch(ctx, r, month, carried.Records); err != nil {
		return err
	}
	for _, rec := range carried.Records {
		if run, ok := known.byID[rec.RunID]; ok && r.ours(run) && plausible(rec) && rec.Attempt <= run.Attempt {
			l.Add(rec)
		}
	}
	for _, id := range carried.Artifacts {
		l.MarkContained(id)
	}
	for _, k := range carried.Idle {
		l.MarkIdle(k)
	}
	return nil
}

// lost lists the started runs that left no record: their machine is gone, or they still go on.
func (r Reader) lost(ctx context.Context, l *Ledger, month Month) ([]Key, error) {
	var lost []Key
	for _, status := range []string{"in_progress", "failure", "cancelled", "timed_out"} {
		list, err := r.Source.Runs(ctx, ghapi.RunFilter{Branch: r.Branch, Status: status, Since: month.start})
		if err != nil {
			return nil, fmt.Errorf("list the runs that are %s: %w", status, err)
		}
		for _, run := range list {
			key := Key{run.ID, run.Attempt}
			if !r.ours(run) || key == r.Self || l.Has(key) || l.Idle(key) || !month.HoldsTime(run.CreatedAt) {
				continue
			}
			started, err := r.Started(ctx, run)
			if err != nil {
				return nil, fmt.Errorf("read the jobs of a run: %w", err)
			}
			switch {
			case started:
				lost = append(lost, key)
			case run.Status == "completed":
				l.MarkIdle(key)
			}
		}
	}
	return lost, nil
}

func (r Reader) warn(format string, args ...any) {
	if r.Warn != nil {
		r.Warn(fmt.Sprintf(format, args...))
	}
}

// runs remembers which runs exist.
type runs struct {
	damaged []Key // uploaded something that cannot be read, as only a run does that got to its engine
	source  Source
	byID    map[int64]ghapi.Run
	listed  bool
}

func (s *runs) noteDamaged(a ghapi.Artifact, run ghapi.Run, month Month) {
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		if a.Name == ArtifactName(attempt) && month.HoldsTime(run.CreatedAt) {
			s.damaged = append(s.damaged, Key{run.ID, attempt})
		}
	}
}

func (s *runs) get(ctx context.Context, id int64) (ghapi.Run, bool, error) {
	if run, ok := s.byID[id]; ok {
		return run, true, nil
	}
	run, err := s.source.Run(ctx, id)
	if ghapi.IsGone(err) {
		return ghapi.Run{}, false, nil
	}
	if err != nil {
		return ghapi.Run{}, false, err
	}
	s.byID[id] = run
	return run, true, nil
}

// prefetch lists the month's runs of our files once, when a carried record names a run that is not known yet.
func (s *runs) prefetch(ctx context.Context, r Reader, month Month, records []usage.Record) error {
	missing := slices.ContainsFunc(records, func(rec usage.Record) bool { _, ok := s.byID[rec.RunID]; return !ok })
	if s.listed || !missing {
		return nil
	}
	s.listed = true
	for _, path := range r.Workflows {
		list, err := s.source.Runs(ctx, ghapi.RunFilter{Workflow: base(path), Branch: r.Branch, Since: month.start})
		if ghapi.IsGone(err) {
			continue // not installed here
		}
		if err != nil {
			return fmt.Errorf("list the runs of a workflow: %w", err)
		}
		for _, run := range list {
			s.byID[run.ID] = run
		}
	}
	return nil
}
