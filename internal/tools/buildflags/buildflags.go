// Package buildflags says how the released binary is built, in one place for the release and for the tests of its size.
package buildflags

import "strings"

// Tags leave HTTP/2 out of net/http (0.5 MB): GitHub and the providers answer HTTP/1.1, which is what the tests speak,
// too. See docs/decisions/0015-binary-size.md.
const Tags = "nethttpomithttp2"

// MaxBytes is the budget of a binary's size.
const MaxBytes = 14_000_000

// waiting are packages whose time is spent waiting for a network, a person or a disk: calls in them are not copied to
// where they are made, which saves 0.7 MB. What reads large files or cleans comments is not among them.
func waiting() []string {
	const own = "github.com/issue-assistant/issue-assistant/internal/"
	return []string{
		"archive/zip", "compress/flate", "crypto/...", "encoding/asn1", "internal/poll", "internal/syscall/...", "log/slog",
		"math/big", "mime/...", "net", "net/http", "net/textproto", "os", "os/...", "path/filepath", "regexp/syntax", "syscall",
		"text/tabwriter", "vendor/...",
		"github.com/BurntSushi/toml", "github.com/google/...", "github.com/santhosh-tekuri/...", "github.com/sethvargo/...",
		"github.com/spf13/...", "github.com/yuin/goldmark/extension", "golang.org/x/text/...", "gopkg.in/yaml.v3",
		own + "answer", own + "apply", own + "check", own + "chunk/...", own + "cli", own + "comment", own + "config/...",
		own + "diag", own + "engine", own + "engine/claude", own + "engine/codex", own + "engine/gemini", own + "ghapi/...",
		own + "install", own + "lifecycle", own + "material", own + "mcpfiles", own + "run", own + "session", own + "task",
		own + "usage/ledger", own + "usage/report",
	}
}

// Args are the arguments of `go build` before the output and the package. The linker's flags may set variables.
func Args(variables ...string) []string {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-tags=" + Tags}
	for _, pattern := range waiting() {
		args = append(args, "-gcflags="+pattern+"=-l")
	}
	ldflags := []string{"-s -w -buildid="}
	for _, v := range variables {
		ldflags = append(ldflags, "-X "+v)
	}
	return append(args, "-ldflags="+strings.Join(ldflags, " "))
}
