// Command genshadow writes the tables and the picture of docs/sessions.md: the arithmetic of the cost model, and what
// the decision says on 200 simulated histories of issues. The same code and prices give the same bytes.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/meter"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

func main() {
	dir := "docs"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "genshadow:", err)
		os.Exit(1)
	}
}

// write fills the page's places and draws its picture.
func write(dir string) error {
	page, picture, err := generate(dir)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "sessions.md"), page, 0o644),
		os.WriteFile(filepath.Join(dir, "sessions.svg"), picture, 0o644),
	)
}

// priced is the day of the prices: the built-in table names the day from which each price holds.
func priced() time.Time { return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC) }

func generate(dir string) (page, picture []byte, err error) {
	if page, err = os.ReadFile(filepath.Join(dir, "sessions.md")); err != nil {
		return nil, nil, err
	}
	table, err := meter.Prices(priced())
	if err != nil {
		return nil, nil, err
	}
	price := func(model string) session.Price {
		p := session.PriceOf(table.Cost, model, session.CacheTTL)
		if p == nil {
			err = errors.Join(err, fmt.Errorf("no price for %s", model))
			return session.Price{}
		}
		return *p
	}
	opus := price("claude-opus-5-5")
	small, large := simulate(measured, opus), simulate(session.ProfileOf, opus)
	for name, text := range map[string]string{
		"prices":    priceTable(price),
		"breakeven": breakEvenTable(price),
		"steps":     stepsTable(opus),
		"reasons":   reasonsTable(large, small),
		"dollars":   dollarsTable(large, small),
	} {
		if page, err = fill(page, name, text, err); err != nil {
			return nil, nil, err
		}
	}
	return page, drawing(opus), err
}

// fill puts a text between the two comments of its name.
func fill(page []byte, name, text string, before error) ([]byte, error) {
	start, end := []byte("<!-- genshadow: "+name+" -->\n"), []byte("<!-- /genshadow -->")
	i := bytes.Index(page, start)
	if i < 0 {
		return nil, errors.Join(before, fmt.Errorf("the page has no place %q", name))
	}
	i += len(start)
	j := bytes.Index(page[i:], end)
	if j < 0 {
		return nil, errors.Join(before, fmt.Errorf("the place %q of the page has no end", name))
	}
	return bytes.Join([][]byte{page[:i], []byte(text), page[i+j:]}, nil), before
}
