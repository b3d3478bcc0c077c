package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/issue-assistant/issue-assistant/internal/chunk"
	"github.com/issue-assistant/issue-assistant/internal/chunk/tracker"
	"github.com/issue-assistant/issue-assistant/internal/sanitize"
)

func newChunkReleaseCmd(a *app, o *chunkOptions) *cobra.Command {
	var reason, checkpoint string
	var all bool
	cmd := &cobra.Command{
		Use:   "release NUMBER...",
		Short: "Give claims back, with a word why and notes for whoever comes next",
		RunE: func(cmd *cobra.Command, args []string) error {
			issues, err := issueNumbers(args)
			if err != nil {
				return err
			}
			if all == (len(issues) > 0) {
				return usage(errors.New("name the issues, or give back all with --all"))
			}
			why := chunk.ReleaseReason(reason)
			if !slices.Contains(chunk.ReleaseReasons(), why) {
				return usage(fmt.Errorf("--reason %q: want one of %v", reason, chunk.ReleaseReasons()))
			}
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			return c.done(c.release(cmd.Context(), issues, all, why, checkpoint))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", string(chunk.ReleaseBlocked), "done_elsewhere, limit, waited, lease_expired, blocked, human, gone or write_failed")
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "`file` with notes, at most 6 KB: done, decisions, open questions, next action; - is the standard input")
	cmd.Flags().BoolVar(&all, "all", false, "give back every open claim")
	return cmd
}

// maxCheckpoint bounds the notes of a release, in bytes.
const maxCheckpoint = 6 << 10

func (c *chunks) release(ctx context.Context, issues []int, all bool, why chunk.ReleaseReason, checkpoint string) error {
	text := ""
	if checkpoint != "" {
		data, err := c.readInput(checkpoint)
		if err != nil {
			return usage(err)
		}
		if len(data) > maxCheckpoint {
			return usage(fmt.Errorf("%s holds more than %d bytes", checkpoint, maxCheckpoint))
		}
		if text, err = c.clean(string(data)); err != nil {
			return err
		}
	}
	mine, err := c.one(ctx)
	if err != nil {
		return err
	}
	if all {
		for _, h := range mine.Claims {
			if h.State == chunk.ClaimOpen {
				issues = append(issues, h.Issue)
			}
		}
	}
	var failed error
	for _, n := range issues {
		word := "released"
		if h := mine.Find(n); h == nil || h.State != chunk.ClaimOpen {
			word = "not held"
		} else if err := c.Release(ctx, mine, n, why, text); err != nil {
			failed, word = err, "not released"
		}
		if _, err := fmt.Fprintf(c.Stdout, "%s %d\n", word, n); err != nil {
			return err
		}
	}
	if err := c.Save(ctx, mine); err != nil {
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return failure(failed)
	}
	return nil
}

// clean makes a text of the agent fit for GitHub, or refuses it without quoting it.
func (c *chunks) clean(text string) (string, error) {
	policy, err := c.sanitizePolicy("")
	if err != nil {
		return "", err
	}
	owner, repo, _ := strings.Cut(c.Client.Repo(), "/")
	policy.Owner, policy.Repo, policy.ServerURL = owner, repo, c.Client.ServerURL()
	if found := sanitize.FindSecrets(text, sanitize.SecretValues(c.Environ())); len(found) > 0 {
		return "", problem(withHint(errors.New("the text holds secrets and is refused: "+found[0].Kind), "take them out; a secret that was posted anywhere must be replaced"))
	}
	if sanitize.TooDeep(text) {
		return "", problem(errors.New("the text nests deeper than 100 and is refused"))
	}
	out := sanitize.Truncate(sanitize.Clean(text, sanitize.Paragraph, policy), sanitize.MaxComment/2)
	if problems := sanitize.CheckComment(out, policy); len(problems) > 0 {
		return "", problem(fmt.Errorf("the text stays live after cleaning and is refused: %s", problems[0].Kind))
	}
	return out, nil
}

func newChunkNoteCmd(a *app, o *chunkOptions) *cobra.Command {
	var title, text string
	var pull int
	cmd := &cobra.Command{
		Use:   "note --title TITLE",
		Short: "File something that the agent noticed, unclaimed and with the label backlog",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			return c.done(c.note(cmd.Context(), title, text, pull))
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "what was noticed, in one line of at most 120 characters")
	cmd.Flags().StringVar(&text, "text", "", "`file` with more; - is the standard input")
	cmd.Flags().IntVar(&pull, "pull", 0, "`number` of the pull request whose review brought it up")
	return cmd
}

const maxTitle = 120

func (c *chunks) note(ctx context.Context, title, file string, pull int) error {
	title = strings.Join(strings.Fields(sanitize.Material(title)), " ")
	if title == "" || len([]rune(title)) > maxTitle || pull < 0 {
		return usage(fmt.Errorf("--title wants one line of 1 to %d characters", maxTitle))
	}
	text := ""
	if file != "" {
		data, err := c.readInput(file)
		if err != nil {
			return usage(err)
		}
		text = string(data)
	}
	// Searched together: a secret may be split over both.
	if _, err := c.clean(title + "\n" + text); err != nil {
		return err
	}
	text, err := c.clean(text)
	if err != nil {
		return err
	}
	mine, err := c.one(ctx)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(strings.ToLower(title)))
	number, err := c.Note(ctx, mine, tracker.Draft{Key: hex.EncodeToString(sum[:6]), Title: title, Text: text, Pull: pull})
	if err2 := c.Save(ctx, mine); err2 != nil {
		c.sayf("%v", err2)
	}
	if err != nil {
		return failure(withHint(fmt.Errorf("the finding is not filed: %w", err), "the same command again files it; the wrap-up waits for it"))
	}
	if c.o.json {
		return c.writeJSON(map[string]int{"issue": number})
	}
	_, err = fmt.Fprintf(c.Stdout, "filed %d\n", number)
	return err
}

