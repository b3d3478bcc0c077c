package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// fill puts the issue into the repository in memory and the files into the checkout.
func (s *trial) fill(ctx context.Context, what string, f tryFlags, repo string) error {
	switch {
	case slices.Contains(sampleNames(), what):
		return s.fillSample(what)
	case strings.HasSuffix(what, ".json"), what == "-":
		data, err := s.user.readInput(what)
		if err != nil {
			return usage(err)
		}
		if s.issue, err = s.server.LoadIssue(data); err != nil {
			return usage(fmt.Errorf("%s: %w", what, positioned(data, errors.Unwrap(err))))
		}
		if s.issue < 1 {
			return usage(fmt.Errorf("%s: the issue has no number", what))
		}
		return s.fillCheckout()
	}
	number, err := issueNumber(what)
	if err != nil || number == 0 {
		return usage(withHint(fmt.Errorf("%q is no sample, no file that ends in .json and no number", what), "issue-assistant try --help"))
	}
	if f.repo == "" {
		return usage(withHint(errors.New("an issue's number needs its repository"), "--repo owner/name"))
	}
	return s.fillReal(ctx, repo, number)
}

func (s *trial) fillSample(name string) error {
	read := func(file string) []byte {
		data, err := readSample(file)
		if err != nil {
			return nil
		}
		return data
	}
	var others []json.RawMessage
	if err := json.Unmarshal(read("sample/issues.json"), &others); err != nil {
		return failure(err)
	}
	for _, other := range others {
		if _, err := s.server.LoadIssue(other); err != nil {
			return failure(err)
		}
	}
	var err error
	if s.issue, err = s.server.LoadIssue(read("sample/" + name + "/issue.json")); err != nil {
		return failure(err)
	}
	s.recording = read("sample/" + name + "/recording.jsonl")
	tree, err := fs.Sub(samples, "sample/checkout")
	if err != nil {
		return failure(err)
	}
	if err := copyTree(tree, s.dir, ".txt"); err != nil {
		return failure(err)
	}
	return s.fillSettings(assets.FS)
}

// readSample reads a file of the samples; most are compressed, to keep the program small.
func readSample(file string) ([]byte, error) {
	data, err := samples.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if data, err = samples.ReadFile(file + ".gz"); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// fillCheckout takes the settings of the working folder, where there are any: the issue is tried as this repository
// would treat it. Without them the starters are used.
func (s *trial) fillCheckout() error {
	if err := os.MkdirAll(s.dir, 0o750); err != nil {
		return failure(err)
	}
	here := os.DirFS(s.user.Dir)
	if _, err := fs.Stat(here, config.LabelsPath); err == nil {
		return s.fillSettings(here)
	}
	return s.fillSettings(assets.FS)
}

// fillSettings copies the text files of .issue-assistant.
func (s *trial) fillSettings(from fs.FS) error {
	dir := filepath.Join(s.dir, config.Dir)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return failure(err)
	}
	for _, name := range []string{"config.toml", "labels.toml", "rules.md", "texts.toml"} {
		data, err := fs.ReadFile(from, config.Dir+"/"+name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return failure(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return failure(err)
		}
	}
	return nil
}

// fillReal reads an issue with its comments. Public repositories need no token; one in the environment is used.
func (s *trial) fillReal(ctx context.Context, repo string, number int) error {
	outside := *s.user
	outside.Getenv = func(name string) string {
		if name == "GITHUB_REPOSITORY" {
			return repo
		}
		return s.user.Getenv(name)
	}
	client, err := outside.github()
	if err != nil {
		return err
	}
	issue, err := client.Issue(ctx, number)
	if err != nil {
		return failure(err)
	}
	comments, err := client.Comments(ctx, number)
	if err != nil {
		return failure(err)
	}
	known, err := client.Labels(ctx)
	if err != nil {
		return failure(err)
	}
	s.server.AddLabel(known...)
	s.issue = s.server.AddIssue(issue)
	for _, c := range comments {
		s.server.AddComment(number, c.Author.Login, c.Body)
	}
	return s.fillCheckout()
}

// labelsOf gives the repository in memory the labels that its settings name.
func (s *trial) labelsOf(dir string) error {
	file, _, err := config.LoadLabels(os.DirFS(dir))
	if err != nil {
		return failure(err)
	}
	have := s.server.Labels()
	for _, l := range file.Labels {
		if !slices.ContainsFunc(have, func(h ghapi.Label) bool { return strings.EqualFold(h.Name, l.Name) }) {
			s.server.AddLabel(ghapi.Label{Name: l.Name, Color: l.Color, Description: l.Description})
		}
	}
	issue, _ := s.server.Issue(s.issue)
	s.title = issue.Title
	return nil
}
