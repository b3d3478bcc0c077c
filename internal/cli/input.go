package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	assets "github.com/issue-assistant/issue-assistant"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// maxInput is how many bytes a file that a person hands over may hold.
const maxInput = 8 << 20

// path makes a path of a flag absolute against the working folder of the Env; empty stays empty.
func (a *app) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Dir, name)
}

// readChecked decodes a JSON file into v after a check against one of the published schemas, so that a mistyped key is
// named instead of being taken for a missing one. "-" is the standard input.
func (a *app) readChecked(name, schema string, v any) error {
	data, err := a.readInput(name)
	if err != nil {
		return usage(err)
	}
	if err := checkSchema(data, schema); err != nil {
		return usage(withHint(fmt.Errorf("%s: %w", name, err), "the fields and their types are in schema/"+schema))
	}
	if err := json.Unmarshal(data, v); err != nil {
		return usage(fmt.Errorf("%s: %w", name, err))
	}
	return nil
}

// inputs reads the standard input until the command is told to end: a signal interrupts no read, so that Ctrl-C would
// do nothing while a command waits for its text.
type inputs struct {
	done <-chan struct{}
	r    io.Reader
}

func (in inputs) Read(p []byte) (int, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data := make([]byte, len(p))
		n, err := in.r.Read(data)
		read <- result{data[:n], err}
	}()
	select {
	case got := <-read:
		return copy(p, got.data), got.err
	case <-in.done:
		return 0, errors.New("interrupted")
	}
}

// stdin is the standard input for a command that reads a text or a file from it.
func (a *app) stdin() io.Reader {
	if a.done == nil {
		return a.Stdin
	}
	return inputs{a.done, a.Stdin}
}

// open opens a file or a pipe that a person names. A folder can be opened, too, and fails later in the system's words; a
// pipe waits for its writer, but not for longer than until the command is told to end.
func (a *app) open(name string) (io.ReadCloser, error) {
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := os.Open(a.path(name))
		opened <- result{f, err}
	}()
	var f *os.File
	select {
	case got := <-opened:
		if f = got.f; got.err != nil {
			return nil, got.err
		}
	case <-a.done:
		return nil, errors.New("interrupted")
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder: name a file in it", name)
	case info.Mode().IsRegular() || a.done == nil:
		return f, nil
	default:
		return struct {
			io.Reader
			io.Closer
		}{inputs{a.done, f}, f}, nil
	}
	return nil, errors.Join(err, f.Close())
}

func (a *app) readInput(name string) (data []byte, err error) {
	src := a.stdin()
	if name != "-" {
		f, err := a.open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		src = f
	}
	data, err = io.ReadAll(io.LimitReader(src, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("%s holds more than %d bytes", name, maxInput)
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// checkSchema names every field that does not fit, as a path such as "saved/runs".
func checkSchema(data []byte, name string) error {
	schema, err := compileSchema(name)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return positioned(data, err)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(value); errors.As(err, &invalid) {
		return errors.New(strings.Join(leaves(invalid), "; "))
	} else if err != nil {
		return err
	}
	return nil
}

func compileSchema(name string) (*jsonschema.Schema, error) {
	raw, err := assets.FS.ReadFile("schema/" + name)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// positioned adds line and column to a syntax error.
func positioned(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("no valid JSON: %w", err)
	}
	before := data[:min(int(syntax.Offset), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	col := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("%d:%d: no valid JSON: %w", line, max(col, 1), err)
}

func leaves(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		field := strings.Join(e.InstanceLocation, "/")
		if field == "" {
			field = "the file"
		}
		return []string{field + ": " + e.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
	}
	var all []string
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// writeJSON prints a result for machines.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(diag.JSON(a.Stdout))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
