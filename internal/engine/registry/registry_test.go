package registry

import (
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

func TestDriversAreWhole(t *testing.T) {
	t.Parallel()
	for _, d := range drivers() {
		found, err := Find(d.Name())
		if err != nil || found.Name() != d.Name() {
			t.Errorf("%s: %v", d.Name(), err)
		}
		if d.Provider() == "" || d.DefaultUpstream() == "" || d.UpstreamVar() == "" || len(d.Credentials()) == 0 {
			t.Errorf("%s lacks a provider or a key", d.Name())
		}
		for _, c := range d.Credentials() {
			if c.Name == "" || c.Dummy == "" {
				t.Errorf("%s: %+v has no name or no dummy", d.Name(), c)
			}
		}
	}
	if d, err := Find(engine.Name("gpt")); err == nil {
		t.Errorf("found %v", d)
	}
}
