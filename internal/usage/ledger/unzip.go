package ledger

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/usage"
)

// Bounds of one artifact, in bytes and entries. A thousand runs a month need about 200 kB.
const (
	maxZip     = 4 << 20
	maxFile    = 8 << 20
	maxEntries = 16
)

// unzip reads the two files of an artifact and nothing else, whatever the archive claims about itself.
func unzip(data []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	if len(z.File) > maxEntries {
		return nil, errors.New("the archive has too many entries")
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		if f.Name != RecordFile && f.Name != CarriedFile {
			continue
		}
		if _, twice := files[f.Name]; twice {
			return nil, errors.New("the archive holds a file twice")
		}
		text, err := readEntry(f)
		if err != nil {
			return nil, err
		}
		files[f.Name] = text
	}
	return files, nil
}

func readEntry(f *zip.File) (text []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open an entry: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	text, err = io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("an entry is too large")
	}
	return text, err
}

func base(p string) string { return path.Base(p) }

// maxCost is above every budget that the settings allow; a record that says more is not believed.
const maxCost = 10_000

// plausible refuses records that no run of ours on GitHub can have written.
func plausible(r usage.Record) bool { return r.RunID > 0 && r.Attempt > 0 && Plausible(r) }

// Plausible refuses records with words or numbers that none of our programs writes; on a maintainer's own machine they
// have no run.
func Plausible(r usage.Record) bool {
	money := func(x *float64) bool { return x == nil || (*x >= 0 && *x <= maxCost) }
	count := func(x *int64) bool { return x == nil || (*x >= 0 && *x <= enginelog.MaxTokens) }
	return r.Schema == usage.RecordSchema && r.RunID >= 0 && r.Attempt >= 0 && r.Issue >= 0 &&
		engine.Ended(r.Ended).Valid() && usage.Word(r.Task) == r.Task &&
		money(r.CostUSD) && money(r.MaxBudgetUSD) && count(r.Turns) && count(r.Calls) && count(r.DurationMS) &&
		!slices.ContainsFunc(r.Models, func(m usage.RecordModel) bool {
			return !money(m.CostUSD) || !count(m.Input) || !count(m.CachedInput) || !count(m.CacheWrite) || !count(m.Output)
		})
}
