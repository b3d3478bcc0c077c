package cli

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/issue-assistant/issue-assistant/internal/ghaction"
)

// cmdFullSummary writes a summary that has only so many bytes left: `fullsummary FILE BYTES`.
func cmdFullSummary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fullsummary FILE BYTES")
	}
	left, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte{'x'}, ghaction.MaxSummary-left), 0o600))
}

// cmdAged makes a file older: `aged FILE DURATION`.
func cmdAged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: aged FILE DURATION")
	}
	age, err := time.ParseDuration(args[1])
	ts.Check(err)
	at := time.Now().Add(-age)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), at, at))
}
