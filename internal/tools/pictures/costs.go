package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/task"
	"github.com/issue-assistant/issue-assistant/internal/tools/month"
)

const (
	costsBegin = "<!-- costs:begin -->\n"
	costsEnd   = "<!-- costs:end -->"
	guide      = "docs/guide.md"
)

// costs is the guide's table of what the recorded runs cost.
func costs(recorded map[string]month.Recorded) (string, error) {
	var b strings.Builder
	b.WriteString("\n| task | small repository | middle | large |\n|---|---:|---:|---:|\n")
	for _, name := range task.Names {
		for _, suffix := range []string{"", "-light"} {
			var cells strings.Builder
			for _, sz := range sizes() {
				r, ok := recorded[string(name)+"-"+sz.name+suffix]
				if !ok && suffix != "" {
					continue
				}
				if !ok || r.End.Ended != "finished" {
					return "", fmt.Errorf("no finished run is recorded for %s of a %s repository", name, sz.name)
				}
				usd := fmt.Sprintf("$%.2f", r.End.CostUSD)
				if r.End.CostUSD < 0.01 {
					usd = fmt.Sprintf("$%.3f", r.End.CostUSD)
				}
				fmt.Fprintf(&cells, " %s, %d turns |", usd, r.End.Turns)
			}
			if cells.Len() == 0 {
				continue
			}
			label := "`" + string(name) + "`"
			if suffix != "" {
				label += " with `light_model`"
			}
			b.WriteString("| " + label + " |" + cells.String() + "\n")
		}
	}
	return b.String() + "\n", nil
}

// withCosts is the guide with today's table.
func withCosts(root string) (old, now []byte, err error) {
	recorded, err := month.Load(filepath.Join(root, runsDir))
	if err != nil {
		return nil, nil, err
	}
	table, err := costs(recorded)
	if err != nil {
		return nil, nil, err
	}
	old, err = os.ReadFile(filepath.Join(root, guide))
	if err != nil {
		return nil, nil, err
	}
	before, rest, ok1 := bytes.Cut(old, []byte(costsBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(costsEnd))
	if !ok1 || !ok2 {
		return nil, nil, fmt.Errorf("%s has no place for the costs", guide)
	}
	return old, bytes.Join([][]byte{before, []byte(costsBegin + table + costsEnd), after}, nil), nil
}

func writeCosts(root string) error {
	old, now, err := withCosts(root)
	if err != nil || bytes.Equal(old, now) {
		return err
	}
	return write(filepath.Join(root, guide), now)
}
