package ghtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func (c *call) listComments() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	since, _ := time.Parse(time.RFC3339, c.q.Get("since")) // what cannot be read does not restrict
	out := []object{}
	for _, x := range i.comments {
		if !x.UpdatedAt.Before(since) {
			out = append(out, c.comment(x))
		}
	}
	return list(c, out, nil)
}

func (c *call) createComment() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	body, rep, good := c.text()
	if !good {
		return rep
	}
	if i.Locked {
		return fail(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	x := c.s.addComment(i.Number, c.viewer().Login, body, c.s.now())
	return reply{status: http.StatusCreated, body: c.comment(x)}
}

// text reads the body field of a comment.
func (c *call) text() (string, reply, bool) {
	var in struct {
		Body string `json:"body"`
	}
	if rep, good := c.decode(&in); !good {
		return "", rep, false
	}
	if strings.TrimSpace(in.Body) == "" {
		return "", invalid("IssueComment", "body", "missing_field"), false
	}
	if utf8.RuneCountInString(in.Body) > maxText {
		return "", invalid("IssueComment", "body", "too_long"), false
	}
	return in.Body, reply{}, true
}

func (c *call) findComment() (*issueState, int) {
	id := c.id()
	for _, i := range c.s.state.issues {
		for n, x := range i.comments {
			if x.ID == id && !i.deleted {
				return i, n
			}
		}
	}
	return nil, 0
}

func (c *call) getComment() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	return ok(c.comment(i.comments[n]))
}

func (c *call) editComment() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	body, rep, good := c.text()
	if !good {
		return rep
	}
	i.comments[n].Body, i.comments[n].UpdatedAt = body, c.s.now()
	c.touch(i)
	return ok(c.comment(i.comments[n]))
}

func (c *call) deleteComment() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	i.comments = slices.Delete(i.comments, n, n+1)
	return reply{status: http.StatusNoContent}
}

func (c *call) listIssueReactions() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return c.reactionList(i.reactions)
}

func (c *call) listCommentReactions() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	return c.reactionList(i.comments[n].reactions)
}

func (c *call) reactionList(all []ghapi.Reaction) reply {
	out := []object{}
	for _, r := range all {
		if k := c.q.Get("content"); k == "" || k == r.Content {
			out = append(out, c.reaction(r))
		}
	}
	return list(c, out, nil)
}

func (c *call) createIssueReaction() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return c.react(&i.reactions)
}

func (c *call) createCommentReaction() reply {
	i, n := c.findComment()
	if i == nil {
		return notFound()
	}
	return c.react(&i.comments[n].reactions)
}

// react keeps one reaction of a kind per account: the second answers 200.
func (c *call) react(to *[]ghapi.Reaction) reply {
	var in struct {
		Content string `json:"content"`
	}
	if rep, good := c.decode(&in); !good {
		return rep
	}
	if !slices.Contains([]string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}, in.Content) {
		return invalid("Reaction", "content", "invalid")
	}
	for _, r := range *to {
		if r.Content == in.Content && r.User.Login == c.viewer().Login {
			return ok(c.reaction(r))
		}
	}
	r := ghapi.Reaction{ID: c.s.id(), Content: in.Content, User: c.viewer(), CreatedAt: c.s.now()}
	*to = append(*to, r)
	return reply{status: http.StatusCreated, body: c.reaction(r)}
}
