package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginelog"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestEveryResultOfTheCasesHasAnEnding reads each result object of the recorded and the odd files: whatever its fields
// hold, it has one ending of the closed list, and an error is never taken for a finished run.
func TestEveryResultOfTheCasesHasAnEnding(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testtool.Root(t), "testdata", "cases", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			list = []json.RawMessage{data}
		}
		for _, raw := range list {
			ev, ok := enginelog.Parse(raw, Keys())
			if !ok || ev.Word("type") != "result" {
				continue
			}
			read++
			r := resultOf(ev)
			ended := r.Ended()
			if !ended.Valid() {
				t.Errorf("%s: ending %q", filepath.Base(file), ended)
			}
			var plain struct {
				IsError any `json:"is_error"`
			}
			if json.Unmarshal(raw, &plain) == nil && plain.IsError == true && ended == "finished" {
				t.Errorf("%s: an error is finished", filepath.Base(file))
			}
		}
	}
	if read < 60 {
		t.Errorf("only %d results were read", read)
	}
}
