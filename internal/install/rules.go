package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/issue-assistant/issue-assistant/internal/config"
)

// The core block of rules.md is ours; all that stands outside its two markers is the maintainer's. The checksum in the
// first marker tells a block that somebody edited from one that an earlier release wrote.
const (
	coreBegin = "<!-- issue-assistant:core"
	coreEnd   = "<!-- /issue-assistant:core -->"
)

var (
	beginLine  = lazy.Regexp(`(?m)^<!-- issue-assistant:core\b[^\n]*-->\n`)
	endLine    = lazy.Regexp(`(?m)^<!-- /issue-assistant:core -->$`)
	beginStamp = lazy.Regexp(`checksum ([0-9a-f]{16})`)
)

// Core returns the core block of this release without its markers: the rules of a repository that has no rules.md.
func Core(templates fs.FS) (string, error) {
	data, err := fs.ReadFile(templates, config.RulesPath)
	if err != nil {
		return "", fmt.Errorf("read the rules: %w", err)
	}
	b, err := findCore(toLF(data))
	if err != nil || b == nil {
		return "", errors.Join(fmt.Errorf("the rules of this release have no core block"), err)
	}
	return string(b.text), nil
}

type core struct {
	start, end int // of the block with its markers
	text       []byte
	stamp      string
}

// intact reports whether the block is as a release wrote it.
func (c *core) intact() bool { return c.stamp == checksum(c.text) }

// findCore finds the block; nil when there is no marker at all.
func findCore(rules []byte) (*core, error) {
	begins, ends := beginLine().FindAllIndex(rules, -1), endLine().FindAllIndex(rules, -1)
	if len(begins) == 0 && len(ends) == 0 {
		if bytes.Contains(rules, []byte("issue-assistant:core")) {
			return nil, fmt.Errorf("%s: a marker of the core block is damaged; each stands on its own line, the last one is %s", config.RulesPath, coreEnd)
		}
		return nil, nil
	}
	if len(begins) != 1 || len(ends) != 1 || ends[0][0] < begins[0][1] {
		return nil, fmt.Errorf("%s: the core block needs one line %s … --> and after it one line %s", config.RulesPath, coreBegin, coreEnd)
	}
	c := &core{start: begins[0][0], end: ends[0][1], text: rules[begins[0][1]:ends[0][0]]}
	if m := beginStamp().FindSubmatch(rules[begins[0][0]:begins[0][1]]); m != nil {
		c.stamp = string(m[1])
	}
	return c, nil
}

func coreBlock(text string) string {
	return fmt.Sprintf("%s (checksum %s): install keeps this block up to date; your own words stand outside of it -->\n%s%s",
		coreBegin, checksum([]byte(text)), text, coreEnd)
}

// planRules says what becomes of rules.md. project is text to carry over into a new file.
func planRules(old []byte, text, starter, project string, force bool) (Change, error) {
	c := Change{Path: config.RulesPath, Old: old}
	block := coreBlock(text)
	if old == nil {
		c.State, c.New = Created, []byte(block+"\n\n"+starter)
		if project != "" {
			c.New = []byte(block + "\n\n" + project + "\n")
		}
		return c, nil
	}
	if !utf8.Valid(old) {
		return c, fmt.Errorf("%s is not UTF-8: save it as UTF-8 first", config.RulesPath)
	}
	rules := toLF(old)
	found, err := findCore(rules)
	if err != nil {
		return c, err
	}
	var now []byte
	switch {
	case found == nil:
		c.State, c.Note = Updated, "the core block now stands above your text"
		now = []byte(block + "\n\n" + string(bytes.TrimPrefix(rules, []byte("\ufeff"))))
	case string(rules[found.start:found.end]) == block:
		c.State, c.New = Unchanged, old
		return c, nil
	default:
		c.State = Updated
		now = bytes.Join([][]byte{rules[:found.start], []byte(block), rules[found.end:]}, nil)
		if !found.intact() && !force {
			c.State, c.Note = Kept, "the core block was edited; --force writes it anew"
		}
	}
	if isCRLF(old) {
		now = bytes.ReplaceAll(now, []byte("\n"), []byte("\r\n"))
	}
	c.New = now
	return c, nil
}
