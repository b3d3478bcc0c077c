package cli

import "errors"

// Exit codes of every command.
const (
	ExitOK      = 0 // done; also: nothing to do, skipped with a reason
	ExitProblem = 1 // a problem was found, or a limit ended it
	ExitUsage   = 2 // wrong usage or settings
	ExitFailure = 3 // GitHub, the provider or the machine failed
)

// exitError carries the exit code of a command. A nil err means that everything was said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "already reported"
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// problem ends a command with 1, usage with 2, failure with 3.
func problem(err error) error { return &exitError{ExitProblem, err} }
func usage(err error) error   { return &exitError{ExitUsage, err} }
func failure(err error) error { return &exitError{ExitFailure, err} }

// silent ends a command with the code when its output has said why.
func silent(code int) error { return &exitError{code, nil} }

// hintError adds what to do to what is wrong.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

func withHint(err error, hint string) error { return &hintError{err, hint} }

func exitCode(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return ExitUsage // cobra's own errors are about flags and arguments
}
