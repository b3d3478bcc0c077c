package chunk

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// TestFoldedLogs plays random logs: what may not happen changes nothing, and the order of arrival does not count.
func TestFoldedLogs(t *testing.T) {
	t.Parallel()
	words := []string{DoStarted, DoClaimed, DoClaimed, DoClaimed, DoFixed, DoReleased, DoDone, DoReopened, DoTakenOut, DoTracked, DoNoticed, DoFiled, DoEmptied, DoWrapped, "of a later release", ""}
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var log []Event
		for id := range int64(rnd.IntN(60)) {
			log = append(log, Event{
				ID: id + 1, At: noon.Add(time.Duration(id) * time.Second), Do: words[rnd.IntN(len(words))], Issue: rnd.IntN(12), Pull: rnd.IntN(4),
				Key: string(rune('a' + rnd.IntN(4))), Agent: "agent", Reason: "limit", Lock: id,
			})
		}
		var fixed []int
		wrapped := -1
		for n := range log {
			r := Fold(7, log[:n+1])
			if r.OpenClaims() > MaxClaims || r.Seq != n+1 || r.ID != 7 {
				t.Fatalf("seed %d: %+v", seed, r)
			}
			var set []int
			for _, h := range r.Claims {
				set = append(set, h.Issue)
			}
			if fixed != nil && !cmp.Equal(set, fixed) {
				t.Fatalf("seed %d: the set was %v and is %v", seed, fixed, set)
			}
			if r.Fixed && fixed == nil {
				fixed = append([]int{}, set...)
				if len(set) == 0 {
					fixed = nil
				}
			}
			if wrapped >= 0 && r.State != Wrapped {
				t.Fatalf("seed %d: a wrapped chunk is %s", seed, r.State)
			}
			if r.State == Wrapped && wrapped < 0 {
				wrapped = n
			}
		}
		shuffled := slices.Clone(log)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(Fold(7, log), Fold(7, shuffled)); diff != "" {
			t.Fatalf("seed %d: the order of arrival counts:\n%s", seed, diff)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, e := range []Event{
		{Do: DoStarted, Agent: "agent-a[bot]", Label: "session ä -->"},
		{Do: DoClaimed, Issue: 7, Lock: 1 << 40},
		{Do: DoTracked, Pull: 9, Refs: []int{1, 22}},
		{Do: DoReleased, Issue: 7, Reason: string(ReleaseWaited)},
		{Do: DoFiled, Issue: 8, Key: "pull-9", Reason: "40/9"},
		{Do: DoFixed},
	} {
		line := e.Mark("n1")
		got, ok := ParseEvent(5, noon, line+"\r\n\r\nWords.")
		e.ID, e.At = 5, noon
		if !ok || strings.Contains(strings.TrimSuffix(line, " -->"), "-->") {
			t.Errorf("%s: %v", line, ok)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	m, ok := ParseClaim(9, ClaimMark(40, "n", MarkLive, noon)+"\n\nwords", true)
	want := Marker{CommentID: 9, Chunk: "40", LeaseUntil: noon, Trusted: true, State: MarkLive, Nonce: "n"}
	if diff := cmp.Diff(want, m); !ok || diff != "" {
		t.Errorf("%v\n%s", ok, diff)
	}
	for name, body := range map[string]string{
		"no lease":     "<!-- issue-assistant:chunk-claim chunk=40 state=live -->",
		"a wild lease": "<!-- issue-assistant:chunk-claim chunk=40 state=live lease=tomorrow -->",
	} {
		if m, ok := ParseClaim(9, body, true); !ok || m.Live(noon) {
			t.Errorf("%s: %+v %v", name, m, ok)
		}
	}
	for name, body := range map[string]string{
		"quoted": "> " + ClaimMark(40, "n", MarkLive, noon), "at the end": "a\n" + ClaimMark(40, "n", MarkLive, noon), "in the middle": "a\n" + ClaimMark(40, "n", MarkLive, noon) + "\nb", "of an answer": "<!-- issue-assistant:analysis to=1 -->",
		"no chunk": "<!-- issue-assistant:chunk-claim chunk=0 state=live -->", "huge": "<!-- issue-assistant:chunk-claim chunk=99999999999999999999 state=live -->", "empty": "",
		"words": "<!-- issue-assistant:chunk-claim chunk=4 state=a b -->",
	} {
		if m, ok := ParseClaim(9, body, true); ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
	r := Fold(40, []Event{{ID: 1, At: noon, Do: DoStarted, Agent: "a"}, {ID: 2, At: noon, Do: DoClaimed, Issue: 7, Lock: 3}})
	r.Gate.Cursor = Cursor{At: noon, Seen: []int64{1, -7}}
	line, err := r.Mark("n")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := ParseRecord(line + "\n\nwords")
	if diff := cmp.Diff(r, got); !ok || diff != "" {
		t.Errorf("%v\n%s", ok, diff)
	}
	if _, ok := ParseRecord(strings.Replace(line, "data=", "data=A", 1)); ok {
		t.Error("a broken record is read")
	}
	r.Schema = 2
	if line, err = r.Mark(""); err != nil {
		t.Fatal(err)
	}
	if _, ok := ParseRecord(line); ok {
		t.Error("a record of a later release is read")
	}
}

func FuzzMarks(f *testing.F) {
	f.Add(ClaimMark(40, "n", MarkLive, noon))
	f.Add(Event{Do: DoTracked, Pull: 9, Refs: []int{1, 22}}.Mark("n"))
	f.Add("<!-- issue-assistant:chunk data=e30= -->")
	f.Fuzz(func(t *testing.T, body string) {
		if e, ok := ParseEvent(1, noon, body); ok {
			if again, ok := ParseEvent(1, noon, e.Mark("")); !ok || !cmp.Equal(e, again) {
				t.Fatalf("%+v becomes %+v", e, again)
			}
		}
		if m, ok := ParseClaim(1, body, true); ok && m.Chunk == "" {
			t.Fatal("a claim of no chunk")
		}
		if r, ok := ParseRecord(body); ok {
			r.Apply(Event{Do: DoClaimed, Issue: 1})
			r.View(Reading{Now: noon})
			r.DigestOf(nil)
		}
	})
}

func TestUseIsCountedOnce(t *testing.T) {
	t.Parallel()
	one := 1.0
	var r Record
	if n, usd := r.Gate.Sum(); n != nil || usd != nil {
		t.Error("nothing is something")
	}
	for i := range 60 {
		key := string(rune('A' + i))
		r.AddUse(Used{key, 1, &one})
		r.AddUse(Used{key, 2, &one}) // the same log, grown
	}
	n, usd := r.Gate.Sum()
	if *n != 120 || *usd != 60 || len(r.Gate.Use) > maxUses {
		t.Errorf("%d calls, $%v in %d entries", *n, *usd, len(r.Gate.Use))
	}
	r.AddUse(Used{"new", 1, nil})
	if n, usd := r.Gate.Sum(); *n != 121 || usd != nil {
		t.Error("a part without dollars leaves the sum known")
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	all := []Entry{{ID: 1, At: at(1)}, {ID: 2, At: at(2)}, {ID: 3, At: at(2)}, {ID: 9, At: at(0)}}
	c := CursorOf(all, Cursor{}, at(60))
	if news := c.News(all); !c.At.Equal(at(2)) || len(news) != 0 {
		t.Errorf("%+v %+v", c, news)
	}
	// Two in the same second: the one that was not there is news.
	all = append(all, Entry{ID: 4, At: at(2), Item: 7})
	if news := c.News(all); len(news) != 1 || news[0].ID != 4 {
		t.Errorf("%+v", news)
	}
	if next := CursorOf(nil, c, at(60)); !next.At.Equal(c.At) {
		t.Errorf("%+v", next)
	}
	// What came to an item that had been read already is news, although something later was seen elsewhere.
	c = CursorOf(all, Cursor{}, at(1))
	if news := c.News(all); !c.At.Equal(at(1)) || len(news) != 0 {
		t.Errorf("%+v %+v", c, news)
	}
	if news := c.News(append(all, Entry{ID: 5, At: at(1)})); len(news) != 1 || news[0].ID != 5 {
		t.Errorf("%+v", news)
	}
	// A comment that was edited later is news again.
	if news := c.News([]Entry{{ID: 2, At: at(5)}}); len(news) != 1 {
		t.Errorf("%+v", news)
	}
}
