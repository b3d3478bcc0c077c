package ghapi

import (
	"context"
	"net/http"
	"strings"
)

// Permission reads what an account may do in the repository: admin, write, read or none ("maintain" counts as write,
// "triage" as read). It is read once per client and account. An account that does not exist has none.
func (c *Client) Permission(ctx context.Context, login string) (string, error) {
	key := strings.ToLower(login)
	c.mu.Lock()
	level, ok := c.levels[key]
	c.mu.Unlock()
	if ok {
		return level, nil
	}
	name, err := segment("permission of an account", login)
	if err != nil {
		return "none", err
	}
	got, _, err := c.rest.Repositories.GetPermissionLevel(ctx, c.owner, c.name, name)
	switch err = fromTransport(c.op(http.MethodGet, "/collaborators/"+name+"/permission"), err); {
	case KindOf(err) == KindNotFound:
		level = "none"
	case err != nil:
		return "none", err
	default:
		level = got.GetPermission()
	}
	c.mu.Lock()
	c.levels[key] = level
	c.mu.Unlock()
	return level, nil
}

// CanWrite reports whether an account has write access or more.
func (c *Client) CanWrite(ctx context.Context, login string) (bool, error) {
	level, err := c.Permission(ctx, login)
	return err == nil && (level == "admin" || level == "write" || level == "maintain"), err
}

// Viewer is the account that the token belongs to: github-actions[bot] for a job's own token.
func (c *Client) Viewer(ctx context.Context) (User, error) {
	var data struct {
		Viewer gqlActor `json:"viewer"`
	}
	if err := c.query(ctx, queryViewer, nil, &data); err != nil {
		return User{}, err
	}
	if data.Viewer.Login == "" {
		return User{}, &Error{Op: "query Viewer", Kind: KindUnreadable, Message: "an account without a name"}
	}
	return data.Viewer.user(), nil
}
