package ghcheck

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		query string
		want  []string
	}{
		"fields":    {`query X { repository(owner: "o", name: "r") { issue(number: 1) { title author { login } } } }`, []string{"Actor", "Issue", "Repository"}},
		"a list":    {`query X { repository(owner: "o", name: "r") { issues(first: 1) { totalCount nodes { title } } } }`, []string{"Issue", "IssueConnection", "Repository"}},
		"fragments": {`query X { repository(owner: "o", name: "r") { ...P } } fragment P on Repository { pullRequest(number: 1) { mergeCommit { oid } } }`, []string{"Commit", "PullRequest", "Repository"}},
		"a union": {
			`query X { repository(owner: "o", name: "r") { issue(number: 1) { timelineItems(first: 1) { nodes { __typename ... on LabeledEvent { label { name } } } } } } }`,
			[]string{"Issue", "IssueTimelineItemsConnection", "Label", "LabeledEvent", "Repository"},
		},
	} {
		body, err := json.Marshal(map[string]string{"query": test.query})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Objects(body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, wrong := range []string{`{`, `{"query": "query X { nothing }"}`} {
		if got, err := c.Objects([]byte(wrong)); err == nil {
			t.Errorf("%s: %v", wrong, got)
		}
	}
}
