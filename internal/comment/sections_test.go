package comment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSplit takes the comments of every language apart again: what was rendered is found under what it is.
func TestSplit(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for _, tag := range c.Languages() {
		page := testPage(tag, "analysis")
		a := c.Analysis(page, Analysis{
			Kind: "bug", Summary: "SUMMARY", Analysis: "ANALYSIS\n\n```\n### not a heading\n---\n```\n\nMORE", NextSteps: []string{"STEP"}, Missing: []string{"ASKED"},
			References: []Reference{{Path: "FILE.go", URL: "https://github.com/octo/demo/blob/x/FILE.go"}}, Related: []Related{{Number: 4, Reason: "NEAR"}},
		})
		p := c.Split(a.Marker, strings.ReplaceAll(a.Body, "\n", "\r\n"))
		for _, part := range []struct{ name, text, has string }{
			{"done", p.Done, "SUMMARY"},
			{"done", p.Done, "ANALYSIS"},
			{"done", p.Done, "### not a heading\n---\n```\n\nMORE"},
			{"done", p.Done, "NEAR"},
			{"next", p.Next, "- STEP"},
			{"questions", p.Questions, "- ASKED"},
			{"files", p.Files, "FILE.go"},
		} {
			if !strings.Contains(part.text, part.has) {
				t.Errorf("%s: %s lacks %q:\n%s", tag, part.name, part.has, part.text)
			}
		}
		all := p.Done + p.Next + p.Questions + p.Files
		if strings.Contains(all, "issue-assistant:") || strings.Contains(all, c.text(tag, "footer", "engine", "Claude")) || strings.Contains(p.Done, "ASKED") {
			t.Errorf("%s: marker, footer or a question among what was done:\n%s", tag, all)
		}
		f := c.FollowUp(page, FollowUp{Reply: "REPLY", Missing: []string{"STILL"}})
		if p := c.Split(f.Marker, f.Body); !strings.Contains(p.Done, "REPLY") || !strings.Contains(p.Questions, "- STILL") || p.Next != "" || p.Files != "" {
			t.Errorf("%s: follow-up %+v", tag, p)
		}
	}
}

func TestSplitOfOtherTexts(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for body, want := range map[string]Parts{
		"":                            {},
		"### Worth trying":            {},
		"### Elsewhere\nx":            {Done: "### Elsewhere\nx"},
		"```\nnever closed\n---\nx":   {Done: "```\nnever closed\n---\nx"},
		"~~~~\n~~~\n---\n~~~~\n---x":  {Done: "~~~~\n~~~\n---\n~~~~\n---x"},
		"a\n---\n### Worth trying\nb": {Done: "a"},
		"### Worth trying\na\n### Other\nb\n### Worth trying\nc": {Next: "a\nc", Done: "### Other\nb"},
	} {
		if diff := cmp.Diff(want, c.Split(Marker{Language: "en"}, body)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", body, diff)
		}
	}
}
