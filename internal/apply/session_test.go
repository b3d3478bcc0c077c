package apply

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// TestRecordsAreNoSecrets: many records in a rendered comment. None is taken for a secret, none fails the check
// of the comment, and each is found again.
func TestRecordsAreNoSecrets(t *testing.T) {
	t.Parallel()
	texts, err := comment.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 14))
	for i := range 120 {
		h := func(n int) string { return session.Hash(fmt.Sprint(i, n)) }
		effort := []string{"", "low", "max"}[i%3]
		at := time.Unix(1_800_000_000+rng.Int64N(1e8), 0).UTC()
		kept := session.Kept{
			Record: session.Record{
				Schema: session.RecordVersion, Key: session.KeyOf("follow-up", "octo/demo-secret-token", rng.IntN(1e6)+1), Engine: "claude",
				EngineVersion: "2.1.332", Model: "claude-opus-5-5", Effort: &effort, RulesHash: h(1), ConfigHash: h(2), ToolsHash: h(3),
				Permission: session.PermissionRead, Workspace: h(4), RepositoryID: rng.Int64N(1e9), Head: h(5) + h(6)[:8], BodyHash: h(7),
				Ended: "finished", Runs: 1 + rng.IntN(20), ContextTokens: rng.Int64N(1e5), CostUSD: rng.Float64() * 5, Created: at, LastUsed: at,
			},
			Ingested: h(8), Through: rng.Int64N(1e10), First: rng.Int64N(1e5), Turns: rng.Int64N(40), Output: rng.Int64N(1e5),
		}
		page := comment.Page{
			Marker: comment.Marker{Kind: "follow-up", To: 7, Read: 7, HasRead: true, Engine: "claude", Session: kept.Encode()},
			Policy: sanitize.Policy{Owner: "octo", Repo: "demo"}, Engine: "Claude", RemindDays: 15, CloseDays: 30,
		}
		c := texts.FollowUp(page, comment.FollowUp{Reply: "The key and the token are fine."})
		if found := sanitize.FindSecrets(c.Body, nil); len(found) > 0 {
			t.Fatalf("record %d is taken for %s: %s", i, found[0].Kind, c.Body)
		}
		if problems := sanitize.CheckComment(c.Body, c.Policy); len(problems) > 0 {
			t.Fatalf("record %d: %+v", i, problems)
		}
		m, ok := comment.ParseMarker(c.Body)
		again, err := session.Decode(m.Session)
		if !ok || err != nil || again.Key != kept.Key || again.Through != kept.Through || strings.Count(c.Body, "-->") != 1 {
			t.Fatalf("record %d is not found again: %v", i, err)
		}
	}
}
