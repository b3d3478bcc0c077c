package ghtest

import "github.com/issue-assistant/issue-assistant/internal/ghapi"

// ActionsState is what the fake says about the repository's Actions settings.
type ActionsState struct {
	ghapi.ActionsSettings
	Selected     ghapi.SelectedActions
	TokenWrites  bool
	ArtifactDays int
}

// SetActions changes the Actions settings; at first everything is allowed, tokens read, artifacts are kept 90 days.
func (s *Server) SetActions(a ActionsState) { s.set(func(st *state) { st.actions = a }) }

func defaultActions() ActionsState {
	return ActionsState{ActionsSettings: ghapi.ActionsSettings{Enabled: true, Allowed: "all"}, ArtifactDays: 90}
}

func (c *call) getActionsSettings() reply {
	a := c.s.state.actions
	out := object{"enabled": a.Enabled}
	if a.Enabled {
		out["allowed_actions"] = a.Allowed
		out["selected_actions_url"] = c.repoURL() + "/actions/permissions/selected-actions"
	}
	return ok(out)
}

func (c *call) getSelectedActions() reply {
	a := c.s.state.actions
	if a.Allowed != "selected" {
		return fail(409, "Conflict")
	}
	return ok(object{"github_owned_allowed": a.Selected.GitHubOwned, "verified_allowed": false, "patterns_allowed": a.Selected.Patterns})
}

func (c *call) getTokenSettings() reply {
	level := "read"
	if c.s.state.actions.TokenWrites {
		level = "write"
	}
	return ok(object{"default_workflow_permissions": level, "can_approve_pull_request_reviews": false})
}

func (c *call) getRetention() reply {
	return ok(object{"days": c.s.state.actions.ArtifactDays, "maximum_allowed_days": 400})
}
