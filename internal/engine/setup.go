package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Limited is an error for a setup without a model or without a limit: 0 turns would mean no limit to some engines.
func (s Setup) Limited() error {
	if s.Model == "" || s.MaxTurns < 1 || s.MaxBudgetUSD <= 0 {
		return errors.New("a model, turns and a budget are needed")
	}
	return nil
}

// Task is the prompt. One that begins with one of the marks by which the engine knows its own commands (`/cost`) gets
// words before it, so that it is not taken for one.
func (s Setup) Task(marks string) []byte {
	if trimmed := bytes.TrimLeft(s.Prompt, " \t\r\n\v\f\ufeff"); len(trimmed) > 0 && strings.ContainsRune(marks, rune(trimmed[0])) {
		return append([]byte("Your task:\n\n"), s.Prompt...)
	}
	return s.Prompt
}

// SwitchedOn is the first of the environment's variables that is set to anything but a no; "" when none is.
func SwitchedOn(getenv func(string) string, names ...string) string {
	for _, name := range names {
		switch strings.ToLower(getenv(name)) {
		case "", "0", "false", "no", "off":
		default:
			return name
		}
	}
	return ""
}

// Installed is the path if npm put the program there.
func Installed(program, path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("no %s in %s: run `npm ci --ignore-scripts` there", program, path)
	}
	return path, nil
}
