package ghapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// gqlError is one entry of errors[]. docs.github.com: "Forming calls with GraphQL".
type gqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Path    []any  `json:"path"`
}

// query runs a GraphQL query with values as variables only. errors[] in an answer of 200 is an error, also when data
// came with it.
func (c *Client) query(ctx context.Context, query string, vars map[string]any, out any) error {
	u, err := url.Parse(c.graphqlURL)
	if err != nil {
		return err
	}
	op := "POST " + u.EscapedPath() + " " + queryName(query)
	body, err := json.Marshal(struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables,omitempty"`
	}{query, vars})
	if err != nil {
		return fmt.Errorf("%s: variables: %w", op, err)
	}
	single, _ := ctx.Value(onceKey{}).(bool)
	for nth := 1; ; nth++ {
		err := c.queryOnce(ctx, op, body, out)
		// GitHub answers a rate limit of GraphQL with 200, so the transport did not see it.
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindRateLimited || e.Status != http.StatusOK || single {
			return err
		}
		if !c.transport.wait.forLimit(ctx, e, nth) {
			return e
		}
	}
}

func (c *Client) queryOnce(ctx context.Context, op string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.graphqlURL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fromTransport(op, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return fromTransport(op, err)
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []gqlError      `json:"errors"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return undecodable(op, resp.StatusCode, err)
	}
	if len(answer.Errors) > 0 {
		return graphqlError(op, answer.Errors)
	}
	// No query of ours may find its whole answer empty without a word why.
	switch strings.Join(strings.Fields(string(answer.Data[:min(len(answer.Data), 64)])), "") {
	case "", "null", "{}", `{"repository":null}`, `{"viewer":null}`:
		return &Error{Op: op, Kind: KindUnreadable, Status: resp.StatusCode, Message: "an answer without data"}
	}
	if err := json.Unmarshal(answer.Data, out); err != nil {
		return undecodable(op, resp.StatusCode, err)
	}
	return nil
}

// graphqlError sorts errors[] by the first one's type.
func graphqlError(op string, errs []gqlError) *Error {
	kinds := map[string]Kind{
		"NOT_FOUND": KindNotFound, "FORBIDDEN": KindForbidden, "INSUFFICIENT_SCOPES": KindForbidden,
		"RATE_LIMITED": KindRateLimited, "RATE_LIMIT": KindRateLimited, "UNPROCESSABLE": KindInvalid,
	}
	kind, ok := kinds[errs[0].Type]
	switch words := strings.ToLower(errs[0].Message); {
	case ok:
	case strings.Contains(words, "rate limit"):
		kind = KindRateLimited
	case strings.Contains(words, "something went wrong"), strings.Contains(words, "timedout"), strings.Contains(words, "timeout"):
		kind = KindServer
	default:
		kind = KindGraphQL
	}
	var lines []string
	for _, e := range errs {
		lines = append(lines, e.Message)
	}
	return &Error{Op: op, Kind: kind, Status: http.StatusOK, Message: oneLine(strings.Join(lines, "; "), maxMessage)}
}

// queryName is the word after "query" or "mutation", for errors.
func queryName(q string) string {
	fields := strings.FieldsFunc(q, func(r rune) bool { return r == ' ' || r == '(' || r == '{' || r == '\n' })
	if len(fields) < 2 {
		return ""
	}
	return fields[1]
}

// gqlActor is an account as GraphQL gives it; null for a deleted one.
type gqlActor struct {
	Type  string `json:"__typename"`
	Login string `json:"login"`
	ID    int64  `json:"databaseId"`
}

// user gives an app the suffix that REST and the web show.
func (a *gqlActor) user() User {
	if a == nil {
		return User{}
	}
	login := a.Login
	if a.Type == "Bot" && !strings.HasSuffix(login, "[bot]") {
		login += "[bot]"
	}
	// The viewer of an app's token is said to be a User.
	kind := a.Type
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return User{Login: login, ID: a.ID, Type: kind}
}

// gqlNodes is one page of a list.
type gqlNodes[N any] struct {
	Page  gqlPage `json:"pageInfo"`
	Nodes []*N    `json:"nodes"`
}

type gqlPage struct {
	HasNext bool   `json:"hasNextPage"`
	End     string `json:"endCursor"`
}

// repoVars are the variables that every query of this repository has.
func (c *Client) repoVars(more map[string]any) map[string]any {
	vars := map[string]any{"owner": c.owner, "name": c.name}
	maps.Copy(vars, more)
	return vars
}
