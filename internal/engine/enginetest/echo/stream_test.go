package echo_test

import (
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/echo"
)

// The example shows what a driver owes to its caller: odd lines change nothing, and a log without an end has none.
func TestStreamOfTheExample(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines  []string
		ended  engine.Ended
		answer string
	}{
		"nothing":       {nil, engine.Unfinished, ""},
		"only noise":    {[]string{"npm warn", "[1]", `"a"`, `{"session":7}`, `{"other":1}`}, engine.Unfinished, ""},
		"answer":        {[]string{`{"session":"s1"}`, `{"answer":{"a":1}}`}, engine.Finished, `{"a":1}`},
		"noise after":   {[]string{`{"answer":{"a":1}}`, "bye"}, engine.Finished, `{"a":1}`},
		"odd session":   {[]string{`{"session":["s1"]}`, `{"answer":2}`}, engine.Finished, "2"},
		"second answer": {[]string{`{"answer":1}`, `{"answer":2}`}, engine.Finished, "2"},
	} {
		s := echo.New().NewStream()
		for _, line := range c.lines {
			s.Line([]byte(line))
		}
		if got := s.Outcome(); got.Ended != c.ended || string(got.Answer) != c.answer {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if path, err := echo.New().Binary("/engines/echo", "linux", "amd64"); err != nil || path != "/engines/echo/node_modules/.bin/echo-ai" {
		t.Errorf("its program is %q, %v", path, err)
	}
	if echo.New().UpstreamVar() == "" || echo.New().DefaultUpstream() == "" || echo.New().Name() != "echo" || echo.New().Version("x") != "" {
		t.Error("the example does not say what it is")
	}
}
