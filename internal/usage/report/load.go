package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/issue-assistant/issue-assistant/internal/usage"
	"github.com/issue-assistant/issue-assistant/internal/usage/ledger"
)

// Load reads all records below a folder: files that hold one record, carried records, an array, or one record a line.
// Each attempt of a run counts once; records without a run id are all counted. Files that hold none are named; a record
// that no program of ours can have written is none.
func Load(dir fs.FS) (records []usage.Record, unread []string, err error) {
	seen := map[ledger.Key]bool{}
	err = fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := path.Ext(name); ext != ".json" && ext != ".jsonl" {
			return nil
		}
		got, err := loadFile(dir, name)
		if err != nil || len(got) == 0 {
			unread = append(unread, name)
			return nil //nolint:nilerr // a file that holds no records is named, not fatal
		}
		for _, r := range got {
			key := ledger.Key{RunID: r.RunID, Attempt: r.Attempt}
			if r.RunID > 0 && seen[key] {
				continue
			}
			seen[key] = true
			records = append(records, r)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the records: %w", err)
	}
	return records, unread, nil
}

var errNoFile = errors.New("no regular file")

// maxLine bounds one record, in bytes.
const maxLine = 1 << 20

func loadFile(dir fs.FS, name string) (records []usage.Record, err error) {
	// Opening a pipe waits for its writer, and a device never ends.
	if info, err := fs.Stat(dir, name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNoFile)
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(f, 64<<10)
	if mark, err := r.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = r.Discard(3) // the mark that editors on Windows write
	}
	if path.Ext(name) == ".jsonl" {
		return loadLines(r)
	}
	return loadValues(json.NewDecoder(r))
}

func loadLines(r io.Reader) ([]usage.Record, error) {
	var records []usage.Record
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
	for scanner.Scan() {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		var rec usage.Record
		if err := json.Unmarshal(line, &rec); err != nil || !ledger.Plausible(rec) {
			continue // another line of the file may still hold one
		}
		records = append(records, rec)
	}
	return records, scanner.Err()
}

func loadValues(dec *json.Decoder) ([]usage.Record, error) {
	var records []usage.Record
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			return records, nil
		} else if err != nil {
			return records, err
		}
		records = append(records, recordsOf(raw)...)
	}
}

// recordsOf tells the forms of a file apart by what they hold.
func recordsOf(raw json.RawMessage) []usage.Record {
	var list []usage.Record
	if json.Unmarshal(raw, &list) == nil {
		return valid(list)
	}
	var carried ledger.Carried
	if json.Unmarshal(raw, &carried) == nil && carried.Records != nil {
		return valid(carried.Records)
	}
	var one usage.Record
	if json.Unmarshal(raw, &one) != nil {
		return nil
	}
	return valid([]usage.Record{one})
}

func valid(list []usage.Record) []usage.Record {
	kept := list[:0]
	for _, r := range list {
		if ledger.Plausible(r) {
			kept = append(kept, r)
		}
	}
	return kept
}
