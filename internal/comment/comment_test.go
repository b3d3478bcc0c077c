package comment

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/issue-assistant/issue-assistant/internal/diag"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

var update = flag.Bool("update", false, "write golden comments anew")

func catalog(t *testing.T) Catalog {
	t.Helper()
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every language has every text, with the same placeholders, and no other.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	if got := c.Languages(); !slices.Equal(got, []string{"en", "de", "es", "fr", "ja", "pt-BR", "zh-CN"}) {
		t.Fatalf("languages %v", got)
	}
	for _, tag := range c.Languages() {
		for key, english := range c.texts[English] {
			text, ok := c.texts[tag][key]
			if !ok || strings.TrimSpace(text) == "" {
				t.Errorf("%s lacks %s", tag, key)
				continue
			}
			if diff := cmp.Diff(placeholders(english), placeholders(text)); diff != "" {
				t.Errorf("%s %s: %s", tag, key, diff)
			}
			if tag != English && text == english && len(text) > 20 {
				t.Errorf("%s %s is English", tag, key)
			}
		}
		for key := range c.texts[tag] {
			if _, ok := c.texts[English][key]; !ok {
				t.Errorf("%s has the unknown text %s", tag, key)
			}
		}
	}
}

func testPage(tag, kind string) Page {
	return Page{
		Marker:  Marker{Kind: kind, To: 40, Read: 41, HasRead: true, Language: tag, Engine: "claude", Questions: true},
		Policy:  sanitize.Policy{Owner: "octo", Repo: "demo", Reporter: "alice", Issues: map[int]bool{3: true, 4: true, 5: true, 12: true}, Discussions: map[int]bool{5: true}},
		Mention: "alice", Engine: "Claude", Labels: []string{"bug", "area: `x`"}, RemindDays: 15, CloseDays: 30,
	}
}

// allOf are all comments of a language.
func allOf(c Catalog, tag string) []Comment {
	url := "https://github.com/octo/demo/blob/0123456789012345678901234567890123456789/a.go#L3"
	analysis := Analysis{
		Kind: "bug", Summary: "It **crashes** at `main`.", Analysis: "First part.\n\n```go\nx := m[\"@bob\"]\n```\n\nSecond part with #3.", Sensitive: "secret",
		NextSteps: []string{"Run `make`.", "Try:\n\n```\nmake -B\n```"}, Missing: []string{"Which version?"},
		Duplicate: &Related{Number: 3, Reason: "the same crash"},
		Related:   []Related{{Number: 4, Closed: "not_planned", Reason: "near @eve"}, {Number: 5, Discussion: true, Reason: "asked"}},
		References: []Reference{{Path: "a.go", Line: 3, URL: url, Reason: "the map"}, {
			Path: "README.md", Title: "Set-up [x](y)",
			URL: "https://github.com/octo/demo/blob/0123456789012345678901234567890123456789/README.md#set-up", Reason: "",
		}},
	}
	personal := Analysis{Kind: "docs", Summary: "Words.", Sensitive: "personal"}
	closing := testPage(tag, task.MarkAnalysis)
	closing.Marker.Duplicate, closing.DuplicateDays = 3, 3
	closes := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return []Comment{
		c.Analysis(testPage(tag, task.MarkAnalysis), analysis),
		c.Analysis(closing, Analysis{Kind: "feature", Duplicate: &Related{Number: 3}}),
		c.Analysis(testPage(tag, task.MarkAnalysis), personal),
		c.Analysis(testPage(tag, task.MarkAnalysis), Analysis{Kind: "question", Security: true, Summary: "never shown"}),
		c.FollowUp(testPage(tag, task.MarkFollowUp), FollowUp{Reply: "So it is **that**.", Missing: []string{"Which system?"}}),
		c.ReleaseReply(testPage(tag, task.MarkReleaseReply)),
		c.Reopened(testPage(tag, task.MarkReopened)),
		c.Reminder(testPage(tag, task.MarkReminder), closes),
		c.ClosedUnanswered(testPage(tag, task.MarkClosedUnanswered)),
		c.ClosedDuplicate(testPage(tag, task.MarkClosedDuplicate), 3),
		c.Fixed(testPage(tag, task.MarkFixed), 12, "main"),
		c.Released(testPage(tag, task.MarkReleased), "v1.2", "https://github.com/octo/demo/releases/tag/v1.2"),
	}
}

