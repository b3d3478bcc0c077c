package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// block is a run of statements, as a profile names it: "file.go:1.2,3.4".
type block struct {
	statements int
	any, own   bool // run by a test at all; by one of its own package
}

// profile holds every block of every package: import path, then the block's place.
type profile map[string]map[string]*block

// add counts what the tests of one package ran, by its profile ("mode: set", then lines of "place statements count").
func (p profile) add(tests, text string) error {
	head, body, _ := strings.Cut(text, "\n")
	if head != "mode: set" {
		return fmt.Errorf("it begins with %q", head)
	}
	for line := range strings.Lines(body) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return fmt.Errorf("line %q has %d fields", line, len(fields))
		}
		statements, err1 := strconv.Atoi(fields[1])
		count, err2 := strconv.Atoi(fields[2])
		if err1 != nil || err2 != nil || !strings.Contains(fields[0], ":") {
			return fmt.Errorf("line %q is not of a profile", line)
		}
		pkg := path.Dir(fields[0][:strings.LastIndex(fields[0], ":")])
		if p[pkg] == nil {
			p[pkg] = map[string]*block{}
		}
		b := p[pkg][fields[0]]
		if b == nil {
			b = &block{statements: statements}
			p[pkg][fields[0]] = b
		}
		b.any = b.any || count > 0
		b.own = b.own || count > 0 && tests == pkg
	}
	return nil
}

// row is a line of the table.
type row struct {
	pkg                  string // from "internal/" on
	statements, any, own int
}

func (r row) percent(run int) float64 { return 100 * float64(run) / float64(r.statements) }

// rows are the packages with statements, by name.
func (p profile) rows() []row {
	var rows []row
	for pkg, blocks := range p {
		_, name, ok := strings.Cut(pkg, "/internal/")
		if !ok {
			continue
		}
		r := row{pkg: "internal/" + name}
		for _, b := range blocks {
			r.statements += b.statements
			if b.any {
				r.any += b.statements
			}
			if b.own {
				r.own += b.statements
			}
		}
		if r.statements > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.pkg, b.pkg) })
	return rows
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| package | statements | run by all tests | by its own tests |\n|---|---|---|---|\n")
	total := row{pkg: "together"}
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %d | %.1f %% | %.1f %% |\n", r.pkg, r.statements, r.percent(r.any), r.percent(r.own))
		total.statements += r.statements
		total.any += r.any
	}
	fmt.Fprintf(&b, "| together | %d | %.1f %% | |\n", total.statements, total.percent(total.any))
	return b.String()
}

func page(table string, least float64) string {
	return fmt.Sprintf("# Coverage of statements\n\nWritten by `make coverage`, which fails when a package is below %g %% by the tests of all packages. Programs that\n"+
		"tests build and start (the command line under act, the wrapper) are not counted.\n\n%s", least, table)
}

// below is an error that names every package under the least percentage.
func below(rows []row, least float64) error {
	var names []string
	for _, r := range rows {
		if r.percent(r.any) < least {
			names = append(names, fmt.Sprintf("%s %.1f %%", r.pkg, r.percent(r.any)))
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("below %g %%: %s", least, strings.Join(names, ", "))
	}
	return nil
}
