package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// payload is the part of an event that the assistant reads. Fields that GitHub sends as null stay zero.
type payload struct {
	Action string `json:"action"`
	Issue  *struct {
		Number      int              `json:"number"`
		Body        string           `json:"body"`
		State       string           `json:"state"`
		Title       string           `json:"title"`
		Locked      bool             `json:"locked"`
		User        *payloadUser     `json:"user"`
		PullRequest *json.RawMessage `json:"pull_request"`
		Comments    int              `json:"comments"`
		Labels      []struct {
			Name string `json:"name"`
		} `json:"labels"`
	} `json:"issue"`
	Comment *struct {
		ID   int64        `json:"id"`
		Body string       `json:"body"`
		User *payloadUser `json:"user"`
	} `json:"comment"`
	Label *struct {
		Name string `json:"name"`
	} `json:"label"`
	Changes struct {
		Body *struct {
			From string `json:"from"`
		} `json:"body"`
		Title *struct {
			From string `json:"from"`
		} `json:"title"`
	} `json:"changes"`
	PullRequest *struct {
		Number int `json:"number"`
		Head   struct {
			Repo *struct {
				FullName string `json:"full_name"`
				Fork     bool   `json:"fork"`
			} `json:"repo"`
		} `json:"head"`
	} `json:"pull_request"`
	Repository struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
		Fork          bool   `json:"fork"`
	} `json:"repository"`
	Sender *payloadUser   `json:"sender"`
	Inputs map[string]any `json:"inputs"`
}

type payloadUser struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// readPayload reads the event's file, of a bounded size.
func readPayload(path string) (p payload, err error) {
	if path == "" {
		return p, errors.New("the runner names no event: GITHUB_EVENT_PATH is empty")
	}
	f, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("read the event: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	switch {
	case err != nil:
		return p, fmt.Errorf("read the event: %w", err)
	case len(data) > maxEvent:
		return p, fmt.Errorf("the event has more than %d bytes", maxEvent)
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &p); err != nil {
		return p, fmt.Errorf("read the event: %w", err)
	}
	return p, nil
}

// fork reports whether the event comes from a fork: of the repository itself, or of a pull request's head.
func (p payload) fork() bool {
	if p.PullRequest != nil {
		head := p.PullRequest.Head.Repo
		return head == nil || head.Fork || !strings.EqualFold(head.FullName, p.Repository.FullName)
	}
	return p.Repository.Fork
}

// input is an input of workflow_dispatch as text.
func (p payload) input(name string) string {
	switch v := p.Inputs[name].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
