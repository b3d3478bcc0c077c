package sanitize

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// reading is what an independent parser sees in a comment.
type reading struct {
	Live []struct{ Kind, Value string }
	Text []struct {
		Value string
		Link  bool
	}
	Code  []string
	Error string
}

func (r *reading) live(kind, value string) {
	r.Live = append(r.Live, struct{ Kind, Value string }{kind, value})
}

func (r *reading) text(value string, link, join bool) {
	if n := len(r.Text); join && n > 0 {
		r.Text[n-1].Value += value
		return
	}
	r.Text = append(r.Text, struct {
		Value string
		Link  bool
	}{value, link})
}

// readCmark reads with cmark-gfm, GitHub's own parser.
func readCmark(path, markdown string) (reading, error) {
	cmd := exec.Command(path, "-t", "xml", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tasklist", "-e", "footnotes")
	cmd.Stdin = strings.NewReader(markdown)
	out, err := cmd.Output()
	if err != nil {
		return reading{}, fmt.Errorf("run cmark-gfm: %w", err)
	}
	var r reading
	d := xml.NewDecoder(bytes.NewReader(out))
	d.Strict = false
	links, join := 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("read cmark-gfm's XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			attr := func(name string) string {
				for _, a := range t.Attr {
					if a.Name.Local == name {
						return a.Value
					}
				}
				return ""
			}
			content := func() string {
				var s string
				if err := d.DecodeElement(&s, &t); err != nil {
					return ""
				}
				return s
			}
			switch name := t.Name.Local; name {
			case "text":
				r.text(content(), links > 0, join)
				join = true
				continue
			case "softbreak", "linebreak":
				r.text("\n", links > 0, join)
				join = true
				continue
			case "code":
				r.Code = append(r.Code, content())
				r.text("\x01", links > 0, false) // so that what stands after code does not seem to begin a line
			case "code_block":
				if info := attr("info"); info != "" {
					r.live("language", info)
				}
				r.Code = append(r.Code, strings.TrimSuffix(content(), "\n"))
			case "html_block", "html_inline":
				r.live("html", content())
			case "link":
				links++
				r.live("link", attr("destination"))
			case "image":
				r.live("image", attr("destination"))
			case "heading", "footnote_definition", "footnote_reference":
				r.live(strings.ReplaceAll(name, "_", ""), "")
			case "tasklist":
				r.live("task", "")
			case "taskitem":
				r.live("task", "")
			}
			if t.Name.Local == "item" && attr("completed") != "" {
				r.live("task", "")
			}
			join = false
		case xml.EndElement:
			switch t.Name.Local {
			case "link":
				links--
			case "paragraph", "heading", "table_cell", "table_header":
				r.text("\n\n", false, false)
			}
			if t.Name.Local != "softbreak" && t.Name.Local != "linebreak" {
				join = false
			}
		}
	}
}

// micromark is one long-running process.
type micromark struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startMicromark(t testing.TB) *micromark {
	t.Helper()
	node := testtool.Need(t, "node")
	script := testtool.NeedFile(t, "tools", "node", "markdown.mjs")
	testtool.NeedFile(t, "tools", "node", "node_modules", "mdast-util-gfm", "index.js")
	cmd := exec.Command(node, script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := &micromark{in: in, out: bufio.NewReaderSize(out, 1<<20), cmd: cmd}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return m
}

func (m *micromark) read(markdown string) (reading, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line, err := json.Marshal(markdown)
	if err != nil {
		return reading{}, fmt.Errorf("encode: %w", err)
	}
	if _, err := m.in.Write(append(line, '\n')); err != nil {
		return reading{}, fmt.Errorf("write to node: %w", err)
	}
	answer, err := m.out.ReadBytes('\n')
	if err != nil {
		return reading{}, fmt.Errorf("read from node: %w", err)
	}
	var r reading
	if err := json.Unmarshal(answer, &r); err != nil {
		return r, fmt.Errorf("decode node's answer: %w", err)
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// The oracle's own idea of what is live in text; written apart from the product's patterns.
var (
	oracleMention = regexp.MustCompile(`(?:^|[^A-Za-z0-9])@([A-Za-z0-9][A-Za-z0-9-]*)`)
	oracleNumber  = regexp.MustCompile(`(?i)([A-Za-z0-9_.-]*/?[A-Za-z0-9_.-]*)#(\d+)(?:$|[^A-Za-z0-9])`)
	oracleGH      = regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])GH-\d+(?:$|[^A-Za-z0-9])`)
	oracleCommit  = regexp.MustCompile(`(?:^|[\s(\[{])([0-9a-f]{7,40})(?:$|[\s)\]}.,;:!?])`)
	oracleAtHash  = regexp.MustCompile(`[A-Za-z0-9]@[0-9a-f]{7,40}(?:$|[^A-Za-z0-9])`)
	oracleAddress = regexp.MustCompile(`(?i)(?:https?|ftp)://|(?:^|[^A-Za-z0-9])www\.[a-z0-9]|mailto:\S`)
	oracleEmail   = regexp.MustCompile(`[A-Za-z0-9]@[A-Za-z0-9-]+\.[A-Za-z0-9]`)
	oracleCloses  = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?|duplicate of)\s*:?\s*#\d+(?:$|[^0-9A-Za-z])`)
	oracleSlash   = regexp.MustCompile(`(?m)^[ \t]*/[a-z][a-z-]*(?:\s|$)`)
	oracleAlert   = regexp.MustCompile(`(?im)^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]`)
)

