package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// LoadRepo reads config.toml below the root of a repository. Without the file it returns the defaults. The error is
// about the machine, the findings are about the file.
func LoadRepo(root fs.FS) (Config, []diag.Diagnostic, error) {
	data, err := ReadFile(root, Path, MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Default(), nil, nil
	case err != nil:
		return Default(), nil, err
	}
	c, ds := Parse(Path, data)
	return c, ds, nil
}

// LoadLabels reads labels.toml below the root of a repository. A missing file is a finding.
func LoadLabels(root fs.FS) (LabelFile, []diag.Diagnostic, error) {
	data, err := ReadFile(root, LabelsPath, MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return LabelFile{}, []diag.Diagnostic{{
			Path: LabelsPath, Severity: diag.Error, Code: "labels-missing",
			Message: "the file is missing: the AI does not know which labels there are",
			Hint:    "run issue-assistant install, which writes a first one",
		}}, nil
	case err != nil:
		return LabelFile{}, nil, err
	}
	f, ds := ParseLabels(LabelsPath, data)
	return f, ds, nil
}

// CheckText finds what keeps a text file, such as rules.md, from being handed to an engine unchanged: it must be UTF-8
// and not larger than limit bytes.
func CheckText(path string, data []byte, limit int) []diag.Diagnostic {
	if len(data) > limit {
		return []diag.Diagnostic{{
			Path: path, Severity: diag.Error, Code: "text-too-large",
			Message: fmt.Sprintf("the file has more than %d bytes", limit), Hint: "shorten it",
		}}
	}
	if err := tomldoc.CheckUTF8(data); err != nil {
		return []diag.Diagnostic{{
			Path: path, Line: err.Line, Col: err.Col, Severity: diag.Error, Code: "text-encoding",
			Message: err.Message, Hint: encodingHint,
		}}
	}
	return nil
}

// ReadFile reads at most one byte more than limit, so that a parser can say that the file is too large.
func ReadFile(root fs.FS, path string, limit int64) ([]byte, error) {
	// Opening a pipe waits for its writer, which no signal ends; reading a device may wait as well.
	if info, err := fs.Stat(root, path); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSocket) != 0 {
		return nil, fmt.Errorf("read the settings: %s is no regular file", path)
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
