package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

// FindingsResult is what became of the open code-scanning alerts. Alerts are told by number and link only: their texts
// would tell an attacker what to look for.
type FindingsResult struct {
	NotSetUp  bool
	Dismissed []ghapi.Alert
	Failed    map[int]string // by number
	Open      []ghapi.Alert  // not accepted
	Unused    []config.Accept
	Expired   []config.Accept
}

// accepted finds the first entry that covers an alert and has not expired.
func accepted(entries []config.Accept, a ghapi.Alert, now time.Time) (int, bool) {
	for i, e := range entries {
		if !e.Expired(now) && e.Covers(a.Tool, a.Rule, a.Path) {
			return i, true
		}
	}
	return 0, false
}

// Findings dismisses the open alerts that findings.toml accepts.
func Findings(ctx context.Context, client *ghapi.Client, writer func() ghapi.Writer, entries []config.Accept, now time.Time) (FindingsResult, error) {
	r := FindingsResult{Failed: map[int]string{}}
	alerts, err := client.OpenAlerts(ctx)
	switch ghapi.KindOf(err) {
	case "":
		if err != nil {
			return r, fmt.Errorf("read the alerts: %w", err)
		}
	case ghapi.KindNotFound:
		r.NotSetUp = true
		return r, nil
	case ghapi.KindForbidden:
		if words := strings.ToLower(err.Error()); strings.Contains(words, "not enabled") || strings.Contains(words, "must be enabled") {
			r.NotSetUp = true
			return r, nil
		}
		return r, fmt.Errorf("read the alerts: %w", err)
	default:
		return r, fmt.Errorf("read the alerts: %w", err)
	}
	slices.SortStableFunc(alerts, func(a, b ghapi.Alert) int { return a.Number - b.Number })
	used := map[int]bool{}
	for _, a := range alerts {
		i, ok := accepted(entries, a, now)
		if !ok {
			r.Open = append(r.Open, a)
			continue
		}
		used[i] = true
		e := entries[i]
		if err := writer().DismissAlert(ctx, "accepted", a.Number, e.Reason, dismissal(e.Comment)); err != nil {
			r.Failed[a.Number] = brief(cause(err))
			r.Open = append(r.Open, a)
			continue
		}
		r.Dismissed = append(r.Dismissed, a)
	}
	for i, e := range entries {
		switch {
		case e.Expired(now):
			r.Expired = append(r.Expired, e)
		case !used[i]:
			r.Unused = append(r.Unused, e)
		}
	}
	return r, nil
}

// dismissal is the comment of a dismissal, at most 280 characters as GitHub takes them.
func dismissal(words string) string {
	const limit, source = 280, " (accepted in " + config.FindingsPath + ")"
	if r := []rune(words); len(r)+len(source) > limit {
		words = string(r[:limit-len(source)-1]) + "…"
	}
	// GitHub may count bytes.
	for len(words)+len(source) > limit {
		r := []rune(strings.TrimSuffix(words, "…"))
		words = string(r[:len(r)-1]) + "…"
	}
	return words + source
}

// Summary tells it in Markdown.
func (r FindingsResult) Summary(how string) string {
	var b strings.Builder
	b.WriteString(ghapi.ReportHeading("Findings", how))
	if r.NotSetUp {
		b.WriteString("Code scanning is not set up. Nothing to do.\n")
		return b.String()
	}
	link := func(a ghapi.Alert) string { return fmt.Sprintf("[%d](%s)", a.Number, a.URL) }
	var dismissed, open, entries []string
	for _, a := range r.Dismissed {
		dismissed = append(dismissed, link(a))
	}
	for _, a := range r.Open {
		s := link(a)
		if why := r.Failed[a.Number]; why != "" {
			s += ": not dismissed: " + plain(why)
		}
		open = append(open, s)
	}
	for _, e := range r.Expired {
		entries = append(entries, fmt.Sprintf("line %d: expired on %s", e.Line, e.Expires.Format(time.DateOnly)))
	}
	for _, e := range r.Unused {
		entries = append(entries, fmt.Sprintf("line %d: accepts no open alert", e.Line))
	}
	said := paragraph(&b, "dismissed", dismissed)
	said = paragraph(&b, "open", open) || said
	said = paragraph(&b, "entries of "+config.FindingsPath+" without effect", entries) || said
	if !said {
		b.WriteString("No open alerts.\n")
	}
	return b.String()
}
