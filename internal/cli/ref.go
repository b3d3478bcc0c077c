package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxEvent bounds an event's payload; GitHub sends at most 25 MB.
const maxEvent = 32 << 20

// checkDefaultBranch refuses a run of another branch or of a tag: its files, the rules among them, are whatever
// somebody pushed there. Outside of a runner there is nothing to check.
func (a *app) checkDefaultBranch() error {
	path := a.Getenv("GITHUB_EVENT_PATH")
	if path == "" && a.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	branch, err := defaultBranch(path)
	if err != nil {
		return usage(withHint(err, "start the workflow by one of the events that it names"))
	}
	ref := a.Getenv("GITHUB_REF")
	if ref == "" && a.Getenv("GITHUB_REF_TYPE") != "tag" {
		ref = "refs/heads/" + a.Getenv("GITHUB_REF_NAME")
	}
	if ref == "refs/heads/"+branch {
		return nil
	}
	return usage(withHint(fmt.Errorf("this run is of %q, not of the default branch %q", ref, branch),
		"start the workflow on the default branch"))
}

// defaultBranch reads the one thing of the payload that is needed here.
func defaultBranch(path string) (string, error) {
	if path == "" {
		return "", errors.New("the runner names no event: GITHUB_EVENT_PATH is empty")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the event: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return "", fmt.Errorf("read the event: %w", err)
	}
	if len(data) > maxEvent {
		return "", fmt.Errorf("the event has more than %d bytes", maxEvent)
	}
	var event struct {
		Repository struct {
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return "", fmt.Errorf("read the event: %w", err)
	}
	if event.Repository.DefaultBranch == "" {
		return "", errors.New("the event does not name the repository's default branch")
	}
	return event.Repository.DefaultBranch, nil
}
