package task_test

import (
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/task"
)

func TestSettled(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"Please leave it closed.": true, "This can stay closed, I moved to another tool": true, "never mind, it was my proxy": true, "Can be closed": true,
		"Das hat sich erledigt": true, "閉じたままで大丈夫です": true, "不需要了，谢谢": true,
		"": false, "Version 3": false, "It still fails, please don't leave it closed": false, "Why should it stay closed?": false,
		"It can be closed? No": false, "Never mind the version, it still crashes": false, "Do not keep it closed": false, "It should not be closed": false,
		"No longer needed on 1.2, but 1.3 breaks again": false, "Das kann nicht geschlossen bleiben": false,
		"leave it closed " + strings.Repeat("x", 300): false,
	} {
		if got := task.Settled(body); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}
