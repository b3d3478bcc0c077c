package ghapi

import (
	"context"
)

// ActionsSettings is what a repository allows its workflows. Reading most of it needs the right to administrate.
// https://docs.github.com/rest/actions/permissions
type ActionsSettings struct {
	Enabled bool
	Allowed string // all, local_only, selected
}

// SelectedActions is what Allowed = "selected" admits.
type SelectedActions struct {
	GitHubOwned bool
	Patterns    []string // OWNER/REPO@REF with *
}

// ActionsSettings reads whether Actions run at all and which actions may be used.
func (c *Client) ActionsSettings(ctx context.Context) (ActionsSettings, error) {
	var got struct {
		Enabled bool   `json:"enabled"`
		Allowed string `json:"allowed_actions"`
	}
	_, err := c.get(ctx, c.path("/actions/permissions"), nil, &got)
	return ActionsSettings{got.Enabled, got.Allowed}, err
}

// SelectedActions reads the list of [ActionsSettings]; it exists only where Allowed is "selected".
func (c *Client) SelectedActions(ctx context.Context) (SelectedActions, error) {
	var got struct {
		GitHubOwned bool     `json:"github_owned_allowed"`
		Patterns    []string `json:"patterns_allowed"`
	}
	_, err := c.get(ctx, c.path("/actions/permissions/selected-actions"), nil, &got)
	return SelectedActions{got.GitHubOwned, got.Patterns}, err
}

// DefaultTokenWrites reports whether a job that states no permissions gets a token that writes.
func (c *Client) DefaultTokenWrites(ctx context.Context) (bool, error) {
	var got struct {
		Default string `json:"default_workflow_permissions"`
	}
	_, err := c.get(ctx, c.path("/actions/permissions/workflow"), nil, &got)
	return got.Default == "write", err
}

// ArtifactDays reads how long artifacts are kept.
func (c *Client) ArtifactDays(ctx context.Context) (int, error) {
	var got struct {
		Days int `json:"days"`
	}
	_, err := c.get(ctx, c.path("/actions/permissions/artifact-and-log-retention"), nil, &got)
	return got.Days, err
}
