package apply

import (
	"context"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/engine"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/ghapi/ghtest"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	s := ghtest.New(ghtest.Options{})
	s.AddLabel(ghapi.Label{Name: "bug"}, ghapi.Label{Name: "needs-info"}, ghapi.Label{Name: "needs-triage"})
	s.AddIssue(ghapi.Issue{Number: 3, Title: "older", Author: ghapi.User{Login: "bob"}})
	n := s.AddIssue(ghapi.Issue{Number: 7, Title: "Crash", Body: "It crashes", Author: ghapi.User{Login: "alice"}, Labels: []string{"needs-triage"}})
	c, err := ghapi.New(s.ClientOptions())
	if err != nil {
		t.Fatal(err)
	}
	texts, err := comment.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	raw := `{"language":"de","kind":"bug","areas":[],"topics":[],"label_rationale":"it crashes","summary":"Es stürzt ab, siehe #3 und @bob.","analysis":"Der Fehler steht in x.","next_steps":["Neu starten"],"missing_information":["Welche Version?"],"duplicates":[{"number":3,"confidence":"high","reason":"same crash"}],"related":[],"references":[],"sensitive_data":"none","security_report":false,"spam":false}`
	res, err := Apply(context.Background(), c, ghapi.NewWriter(c), Options{
		Task: task.Triage, Issue: n, Engine: engine.Claude, Raw: raw, Config: config.Default(),
		Labels: config.LabelFile{Labels: []config.Label{{Name: "bug", Group: config.GroupType, Ask: true}}}, Texts: texts,
	})
	t.Logf("%v\n%s", err, res.Summary("triage of #7", "dry run"))
	for _, c := range s.Comments(n) {
		t.Log(c.Body)
	}
	i, _ := s.Issue(n)
	t.Log(i.Labels)
}
