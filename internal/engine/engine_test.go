package engine

import "testing"

func TestEndings(t *testing.T) {
	t.Parallel()
	if len(Endings) != 16 {
		t.Errorf("%d endings, want 16", len(Endings))
	}
	green, stopped := 0, 0
	for _, e := range Endings {
		if !e.Valid() {
			t.Errorf("%s is not valid", e)
		}
		if e.ByIssue() {
			green++
		}
		if e.Stopped() {
			stopped++
		}
	}
	if green != 7 || stopped != 3 {
		t.Errorf("%d endings that an issue can cause, %d stops; want 7 and 3", green, stopped)
	}
	for _, e := range []Ended{"", "Finished", "finished\n", "success"} {
		if e.Valid() {
			t.Errorf("%q is valid", e)
		}
	}
}
