package tomldoc

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	var root Path
	tests := []struct {
		name, text string
		path       Path
		key, value Pos
	}{
		{"plain", "a = 1\nb = 2\n", root.Key("b"), Pos{2, 1}, Pos{2, 5}},
		{"in a table", "[t]\n  k\t=  'x'", root.Key("t").Key("k"), Pos{2, 3}, Pos{2, 8}},
		{"a table", "\n  [t]\nk = 1", root.Key("t"), Pos{2, 4}, Pos{2, 4}},
		{"dotted", "a.b . c = 1", root.Key("a").Key("b").Key("c"), Pos{1, 7}, Pos{1, 11}},
		{"head of a dotted key", "x = 1\na.b = 1", root.Key("a"), Pos{2, 1}, Pos{2, 1}},
		{"dotted table", "[a . b]\nc = 1", root.Key("a").Key("b").Key("c"), Pos{2, 1}, Pos{2, 5}},
		{"quoted", "\"a.b\".'c d' = 1", root.Key("a.b").Key("c d"), Pos{1, 7}, Pos{1, 15}},
		{"quoted with escapes", `"\u0061\x62\t\"" = 1`, root.Key("ab\t\""), Pos{1, 1}, Pos{1, 20}},
		{"empty key", `"" = 1`, root.Key(""), Pos{1, 1}, Pos{1, 6}},
		{"inline", "t = { a = 1, b = { c = 2 } }", root.Key("t").Key("b").Key("c"), Pos{1, 20}, Pos{1, 24}},
		{"inline over lines", "t = {\n  a = 1, # one\n  b = 2,\n}", root.Key("t").Key("b"), Pos{3, 3}, Pos{3, 7}},
		{"array element", "l = [\n 'a', # ]\n 'b',\n]", root.Key("l").Index(1), Pos{3, 2}, Pos{3, 2}},
		{"nested array", "l = [[1], [2, 3]]", root.Key("l").Index(1).Index(1), Pos{1, 15}, Pos{1, 15}},
		{"after an array", "l = ['#', \"]\"]\nk = 1", root.Key("k"), Pos{2, 1}, Pos{2, 5}},
		{"second element", "[[l]]\nk=1\n[[l]]\nk=2", root.Key("l").Index(1).Key("k"), Pos{4, 1}, Pos{4, 3}},
		{"table of an element", "[[l]]\n[l.s]\nk=1\n[[l]]\n[l.s]\nk=2", root.Key("l").Index(1).Key("s").Key("k"), Pos{6, 1}, Pos{6, 3}},
		{"array of tables inside", "[[a]]\n[[a.b]]\n[[a.b]]\nk=1", root.Key("a").Index(0).Key("b").Index(1).Key("k"), Pos{4, 1}, Pos{4, 3}},
		{"inline tables in an array", "l = [{k=1},\n{k=2}]", root.Key("l").Index(1).Key("k"), Pos{2, 2}, Pos{2, 4}},
		{"multi-line string", "a = \"\"\"\n[t]\nb = 1 \\\"\"\" \"\"\"\"\"\nb = 2", root.Key("b"), Pos{4, 1}, Pos{4, 5}},
		{"multi-line literal", "a = '''\nb = 1\n'''''\nb = 2", root.Key("b"), Pos{4, 1}, Pos{4, 5}},
		{"hash in a string", `a = "# \" #" # b = 1` + "\nb = 2", root.Key("b"), Pos{2, 1}, Pos{2, 5}},
		{"CRLF", "[t]\r\na = 1\r\n\r\nb = 'x'\r\n", root.Key("t").Key("b"), Pos{4, 1}, Pos{4, 5}},
		{"byte order mark", bom + "a = 1", root.Key("a"), Pos{1, 1}, Pos{1, 5}},
		{"characters, not bytes", "[\"ä\"]\n\"öö\" = 1", root.Key("ä").Key("öö"), Pos{2, 1}, Pos{2, 8}},
		{"date with a space", "d = 2026-01-02 03:04:05Z # x\nk = 1", root.Key("k"), Pos{2, 1}, Pos{2, 5}},
		{"unknown path", "a = 1", root.Key("zz"), Pos{1, 1}, Pos{1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Parse([]byte(tt.text), 1<<16)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.key, doc.KeyPos(tt.path)); diff != "" {
				t.Errorf("key (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.value, doc.ValuePos(tt.path)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		kind       Kind
		pos        Pos
		message    string // part of it
		key        string
	}{
		{"open header", "a = 1\n[t\nb = 1", KindSyntax, Pos{2, 3}, "expected '.' or ']'", ""},
		{"no value", "a =\n", KindSyntax, Pos{1, 4}, "expected value", "a"},
		{"bare word", "a = claude\n", KindSyntax, Pos{1, 5}, "expected value", "a"},
		{"bare word after umlauts", "ä = 1", KindSyntax, Pos{1, 1}, "", ""},
		{"open string", "[t]\na = \"x\nb = 1", KindSyntax, Pos{2, 7}, "newline", "t.a"},
		{"duplicate key", "[t]\r\na = 1\r\nb = 2\r\n  a = 3\r\n", KindDuplicate, Pos{4, 3}, `line 2 has it already`, "t.a"},
		{"duplicate table", "[t]\na = 1\n[u]\n[t]\n", KindDuplicate, Pos{4, 2}, `line 1 has it already`, ""},
		{"duplicate in inline table", "t = {a = 1, b = 2, a = 3}", KindDuplicate, Pos{1, 20}, `line 1`, "t.a"},
		{"table over a value", "a = 1\n[a.b]\n", KindDuplicate, Pos{2, 2}, "already", ""},
		{"number out of range", "a = 99999999999999999999", KindRange, Pos{1, 5}, "out of range", "a"},
		{"control character", "a = 'x\x01'", KindSyntax, Pos{1, 7}, "0x01", ""},
		{"byte order mark", bom + "a = = 1", KindSyntax, Pos{1, 5}, "", "a"},
		{"Latin-1", "# caf\xe9\n", KindEncoding, Pos{1, 6}, "0xe9", ""},
		{"UTF-16 little end", "\xff\xfea\x00", KindEncoding, Pos{1, 1}, "UTF-16", ""},
		{"UTF-16 big end", "\xfe\xff\x00a", KindEncoding, Pos{1, 1}, "UTF-16", ""},
		{"NUL", "a = 1\n\x00", KindEncoding, Pos{2, 1}, "NUL", ""},
		{"too large", strings.Repeat("#", 2000), KindTooLarge, Pos{1, 1}, "more than the 1000 bytes", ""},
		{"dotted too deep", strings.Repeat("a.", 400) + "b = 1", KindSyntax, Pos{1, 129}, "64 levels", ""},
		{"table dotted too deep", "[" + strings.Repeat("a.", 400) + "b]", KindSyntax, Pos{1, 130}, "64 levels", ""},
		{"nested too deep", "a = " + strings.Repeat("[", 900), KindSyntax, Pos{1, 69}, "64 levels", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Parse([]byte(tt.text), 1000)
			if err == nil {
				t.Fatalf("no error, tree %v", doc.Tree)
			}
			if doc.Tree != nil {
				t.Error("a document besides the error")
			}
			if err.Kind != tt.kind || err.Pos != tt.pos || !strings.Contains(err.Message, tt.message) || err.Key != tt.key {
				t.Errorf("got %+v", err)
			}
			if strings.ContainsAny(err.Message, "\n\r") || err.Message == "" {
				t.Errorf("message %q", err.Message)
			}
		})
	}
}

// FuzzParse compares the scanner with the decoder: for every document that the decoder accepts, both name the same
// keys in the same order, and every position lies in the file.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1\n[t]\nb.c = { d = [1, {e = 2}] }\n[[l]]\nx='''\n''''\n[[l]]\nx=\"\\\"\"\n[l.m]\n",
		"\"a\\u0062\" = 'x' # c\r\n", bom + "a=1", "a = [[], [[]]]\nd = 2026-01-02 03:04:05\n", "[a.b]\n[a]\nc.d=1",
		"t = {\n a = 1, # x\n}\n", "[[a.b]]\n[[a.b.c]]\n[a.b.c.d]\ne=1", "x = \"\"\"\"\"\"\ny = ''''''", "[t\n", "a = \"\\",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse(data, 1<<14)
		if err != nil {
			if err.Line < 1 || err.Col < 1 || err.Line > strings.Count(string(data), "\n")+1 {
				t.Fatalf("position outside of the file: %v", err)
			}
			return
		}
		s := scanner{text: doc.text, entries: map[Path]entry{}, arrays: map[Path]int{}}
		s.document()
		want := map[string]bool{}
		tree := map[string]any{}
		md, decodeErr := toml.Decode(doc.text, &tree)
		if decodeErr != nil {
			t.Fatal(decodeErr)
		}
		for _, k := range md.Keys() {
			var p Path
			for _, name := range k {
				p = p.Key(name)
			}
			want[string(p)] = true
		}
		got := map[string]bool{}
		for _, p := range s.order {
			got[withoutIndexes(p)] = true
		}
		for k := range want {
			if !got[k] {
				t.Errorf("the scanner misses %q in %q", k, data)
			}
		}
		checkTree(t, doc, "", doc.Tree)
	})
}

func withoutIndexes(p Path) string {
	var keys []string
	for _, key := range strings.Split(string(p), "\x00")[1:] {
		key, _, _ = strings.Cut(key, "\x01")
		keys = append(keys, key)
	}
	return "\x00" + strings.Join(keys, "\x00")
}

// checkTree looks every value of the tree up.
func checkTree(t *testing.T, doc Doc, p Path, value any) {
	t.Helper()
	if _, ok := doc.entries[p]; !ok && p != "" {
		t.Errorf("no position for %q in %q", p, doc.text)
	}
	switch v := value.(type) {
	case map[string]any:
		for k, e := range v {
			checkTree(t, doc, p.Key(k), e)
		}
	case []map[string]any:
		for i, e := range v {
			checkTree(t, doc, p.Index(i), e)
		}
	case []any:
		for i, e := range v {
			checkTree(t, doc, p.Index(i), e)
		}
	}
}