// findings lists what is live in a reading beyond the template's own.
func (r reading) findings(allowedLive []string, mentions int) []string {
	var bad []string
	left := slices.Clone(allowedLive)
	for _, l := range r.Live {
		if l.Kind == "language" {
			if low := strings.ToLower(l.Value); strings.HasPrefix(low, "mermaid") || strings.HasPrefix(low, "math") || strings.HasPrefix(low, "geojson") || strings.HasPrefix(low, "stl") {
				bad = append(bad, "drawn block "+l.Value)
			}
			continue
		}
		if l.Kind == "link" && (strings.HasPrefix(strings.ToLower(l.Value), "https://github.com/octo/demo/blob/") && !strings.Contains(l.Value, "..") || strings.ToLower(l.Value) == "https://github.com/octo/demo/issues/12") {
			continue
		}
		item := l.Kind + " " + strings.TrimSpace(l.Value)
		if i := slices.Index(left, item); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		bad = append(bad, item)
	}
	for _, lost := range left {
		bad = append(bad, "template lost: "+lost)
	}
	block := ""
	for _, t := range r.Text {
		if strings.HasPrefix(t.Value, "\n\n") {
			for pattern, what := range map[*regexp.Regexp]string{oracleCloses: "closing keyword", oracleSlash: "slash command", oracleAlert: "alert"} {
				if m := pattern.FindString(block); m != "" {
					bad = append(bad, what+" "+strconv.Quote(m))
				}
			}
			block = ""
			continue
		}
		block += t.Value
		bad = append(bad, textFindings(t.Value, t.Link, &mentions)...)
	}
	if mentions != 0 {
		bad = append(bad, fmt.Sprintf("%d mentions of the reporter are missing", mentions))
	}
	return bad
}

func textFindings(value string, link bool, mentions *int) []string {
	var bad []string
	for _, m := range oracleMention.FindAllStringSubmatch(value, -1) {
		if m[1] == "reporter" && *mentions > 0 {
			*mentions--
			continue
		}
		bad = append(bad, "mention "+m[1])
	}
	for _, m := range oracleNumber.FindAllStringSubmatch(value, -1) {
		if n, err := strconv.Atoi(m[2]); err != nil || m[1] != "" && m[1] != "-" && m[1] != "." && m[1] != "_" && m[1] != "/" || n != 7 && n != 12 || len(m[2]) > 2 {
			bad = append(bad, "reference "+m[0])
		}
	}
	for _, m := range oracleCommit.FindAllStringSubmatch(value, -1) {
		if hasDigit(m[1]) && hasLetter(m[1]) {
			bad = append(bad, "commit "+m[1])
		}
	}
	for pattern, what := range map[*regexp.Regexp]string{oracleGH: "reference", oracleAtHash: "commit", oracleEmail: "e-mail"} {
		if m := pattern.FindString(value); m != "" {
			bad = append(bad, what+" "+strconv.Quote(m))
		}
	}
	if m := oracleAddress.FindString(value); m != "" && !link {
		bad = append(bad, "address "+strconv.Quote(m))
	}
	if strings.Contains(value, "$$") {
		bad = append(bad, "formula")
	}
	return bad
}
