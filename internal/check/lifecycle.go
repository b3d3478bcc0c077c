package check

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/config/tomldoc"
	"github.com/issue-assistant/issue-assistant/internal/diag"
)

// Lifecycle gives the findings of config.CheckLifecycleLabels the place of the label's group; a label that is missing
// belongs at the end of the file.
func Lifecycle(root fs.FS, ds []diag.Diagnostic, labels config.LabelFile) []diag.Diagnostic {
	f := read(root, config.LabelsPath)
	if f == nil {
		return ds
	}
	doc, bad := tomldoc.Parse([]byte(f.text), config.MaxBytes)
	if bad != nil {
		return ds
	}
	for i, d := range ds {
		if d.Line > 0 {
			continue
		}
		ds[i].Line, ds[i].Col = max(1, strings.Count(strings.TrimRight(f.text, "\n"), "\n")+1), 1
		for n, l := range labels.Labels {
			if strings.HasPrefix(d.Message, fmt.Sprintf("the label %q is in the group", config.FoldLabel(l.Name))) {
				pos := doc.ValuePos(tomldoc.Path("").Key("label").Index(n).Key("group"))
				ds[i].Line, ds[i].Col = pos.Line, pos.Col
			}
		}
	}
	return ds
}
