package ghapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"
)

// Repository reads the repository itself.
func (c *Client) Repository(ctx context.Context) (Repository, error) {
	got, _, err := c.rest.Repositories.Get(ctx, c.owner, c.name)
	if err != nil {
		return Repository{}, fromTransport(c.op(http.MethodGet, ""), err)
	}
	return Repository{
		ID: got.GetID(), NodeID: got.GetNodeID(), FullName: got.GetFullName(), DefaultBranch: got.GetDefaultBranch(),
		Private: got.GetPrivate(), Visibility: got.GetVisibility(), Fork: got.GetFork(), Archived: got.GetArchived(),
		HasIssues: got.GetHasIssues(), OwnerType: got.GetOwner().GetType(), URL: got.GetHTMLURL(),
	}, nil
}

// LatestRelease reads the latest published release; false when there is none.
func (c *Client) LatestRelease(ctx context.Context) (Release, bool, error) {
	got, _, err := c.rest.Repositories.GetLatestRelease(ctx, c.owner, c.name)
	err = fromTransport(c.op(http.MethodGet, "/releases/latest"), err)
	if KindOf(err) == KindNotFound {
		return Release{}, false, nil
	}
	if err != nil {
		return Release{}, false, err
	}
	return releaseOf(got), true, nil
}

// Releases lists the newest releases, drafts included when the token may see them, at most n (up to 100).
func (c *Client) Releases(ctx context.Context, n int) ([]Release, error) {
	got, _, err := c.rest.Repositories.ListReleases(ctx, c.owner, c.name, &github.ListOptions{PerPage: min(perPage, max(n, 1))})
	if err != nil {
		return nil, fromTransport(c.op(http.MethodGet, "/releases"), err)
	}
	list := convert(got, releaseOf)
	return list[:min(len(list), max(n, 0))], nil
}

// Compare says how head relates to base; both are commits, tags or branches of this repository.
func (c *Client) Compare(ctx context.Context, base, head string) (Comparison, error) {
	// go-github escapes for a query here: a space would become a plus sign.
	b, err := refSegment("base of a comparison", base)
	if err != nil {
		return Comparison{}, err
	}
	h, err := refSegment("head of a comparison", head)
	if err != nil {
		return Comparison{}, err
	}
	var got github.CommitsComparison
	if _, err := c.get(ctx, c.path("/compare/"+b+"..."+h), nil, &got); err != nil {
		return Comparison{}, err
	}
	return Comparison{
		Status: got.GetStatus(), Ahead: got.GetAheadBy(), Behind: got.GetBehindBy(), Commits: convert(got.Commits, commitOf),
	}, nil
}

// Commits lists commits of a branch (empty: the default one) since a time, newest first, at most n.
func (c *Client) Commits(ctx context.Context, branch string, since time.Time, n int) ([]Commit, error) {
	if n <= 0 {
		return nil, nil
	}
	opts := &github.CommitsListOptions{SHA: branch, Since: since, ListOptions: github.ListOptions{PerPage: min(perPage, n), Page: 1}}
	var all []Commit
	for {
		got, resp, err := c.rest.Repositories.ListCommits(ctx, c.owner, c.name, opts)
		if err != nil {
			return all, fromTransport(c.op(http.MethodGet, "/commits"), err)
		}
		all = append(all, convert(got, commitOf)...)
		if len(all) >= n || resp.NextPage <= opts.Page {
			return all[:min(len(all), n)], nil
		}
		opts.Page = resp.NextPage
	}
}

// HasCommit reports whether the repository has a commit, by its full or abbreviated hash.
func (c *Client) HasCommit(ctx context.Context, sha string) (bool, error) {
	name, err := refSegment("a commit", sha)
	if err != nil {
		return false, err
	}
	var got struct {
		SHA string `json:"sha"`
	}
	_, err = c.get(ctx, c.path("/commits/"+name), nil, &got)
	if k := KindOf(err); k == KindNotFound || k == KindInvalid {
		return false, nil
	}
	return err == nil && strings.HasPrefix(got.SHA, strings.ToLower(sha)), err
}

// Ref reads the commit that a reference such as "heads/main" or "tags/v1" points to; false when there is none.
func (c *Client) Ref(ctx context.Context, ref string) (string, bool, error) {
	name, err := refPath("a reference", ref)
	if err != nil {
		return "", false, err
	}
	var got struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	_, err = c.get(ctx, c.path("/git/ref/"+name), nil, &got)
	if KindOf(err) == KindNotFound {
		return "", false, nil
	}
	return got.Object.SHA, err == nil, err
}

// errTruncated says that a tree has more entries than GitHub gives at once.
var errTruncated = errors.New("the tree has more entries than GitHub lists at once")

// Tree lists all paths of a commit. A list that is not complete comes with an error.
func (c *Client) Tree(ctx context.Context, sha string) ([]TreeEntry, error) {
	name, err := refSegment("a tree", sha)
	if err != nil {
		return nil, err
	}
	var got github.Tree
	if _, err := c.get(ctx, c.path("/git/trees/"+name), url.Values{"recursive": {"1"}}, &got); err != nil {
		return nil, err
	}
	list := convert(got.Entries, func(e *github.TreeEntry) TreeEntry {
		return TreeEntry{Path: e.GetPath(), Kind: e.GetType(), Mode: e.GetMode(), SHA: e.GetSHA(), Size: e.GetSize()}
	})
	if got.GetTruncated() {
		return list, errTruncated
	}
	return list, nil
}

// refSegment escapes a name of a commit, tag or branch as one part of a path.
func refSegment(what, ref string) (string, error) {
	// Two dots never stand in a name; here they would change what is compared.
	if strings.Contains(ref, "..") {
		return "", &Error{Op: what, Kind: KindInvalid, Message: "not a name of a commit, tag or branch"}
	}
	return segment(what, ref)
}

// refPath escapes a reference whose slashes stay.
func refPath(what, ref string) (string, error) {
	parts := strings.Split(ref, "/")
	for i, p := range parts {
		escaped, err := refSegment(what, p)
		if err != nil {
			return "", err
		}
		parts[i] = escaped
	}
	return strings.Join(parts, "/"), nil
}
