// Package ghaction speaks to the runner of GitHub Actions: outputs, the job summary, annotations and masks.
//
// Text of strangers may pass through here, so every file command has a random delimiter that the value does not hold,
// and every workflow command is escaped. Outside of a runner the same calls print plain lines instead.
package ghaction

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// MaxSummary is the size in bytes above which GitHub drops the whole summary of a step.
const MaxSummary = 1 << 20

// Runner is where a step's results go. The zero paths mean that no runner is there.
type Runner struct {
	OutputFile  string // GITHUB_OUTPUT
	SummaryFile string // GITHUB_STEP_SUMMARY
	Active      bool   // GITHUB_ACTIONS is true: annotations are workflow commands
	Out         io.Writer
	Err         io.Writer
}

// FromEnv reads the runner's variables. Results of a step go to out, words for people to err.
func FromEnv(getenv func(string) string, out, err io.Writer) Runner {
	return Runner{
		OutputFile:  getenv("GITHUB_OUTPUT"),
		SummaryFile: getenv("GITHUB_STEP_SUMMARY"),
		Active:      getenv("GITHUB_ACTIONS") == "true",
		Out:         out,
		Err:         err,
	}
}

// Output is one named result of a step.
type Output struct{ Name, Value string }

// SetOutputs writes all results in one go, so that a failure leaves none of them half written. Without a runner they
// are printed as name=value, values of several lines in the runner's own heredoc form.
func (r Runner) SetOutputs(outputs ...Output) error {
	var b strings.Builder
	for _, o := range outputs {
		if err := checkName(o.Name); err != nil {
			return err
		}
		text, err := fileCommand(o.Name, o.Value, r.OutputFile == "")
		if err != nil {
			return err
		}
		b.WriteString(text)
	}
	if r.OutputFile == "" {
		_, err := io.WriteString(r.Out, b.String())
		return err
	}
	if err := appendFile(r.OutputFile, b.String()); err != nil {
		return fmt.Errorf("write the step's outputs: %w", err)
	}
	return nil
}

func checkName(name string) error {
	ok := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	if !ok {
		return fmt.Errorf("output name %q: use letters, digits, - and _", name)
	}
	return nil
}

// fileCommand renders one value in the form of
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions#multiline-strings.
func fileCommand(name, value string, plain bool) (string, error) {
	if plain && !strings.ContainsAny(value, "\r\n") {
		return name + "=" + value + "\n", nil
	}
	for range 8 {
		delimiter, err := randomDelimiter()
		if err != nil {
			return "", err
		}
		if !strings.Contains(value, delimiter) {
			return name + "<<" + delimiter + "\n" + value + "\n" + delimiter + "\n", nil
		}
	}
	return "", errors.New("no delimiter was found that the value does not hold")
}

func randomDelimiter() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return "ghadelimiter_" + hex.EncodeToString(b[:]), nil
}

// appendFile adds all of a text or nothing: half of an output makes the runner refuse the step's other outputs, too.
func appendFile(path, text string) (err error) {
	f, err := OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err = io.WriteString(f, text); err != nil && info.Mode().IsRegular() {
		err = errors.Join(err, f.Truncate(info.Size()))
	}
	return err
}

// ErrSummaryFull says that a text was left out because the summary would have grown over MaxSummary.
var ErrSummaryFull = errors.New("the job summary is full")

// AddSummary appends Markdown to the step's summary if it still fits: over MaxSummary GitHub drops all of it. Without a
// runner the text is printed.
func (r Runner) AddSummary(markdown string) error {
	if r.SummaryFile == "" {
		_, err := io.WriteString(r.Out, markdown)
		return err
	}
	var size int64
	info, err := os.Stat(r.SummaryFile)
	switch {
	case err == nil:
		size = info.Size()
		// What the step itself wrote may end in the middle of a line.
		if info.Mode().IsRegular() && size+int64(len(markdown)) < MaxSummary && midLine(r.SummaryFile, size) {
			markdown = "\n" + markdown
		}
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("read the size of the summary: %w", err)
	}
	if size+int64(len(markdown)) > MaxSummary {
		return ErrSummaryFull
	}
	if err := appendFile(r.SummaryFile, markdown); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

// midLine reports whether a file's last line has no end.
func midLine(name string, size int64) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	last := []byte{'\n'}
	_, err = f.ReadAt(last, size-1)
	return err == nil && last[0] != '\n'
}

// Warning shows a warning: an annotation in a runner, a line elsewhere.
func (r Runner) Warning(msg string) { r.annotate("warning", msg) }

// Error shows an error: an annotation in a runner, a line elsewhere.
func (r Runner) Error(msg string) { r.annotate("error", msg) }

// Notice shows a notice: an annotation in a runner, a line elsewhere.
func (r Runner) Notice(msg string) { r.annotate("notice", msg) }

func (r Runner) annotate(level, msg string) {
	if !r.Active {
		_, _ = fmt.Fprintf(r.Err, "issue-assistant: %s: %s\n", level, diag.Printable(msg))
		return
	}
	lines := strings.Split(msg, "\n")
	for i, line := range lines {
		text, end := strings.CutSuffix(line, "\r")
		if lines[i] = diag.Printable(text); end {
			lines[i] += "\r"
		}
	}
	msg = strings.Join(lines, "\n")
	a := githubactions.New(githubactions.WithWriter(r.Out))
	switch level {
	case "error":
		a.Errorf("%s", msg)
	case "warning":
		a.Warningf("%s", msg)
	default:
		a.Noticef("%s", msg)
	}
}

// Mask hides a secret value, and each of its lines, in the rest of the job's log. Outside of a runner it does nothing.
func (r Runner) Mask(value string) {
	if !r.Active {
		return
	}
	a := githubactions.New(githubactions.WithWriter(r.Out))
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			a.AddMask(line)
		}
	}
}
