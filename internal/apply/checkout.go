package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/comment"
)

// Checkout is the analyzed working copy: the files that git tracks.
type Checkout interface {
	// Tracked reports whether git tracks the path as a plain file.
	Tracked(path string) bool
	// Read gives the content of a tracked file, at most limit bytes.
	Read(path string, limit int64) ([]byte, error)
}

// gitCheckout reads the index once.
type gitCheckout struct {
	root  *os.Root
	files map[string]bool
}

// OpenCheckout lists the tracked files of a working copy. Submodules and symbolic links are not files: the first have
// no content here, the second may lead anywhere.
func OpenCheckout(ctx context.Context, dir string) (Checkout, error) {
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "ls-files", "--stage", "-z") // fsmonitor may name a program
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tracked files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the checkout: %w", err)
	}
	c := &gitCheckout{root: root, files: map[string]bool{}}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		meta, name, ok := strings.Cut(string(entry), "\t")
		if ok && strings.HasPrefix(meta, "100") {
			c.files[name] = true
		}
	}
	return c, nil
}

func (c *gitCheckout) Tracked(p string) bool { return c.files[p] }

func (c *gitCheckout) Read(p string, limit int64) ([]byte, error) {
	// Opening a pipe would wait for its writer.
	info, err := c.root.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a plain file")
	}
	f, err := c.root.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit))
}

// maxFile is how much of a file is read to count its lines.
const maxFile = 8 << 20

// references keeps the places that exist, with a link to the analyzed commit. An unknown anchor leaves the file; an
// unknown file or a line beyond its end drops the entry.
func (a *run) references(list []answer.Reference) []comment.Reference {
	var out []comment.Reference
	for i, r := range list {
		field := fmt.Sprintf("references[%d]", i)
		if a.Checkout == nil || a.Commit == "" {
			a.repair(field + ": dropped, there is no checkout to look it up in")
			continue
		}
		p := strings.TrimPrefix(r.Path, "./")
		if strings.Contains(r.Path, "..") || path.Clean(p) != p || !a.Checkout.Tracked(p) {
			a.repair(field + ": dropped, git does not track " + comment.Code(r.Path))
			continue
		}
		ref := comment.Reference{Path: p, Reason: r.Reason}
		fragment := ""
		if r.Line > 0 || r.Anchor != "" {
			data, err := a.Checkout.Read(p, maxFile)
			if err != nil {
				a.repair(field + ": dropped, it cannot be read: " + comment.Code(r.Path))
				continue
			}
			switch {
			case r.Line > 0 && r.Line > lines(data):
				a.repair(fmt.Sprintf("%s: dropped, %s has no line %d", field, comment.Code(r.Path), r.Line))
				continue
			case r.Line > 0:
				ref.Line, fragment = r.Line, fmt.Sprintf("#L%d", r.Line)
				if markdown(p) {
					fragment = fmt.Sprintf("?plain=1#L%d", r.Line)
				}
			default:
				title, ok := heading(p, data, strings.TrimPrefix(r.Anchor, "#"))
				if ok {
					ref.Title, fragment = title, "#"+url.PathEscape(strings.TrimPrefix(r.Anchor, "#"))
				} else {
					a.repair(field + ": linked without its anchor, no such heading: " + comment.Code(r.Anchor))
				}
			}
		}
		ref.URL = a.fileURL(p) + fragment
		if slices.ContainsFunc(out, func(o comment.Reference) bool { return o.URL == ref.URL }) {
			continue
		}
		out = append(out, ref)
	}
	return out
}

// fileURL links a file at the analyzed commit. Parentheses would end a Markdown link.
func (a *run) fileURL(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("(", "%28", ")", "%29", "'", "%27", "*", "%2A", "~", "%7E").Replace(url.PathEscape(part))
	}
	return strings.TrimRight(a.r.ServerURL(), "/") + "/" + a.r.Repo() + "/blob/" + a.Commit + "/" + strings.Join(parts, "/")
}

// lines counts lines as GitHub numbers them; the last one need not end.
func lines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

func markdown(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".md" || ext == ".markdown"
}

// heading finds a heading of a Markdown file by its anchor.
func heading(p string, data []byte, anchor string) (title string, ok bool) {
	if !markdown(p) || !utf8.Valid(data) {
		return "", false
	}
	for _, h := range headings(data) {
		if h.anchor == anchor {
			return h.title, true
		}
	}
	return "", false
}