func newChunkStatusCmd(a *app, o *chunkOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what a chunk holds, what it has used and what its wrap-up still waits for",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.chunks(o)
			if err != nil {
				return err
			}
			return c.done(c.status(cmd.Context()))
		},
	}
}

func (c *chunks) status(ctx context.Context) error {
	mine, err := c.one(ctx)
	if err != nil {
		return err
	}
	s, r, err := c.Status(ctx, mine)
	if err != nil {
		return failure(err)
	}
	if c.o.json {
		return c.writeJSON(struct {
			Chunk    int               `json:"chunk"`
			Record   *chunk.Chunk      `json:"record"`
			WrapUp   chunk.WrapResult  `json:"wrap_up"`
			Findings []chunk.Finding   `json:"findings"`
			Pulls    []chunk.Tracked   `json:"tracked"`
			Facts    map[string]string `json:"agent"`
		}{mine.ID, s.Chunk, r, mine.Findings, mine.Pulls, map[string]string{"login": mine.Agent, "label": mine.Label}})
	}
	lines := []string{fmt.Sprintf("chunk %d: %s", mine.ID, mine.State)}
	for _, h := range s.Chunk.Claims {
		line := fmt.Sprintf("  issue %d: %s", h.Issue, h.State)
		if held := mine.Find(h.Issue); held.Reason != "" {
			line += " (" + held.Reason + ")"
		}
		lines = append(lines, line)
	}
	for _, p := range mine.Pulls {
		lines = append(lines, fmt.Sprintf("  pull request %d: %s", p.Number, p.State))
	}
	for _, f := range mine.Findings {
		where := "not filed"
		if f.Filed {
			where = "issue " + strconv.Itoa(f.Issue)
		}
		lines = append(lines, "  finding: "+where)
	}
	lines = append(lines, "  "+tracker.Figures(&mine.Record))
	if s.Chunk.Paused {
		lines = append(lines, "  paused by its label")
	}
	lines = append(lines, "  "+wrapLine(r))
	_, err = fmt.Fprintln(c.Stdout, strings.Join(lines, "\n"))
	return err
}

func wrapLine(r chunk.WrapResult) string {
	if r.State == chunk.StateWrapped {
		return "wrapped, ready for reset"
	}
	words := make([]string, 0, len(r.Unmet))
	for _, u := range r.Unmet {
		words = append(words, string(u))
	}
	return fmt.Sprintf("%s: %s", r.State, strings.Join(words, ", "))
}
