package lazy

import (
	"sync"
	"testing"
)

func TestRegexp(t *testing.T) {
	t.Parallel()
	digits := Regexp(`^\d+$`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !digits().MatchString("12") || digits().MatchString("1x") {
				t.Error("the pattern does not match what it should")
			}
		})
	}
	wg.Wait()
	if first, second := digits(), digits(); first != second {
		t.Error("the pattern was compiled twice")
	}
}

func TestWrongPatternPanicsAtItsUse(t *testing.T) {
	t.Parallel()
	wrong := Regexp(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong pattern was used")
		}
	}()
	wrong()
}
