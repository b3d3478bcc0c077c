package mcpfiles

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checkout is a folder with what a stranger could leave there.
func checkout(t *testing.T) (root, material string) {
	t.Helper()
	dir := t.TempDir()
	root, material = filepath.Join(dir, "checkout"), filepath.Join(dir, "material")
	for name, text := range map[string]string{
		"checkout/main.go": "package main\n\nfunc main() {}\n", "checkout/sub/deep/x.go": "package deep // main\n",
		"checkout/.git/config": "token = OUTSIDE\n", "checkout/bin": "a\x00b main", "checkout/latin": "caf\xe9 main\r\n",
		"checkout/long": strings.Repeat("é", 3000) + "\n", "checkout/many": strings.Repeat("line\n", 3000),
		"checkout/a\nb": "main\n", "checkout-twin/near": "OUTSIDE", "material/issue.md": "# It crashes\nmain\n", "outside": "OUTSIDE",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"passwd": "/etc/passwd", "up": "..", "etc": "/etc", "link": "main.go", "git": ".git", "gitfile": ".git/config", "abs": filepath.Join(root, "main.go"),
		"loop": "loop", "dir": "sub",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(root, "huge"))
	if err == nil {
		err = f.Truncate(maxFile + 1)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return root, material
}

// talk sends messages and returns the answers, by lines.
func talk(t *testing.T, roots []string, lines ...string) []string {
	t.Helper()
	var out strings.Builder
	o := Options{Roots: roots, Version: "1", Now: time.Now}
	if err := Serve(t.Context(), o, strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// use calls one tool.
func use(t *testing.T, roots []string, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	msg, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *rpcError
	}
	line := talk(t, roots, string(msg))[0]
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Error != nil || len(r.Result.Content) != 1 {
		t.Fatalf("%s: %v", line, err)
	}
	return r.Result.Content[0].Text, r.Result.IsError
}

func TestReads(t *testing.T) {
	t.Parallel()
	root, material := checkout(t)
	roots := []string{root, material}
	main := "1\tpackage main\n2\t\n3\tfunc main() {}\n"
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{ToolRead, map[string]any{"path": "main.go"}, main},
		{ToolRead, map[string]any{"path": "./sub/../main.go"}, main},
		{ToolRead, map[string]any{"path": filepath.Join(root, "main.go")}, main},
		{ToolRead, map[string]any{"path": "link"}, main},
		{ToolRead, map[string]any{"path": "dir/deep/x.go"}, "1\tpackage deep // main\n"},
		{ToolRead, map[string]any{"path": "main.go", "offset": 3}, "3\tfunc main() {}\n"},
		{ToolRead, map[string]any{"path": "main.go", "limit": 1}, "1\tpackage main\n(lines 1 to 1 of 3; go on with offset 2)\n"},
		{ToolRead, map[string]any{"path": filepath.Join(material, "issue.md")}, "1\t# It crashes\n2\tmain\n"},
		{ToolRead, map[string]any{"path": "latin"}, "1\tcaf\ufffd main\n"},
		{ToolList, map[string]any{"path": "sub"}, "sub/deep/x.go\n"},
		{ToolList, map[string]any{"glob": "*.go"}, "main.go\nsub/deep/x.go\n"},
		{ToolList, map[string]any{"glob": "**/deep/*.go"}, "sub/deep/x.go\n"},
		{ToolList, map[string]any{"glob": "*.rs"}, "no files\n"},
		{ToolList, map[string]any{"path": "main.go"}, "main.go\n"},
		{ToolList, map[string]any{"path": material}, material + "/issue.md\n"},
		{ToolSearch, map[string]any{"pattern": `^package \w+`}, "main.go:1: package main\nsub/deep/x.go:1: package deep // main\n"},
		{ToolSearch, map[string]any{"pattern": "main", "path": material}, material + "/issue.md:2: main\n"},
		{ToolSearch, map[string]any{"pattern": "func", "path": "main.go"}, "main.go:3: func main() {}\n"},
		{ToolSearch, map[string]any{"pattern": "main", "path": "sub", "glob": "*.go"}, "sub/deep/x.go:1: package deep // main\n"},
		{ToolSearch, map[string]any{"pattern": "^main$", "glob": "a*"}, `a\nb:1: main` + "\n"},
		{ToolSearch, map[string]any{"pattern": "nowhere at all"}, "no line fits\n"},
	} {
		got, failed := use(t, roots, c.tool, c.args)
		if failed {
			t.Errorf("%s %v failed: %s", c.tool, c.args, got)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %v: %s", c.tool, c.args, diff)
		}
	}
}

// TestStaysInside tries every way out; no answer may hold a word from outside.
func TestStaysInside(t *testing.T) {
	t.Parallel()
	root, material := checkout(t)
	paths := []string{
		"/etc/passwd", "passwd", "etc/passwd", "../outside", "up/outside", "up", "..", "/", "/proc/self/environ", root + "-twin/near", root + "/../outside",
		".git/config", ".GIT/config", "git/config", "gitfile", "sub/../../outside", "loop", "pipe", "bin", "huge", "nothing", "a\x00b", strings.Repeat("x/", 3000),
		root + "/./../outside", "file:///etc/passwd", "~", "-",
	}
	for _, p := range paths {
		text, failed := use(t, []string{root, material}, ToolRead, map[string]any{"path": p})
		if !failed {
			t.Errorf("%.60q was read: %.200q", p, text)
		}
		for _, tool := range []string{ToolList, ToolSearch} {
			text, _ := use(t, []string{root, material}, tool, map[string]any{"path": p, "pattern": "OUT.IDE|root:|."})
			for _, word := range []string{"OUTSIDE", "root:x", "daemon", "near\n", "outside\n", "token"} {
				if strings.Contains(text, word) {
					t.Errorf("%s %.60q shows %s: %.300q", tool, p, word, text)
				}
			}
		}
	}
	for _, glob := range []string{"", "**", "../**", "/etc/*", "**/**/**/**/**/x", "[", strings.Repeat("**/", 200) + "x"} {
		text, _ := use(t, []string{root, material}, ToolSearch, map[string]any{"pattern": "OUT.IDE|token", "glob": glob})
		if strings.Contains(text, "OUTSIDE") {
			t.Errorf("glob %.40q: %.300q", glob, text)
		}
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	root, _ := checkout(t)
	for i := range maxEntries + 20 {
		if err := os.WriteFile(filepath.Join(root, "sub", fmt.Sprintf("n%04d", i)), []byte("hit\nhit\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{ToolRead, map[string]any{"path": "many"}, "(lines 1 to 1000 of 3000; go on with offset 1001)\n"},
		{ToolRead, map[string]any{"path": "many", "limit": 100_000}, "go on with offset 1001)\n"},
		{ToolRead, map[string]any{"path": "long"}, "(4000 bytes more)\n"},
		{ToolList, map[string]any{}, "files are shown: choose a folder or a glob)\n"},
		{ToolSearch, map[string]any{"pattern": "hit"}, "(only the first 100 lines are shown)\n"},
	} {
		text, failed := use(t, []string{root}, c.tool, c.args)
		if failed || !strings.HasSuffix(text, c.want) || len(text) > maxRead+maxLine+200 {
			t.Errorf("%s %v: %d bytes, %.100q", c.tool, c.args, len(text), text[max(0, len(text)-100):])
		}
	}
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{ToolRead, map[string]any{"path": "main.go", "offset": 99}},
		{ToolRead, map[string]any{"path": "sub"}},
		{ToolRead, map[string]any{"path": 7}},
		{ToolRead, map[string]any{"path": "main.go", "write": true}},
		{ToolSearch, map[string]any{"pattern": "("}},
		{ToolSearch, map[string]any{"pattern": ""}},
		{ToolSearch, map[string]any{"pattern": strings.Repeat("a", 1001)}},
	} {
		if text, failed := use(t, []string{root}, c.tool, c.args); !failed {
			t.Errorf("%s %.100v: %.100q", c.tool, c.args, text)
		}
	}
}

// TestTime: a clock that jumps ends walks and searches.
func TestTime(t *testing.T) {
	t.Parallel()
	root, _ := checkout(t)
	now := time.Unix(0, 0)
	f, err := openFolders(Options{Roots: []string{root}, Now: func() time.Time { now = now.Add(maxTime); return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	text, err := f.search(t.Context(), arguments{Pattern: "main"})
	if err != nil || !strings.Contains(text, "choose a folder below this one") {
		t.Errorf("%q %v", text, err)
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	root, _ := checkout(t)
	got := talk(t, []string{root},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"1999"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"write_file","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":7}`,
		`nonsense`, `[1]`, ``, strings.Repeat("x", maxMessage+10),
		`{"jsonrpc":"2.0","id":8,"method":"ping"}`,
	)
	want := []string{
		`"protocolVersion":"2025-03-26"`, `"protocolVersion":"2025-06-18"`, `{"jsonrpc":"2.0","id":2,"result":{}}`, `"readOnlyHint":true`, "-32601", "-32602", "-32602",
		"-32700", "-32600", "-32600", `"id":8`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, w := range want {
		if !strings.Contains(got[i], w) {
			t.Errorf("answer %d: %.300s, want %s", i, got[i], w)
		}
	}
	if strings.Count(got[3], `"readOnlyHint":true`) != len(Tools()) {
		t.Errorf("not every tool says that it only reads: %s", got[3])
	}
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Roots: []string{"/nowhere/at/all"}, Now: time.Now}, {Roots: []string{t.TempDir()}}} {
		if err := Serve(context.Background(), o, strings.NewReader(""), &strings.Builder{}); err == nil {
			t.Errorf("%+v: no error", o.Roots)
		}
	}
	err := Serve(context.Background(), Options{Roots: []string{t.TempDir()}, Now: time.Now}, strings.NewReader(`{"id":1,"method":"ping"}`), brokenPipe{})
	if err == nil {
		t.Error("an engine that is gone is no error")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

func FuzzServe(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"view_file","arguments":{"path":"../outside"}}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_files","arguments":{"pattern":"OUT.IDE","path":"..","glob":"**"}}}`)
	f.Fuzz(func(t *testing.T, line string) {
		dir := t.TempDir()
		root := filepath.Join(dir, "in")
		if err := os.MkdirAll(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "outside"), []byte("OUTSIDE-SECRET"), 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := Serve(t.Context(), Options{Roots: []string{root}, Now: time.Now}, strings.NewReader(line), &out); err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(strings.NewReader(out.String()))
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			if !json.Valid(sc.Bytes()) || strings.Contains(sc.Text(), "OUTSIDE-SECRET") {
				t.Errorf("%q: %q", line, sc.Text())
			}
		}
	})
}
