package comment

import "strings"

// FixedByCommit names a commit in the place of the pull request that [Catalog.Fixed] names.
func (c Catalog) FixedByCommit(page Page, sha, url, branch string) Comment {
	return c.compose(page, func(w *writer) {
		const place = "\x00"
		link := "[" + Code(sha[:min(len(sha), 10)]) + "](" + url + ")"
		w.template(url)
		s := w.text("fixed", "pull", place, "branch", Code(branch))
		w.paragraph(strings.NewReplacer("#"+place, link, place, link).Replace(s))
	})
}