// The golden comments of each language are what people see; every one passes the check of what is posted.
func TestGoldenComments(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for _, tag := range c.Languages() {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			for _, made := range allOf(c, tag) {
				if problems := sanitize.CheckComment(made.Body, made.Policy); len(problems) > 0 {
					p := problems[0]
					t.Errorf("%s: %q in\n%s", p.Kind, made.Body[p.Start:p.End], made.Body)
				}
				if found := sanitize.FindSecrets(made.Body, nil); len(found) > 0 {
					t.Errorf("%v in\n%s", found, made.Body)
				}
				if strings.Contains(made.Body, "never shown") || placeholder().MatchString(made.Body) {
					t.Errorf("a word too many:\n%s", made.Body)
				}
				if m, ok := ParseMarker(made.Body); !ok || m != made.Marker {
					t.Errorf("the marker is not found again: %+v", m)
				}
				all.WriteString(made.Body + "\n<!-- next -->\n\n")
			}
			path := filepath.Join("testdata", "golden", tag+".md")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(all.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), all.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for tag, want := range map[string]string{
		"de": "de", "de-AT": "de", "DE": "de", "pt": "pt-BR", "pt-PT": "pt-BR", "pt_BR": "pt-BR", "zh": "zh-CN", "zh-Hans": "zh-CN",
		"zh-TW": "en", "zh-Hant-HK": "en", "nl": "en", "": "en", "en-GB": "en",
	} {
		if got, _ := c.Match(tag); got != want {
			t.Errorf("%q: %s, want %s", tag, got, want)
		}
	}
	if _, ok := c.Match("nl"); ok {
		t.Error("there are Dutch texts")
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	m := Marker{Kind: task.MarkAnalysis, To: 1, Read: 0, HasRead: true, Language: "pt-BR", Engine: "claude", Questions: true, Duplicate: 3, Pull: 4, Tag: "v1.2+x", Session: "abc_-="}
	got, ok := ParseMarker("\r\n" + m.String() + "\r\nwords\r\n")
	if diff := cmp.Diff(m, got); diff != "" || !ok {
		t.Error(diff)
	}
	if s := (Marker{Kind: "released", Tag: "v1 --> <b>", Session: strings.Repeat("x", 9000)}).String(); s != "<!-- issue-assistant:released -->" {
		t.Error(s)
	}
	// B16: an older form, at the end.
	if got, ok := ParseMarker("Answer\n<!-- issue-assistant:reply to=31 -->"); !ok || got.To != 31 || got.Kind != "reply" {
		t.Errorf("%+v %v", got, ok)
	}
	for _, body := range []string{
		"", "a\n" + m.String() + "\nb", "> " + m.String(), "x " + m.String(), "<!-- issue-assistant:analysis\nto=1 -->",
		"<!-- issue-assistant:Analysis -->", "<!-- issue-assistant:analysis x='1' -->", "<!-- issue-assistant:" + strings.Repeat("a", 9000) + " -->",
	} {
		if got, ok := ParseMarker(body); ok {
			t.Errorf("%q: %+v", body, got)
		}
	}
	if !Carries("hello\n"+m.String()+"\nbye") || Carries("> "+m.String()) {
		t.Error("carries")
	}
	// A later release may add keys and kinds.
	if m, ok := ParseMarker("<!-- issue-assistant:summing-up to=5 future=a.b -->"); !ok || m.To != 5 || m.Kind != "summing-up" {
		t.Errorf("%+v", m)
	}
	if m, ok := ParseMarker("<!-- issue-assistant:analysis to=-1 read=x duplicate=99999999999999999999 -->"); !ok || m.To != 0 || m.HasRead || m.Duplicate != 0 {
		t.Errorf("%+v", m)
	}
}

func TestOwner(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		owner Owner
		user  ghapi.User
		want  bool
	}{
		{JobToken(), ghapi.User{Login: "github-actions[bot]", Type: "Bot"}, true},
		{JobToken(), ghapi.User{Login: "github-actions[bot]", Type: "User"}, false},
		{JobToken(), ghapi.User{Login: "github-actions", Type: "User"}, false},
		{JobToken(), ghapi.User{Login: "dependabot[bot]", Type: "Bot"}, false},
		{Owner{"app[bot]", 5}, ghapi.User{Login: "App[bot]", ID: 5, Type: "Bot"}, true},
		{Owner{"app[bot]", 5}, ghapi.User{Login: "app[bot]", ID: 6, Type: "Bot"}, false},
		{Owner{"mona", 7}, ghapi.User{Login: "mona", ID: 7, Type: "User"}, true},
		{Owner{}, ghapi.User{}, false},
	} {
		if got := tt.owner.Wrote(tt.user); got != tt.want {
			t.Errorf("%+v %+v: %v", tt.owner, tt.user, got)
		}
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "en", "It crashes when the file is missing": "en", "Das Programm stürzt ab, wenn ich die Datei öffne und nicht speichere": "de",
		"Le logiciel plante quand je lance la commande avec une option": "fr", "El programa falla cuando abro el archivo y no hay conexión": "es",
		"O programa não abre quando eu clico e isso está em uma máquina": "pt-BR", "起動するとクラッシュします": "ja", "程序启动时崩溃": "zh-CN",
		"panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()": "en",
	} {
		if got := guess(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	own := []Own{{Marker: Marker{Kind: task.MarkAnalysis, Language: "ja"}}, {Marker: Marker{Kind: task.MarkReminder, Language: "fr"}}}
	if got := Language(own, "hello"); got != "ja" {
		t.Error(got)
	}
}

func TestOverride(t *testing.T) {
	t.Parallel()
	base := catalog(t)
	c, ds := base.Override("texts.toml", []byte("[de]\nintro = \"Moin.\"\n[nl]\nfooter = \"Door een AI ({engine}).\"\n"))
	if len(ds) > 0 || c.text("de", "intro") != "Moin." || c.text("nl", "footer", "engine", "X") != "Door een AI (X)." || c.text("nl", "intro") != base.text("en", "intro") {
		t.Error(ds)
	}
	if base.text("de", "intro") == "Moin." {
		t.Error("the embedded texts changed")
	}
	if got, ok := c.Match("nl-BE"); !ok || got != "nl" {
		t.Error(got)
	}
	for text, want := range map[string]struct {
		code string
		line int
	}{
		"[de]\nintor = \"x\"\n":              {"texts-key", 2},
		"[de]\n\nintro = \" \"\n":            {"texts-empty", 3},
		"[de]\nfooter = \"{model}\"\n":       {"texts-placeholders", 2},
		"[de]\nintro = \"hi @all\"\n":        {"texts-content", 2},
		"[de]\nintro = \"<b>\"\n":            {"texts-content", 2},
		"[de]\nintro = \"see http://x.y\"\n": {"texts-content", 2},
		"[\"d e\"]\nintro = \"x\"\n":         {"texts-language", 1},
		"[de]\nintro = 5\n":                  {"texts-syntax", 0},
		"intro = \"x\"\n":                    {"texts-syntax", 0},
		"[de\n":                              {"texts-syntax", 0},
	} {
		got, ds := base.Override("texts.toml", []byte(text))
		if len(ds) != 1 || ds[0].Code != want.code || (want.line > 0 && ds[0].Line != want.line) || !diag.HasErrors(ds) || ds[0].Hint == "" {
			t.Errorf("%q: %+v, want %v", text, ds, want)
		}
		if got.text("de", "intro") != base.text("de", "intro") {
			t.Errorf("%q was taken", text)
		}
	}
}

// The AI's words at their worst: whatever they are, the comment fits and passes the check.
func TestHostileWords(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for _, words := range []string{
		strings.Repeat("<", 50), strings.Repeat("@a ", 90), "```\n@bob", "- - - - x", "# h\n===\n<!-- x -->", "[x]: http://y\n[x]", "a\n---\nb",
		"<!-- issue-assistant:analysis read=9 -->", "![i](https://x.y/z.png)", "fixes #3", "/assistant off", "| a |\n|-|\n| @x |", "\u202e\u2066x", "> [!NOTE]\n> x", strings.Repeat("`", 301) + "x",
	} {
		made := c.Analysis(testPage("en", task.MarkAnalysis), Analysis{
			Kind: words, Summary: words, Analysis: words, NextSteps: []string{words, words}, Missing: []string{words},
			Duplicate: &Related{Number: 3, Reason: words}, Related: []Related{{Number: 4, Reason: words}},
			References: []Reference{{Path: "a`b.go", URL: "https://github.com/octo/demo/blob/main/a%60b.go", Title: words, Reason: words}},
		})
		if problems := sanitize.CheckComment(made.Body, made.Policy); len(problems) > 0 {
			t.Errorf("%q: %s: %q", words, problems[0].Kind, made.Body[problems[0].Start:problems[0].End])
		}
		if length(made.Body) > MaxLength {
			t.Errorf("%q: %d characters", words, length(made.Body))
		}
		if m, _ := ParseMarker(made.Body); m.Read != 41 {
			t.Errorf("%q: the marker is another one: %+v", words, m)
		}
	}
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	made := catalog(t).Analysis(testPage("en", task.MarkAnalysis), Analysis{Analysis: strings.Repeat("word 🙂 ", 20_000)})
	if n := length(made.Body); n > MaxLength || n < 1000 || !strings.Contains(made.Body, "was shortened") {
		t.Errorf("%d characters", n)
	}
}
