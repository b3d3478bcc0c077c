package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// mutation is one change that breaks a promise of the product.
type mutation struct {
	ID      string `toml:"id"`
	Breaks  string `toml:"breaks"`  // the promise, in a sentence for the page
	Path    string `toml:"path"`    // the file, from the root of the module
	Old     string `toml:"old"`     // stands exactly once in the file
	New     string `toml:"new"`     // what stands there instead
	Package string `toml:"package"` // the folder whose tests have to notice
	Run     string `toml:"run"`     // the tests to run, as for go test -run; empty: all of the package
}

// parse reads the list. A key that it does not know is a mistake, not a comment.
func parse(text string) ([]mutation, error) {
	var list struct {
		Mutation []mutation `toml:"mutation"`
	}
	meta, err := toml.Decode(text, &list)
	if err != nil {
		return nil, fmt.Errorf("read the mutations: %w", err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return nil, fmt.Errorf("read the mutations: unknown key %s", extra[0])
	}
	seen := map[string]bool{}
	for i, m := range list.Mutation {
		switch {
		case m.ID == "" || m.Breaks == "" || m.Path == "" || m.Old == "" || m.Package == "":
			return nil, fmt.Errorf("mutation %d %q lacks one of id, breaks, path, old, package", i+1, m.ID)
		case m.Old == m.New:
			return nil, fmt.Errorf("%s changes nothing", m.ID)
		case seen[m.ID]:
			return nil, fmt.Errorf("%s is there twice", m.ID)
		case strings.HasSuffix(m.Path, "_test.go"):
			return nil, fmt.Errorf("%s changes a test", m.ID)
		}
		seen[m.ID] = true
	}
	return list.Mutation, nil
}

// choose takes the mutations whose id contains one of the words; no words: all.
func choose(all []mutation, words string) []mutation {
	if words == "" {
		return all
	}
	var out []mutation
	for _, m := range all {
		for word := range strings.SplitSeq(words, ",") {
			if strings.Contains(m.ID, word) {
				out = append(out, m)
				break
			}
		}
	}
	return out
}

// check makes sure that every mutation still fits the tree, before the first one runs.
func check(dir string, list []mutation) error {
	var errs []error
	for _, m := range list {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m.Path)))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.ID, err))
			continue
		}
		if n := strings.Count(string(data), m.Old); n != 1 {
			errs = append(errs, fmt.Errorf("%s: its text stands %d times in %s, not once", m.ID, n, m.Path))
		}
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(m.Package))); err != nil || !info.IsDir() {
			errs = append(errs, fmt.Errorf("%s: %s is no folder", m.ID, m.Package))
		}
	}
	return errors.Join(errs...)
}
