package comment

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"

	"github.com/BurntSushi/toml"

	"github.com/issue-assistant/issue-assistant/internal/diag"
)

//go:embed texts/*.toml
var textFiles embed.FS

// TextsPath is the file of a repository that overrides single texts and may add languages.
const TextsPath = ".issue-assistant/texts.toml"

// English is the language of everything that has no texts of its own.
const English = "en"

// Catalog holds the texts by language tag.
type Catalog struct {
	texts map[string]map[string]string
}

// Embedded is the catalog of the seven languages.
func Embedded() (Catalog, error) {
	c := Catalog{texts: map[string]map[string]string{}}
	files, err := textFiles.ReadDir("texts")
	if err != nil {
		return c, fmt.Errorf("read the texts: %w", err)
	}
	for _, f := range files {
		data, err := textFiles.ReadFile(path.Join("texts", f.Name()))
		if err != nil {
			return c, fmt.Errorf("read the texts: %w", err)
		}
		var texts map[string]string
		if err := toml.Unmarshal(data, &texts); err != nil {
			return c, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		c.texts[strings.TrimSuffix(f.Name(), ".toml")] = texts
	}
	return c, nil
}

// Languages lists the tags, English first.
func (c Catalog) Languages() []string {
	tags := slices.Sorted(maps.Keys(c.texts))
	tags = slices.DeleteFunc(tags, func(t string) bool { return t == English })
	return append([]string{English}, tags...)
}

// Name is the language's own name.
func (c Catalog) Name(tag string) string { return c.texts[tag]["name"] }

// Match finds the texts for a BCP 47 tag: the tag itself, then its language alone, then a relative of it (pt for
// pt-BR). Without texts it is English, and ok is false.
func (c Catalog) Match(tag string) (found string, ok bool) {
	want := strings.ReplaceAll(tag, "_", "-")
	for have := range c.texts {
		if strings.EqualFold(have, want) {
			return have, true
		}
	}
	base, _, _ := strings.Cut(strings.ToLower(want), "-")
	for _, have := range c.Languages() {
		if b, _, _ := strings.Cut(strings.ToLower(have), "-"); b == base && !traditional(want) {
			return have, true
		}
	}
	return English, false
}

// traditional Chinese is written in other characters than the texts for Chinese.
func traditional(tag string) bool {
	t := strings.ToLower(tag)
	return strings.HasPrefix(t, "zh-hant") || strings.HasPrefix(t, "zh-tw") || strings.HasPrefix(t, "zh-hk") || strings.HasPrefix(t, "zh-mo")
}

// text is one text with its placeholders filled. A language that lacks it has it in English.
func (c Catalog) text(tag, key string, values ...string) string {
	t, ok := c.texts[tag][key]
	if !ok {
		t = c.texts[English][key]
	}
	pairs := make([]string, 0, len(values))
	for i := 0; i+1 < len(values); i += 2 {
		pairs = append(pairs, "{"+values[i]+"}", values[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(t)
}

var placeholder = lazy.Regexp(`\{[^{}]*\}`)

func placeholders(text string) []string {
	found := placeholder().FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// MaxTexts is the size above which the texts of a repository are not read.
const MaxTexts = 256 << 10

// Override lays the texts of a repository over the catalog. The file has one table per language tag. What is wrong in
// it is said with its line, and the embedded text stays.
func (c Catalog) Override(file string, data []byte) (Catalog, []diag.Diagnostic) {
	out := Catalog{texts: map[string]map[string]string{}}
	for tag, texts := range c.texts {
		out.texts[tag] = maps.Clone(texts)
	}
	problem := func(line int, code, message, hint string) diag.Diagnostic {
		return diag.Diagnostic{Path: file, Line: line, Severity: diag.Error, Code: code, Message: message, Hint: hint}
	}
	if len(data) > MaxTexts {
		return out, []diag.Diagnostic{problem(0, "texts-size", "the file is larger than 256 KiB", "keep only the texts that differ")}
	}
	var tables map[string]any
	if err := toml.Unmarshal(data, &tables); err != nil {
		line := 0
		var p toml.ParseError
		if errors.As(err, &p) {
			line = p.Position.Line
		}
		return out, []diag.Diagnostic{problem(line, "texts-syntax", "not a table of texts per language: "+err.Error(), `write for example [de] and below it intro = "…"`)}
	}
	var ds []diag.Diagnostic
	english := c.texts[English]
	for _, tag := range slices.Sorted(maps.Keys(tables)) {
		if !languageTag().MatchString(tag) {
			ds = append(ds, problem(lineOf(data, tag, ""), "texts-language", fmt.Sprintf("%q is no language tag", tag), "write for example [nl] or [pt-PT]"))
			continue
		}
		into := out.texts[tag]
		for have := range out.texts {
			if strings.EqualFold(have, tag) {
				into = out.texts[have]
			}
		}
		if into == nil {
			into = map[string]string{"name": tag}
			out.texts[tag] = into
		}
		table, ok := tables[tag].(map[string]any)
		if !ok {
			ds = append(ds, problem(0, "texts-syntax", fmt.Sprintf("%q stands outside of a language's table", tag), `write for example [de] above it`))
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(table)) {
			line := lineOf(data, tag, key)
			text, isText := table[key].(string)
			if !isText {
				ds = append(ds, problem(line, "texts-syntax", fmt.Sprintf("the text %q is no text", key), `write it between quotes`))
				continue
			}
			text = strings.TrimSpace(text)
			standard, known := english[key]
			switch {
			case !known:
				ds = append(ds, problem(line, "texts-key", fmt.Sprintf("there is no text %q", key), "the texts are listed in internal/comment/texts/en.toml of the product"))
			case text == "":
				ds = append(ds, problem(line, "texts-empty", fmt.Sprintf("the text %q is empty", key), "leave the line out to keep the product's text"))
			case !slices.Equal(placeholders(text), placeholders(standard)):
				ds = append(ds, problem(line, "texts-placeholders", fmt.Sprintf("the text %q has other placeholders than the product's", key),
					"use exactly these: "+strings.Join(append([]string{"(none)"}, placeholders(standard)...)[min(1, len(placeholders(standard))):], " ")))
			case len(text) > 2000 || strings.ContainsAny(text, "\r\n@<`") || strings.Contains(text, "://"):
				ds = append(ds, problem(line, "texts-content", fmt.Sprintf("the text %q holds a line break, @, <, a backtick or an address, or is longer than 2,000 bytes", key), "write plain words in one line"))
			default:
				into[key] = text
			}
		}
	}
	return out, ds
}

var languageTag = lazy.Regexp(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$`)

// lineOf finds the line of a key (or of the table's head) for a message; 0 when it is written in an unusual way.
func lineOf(data []byte, table, key string) int {
	in, n := false, 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			in = strings.Trim(strings.SplitN(line, "]", 2)[0], "[ \"'") == table
			if in && key == "" {
				return n
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if in && ok && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return n
		}
	}
	return 0
}
