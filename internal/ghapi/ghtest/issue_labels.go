package ghtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/ghapi"
)

func (c *call) listIssueLabels() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	return list(c, c.labels(i.Labels), nil)
}

func (c *call) addLabels() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	names, rep, good := c.labelNames()
	if !good {
		return rep
	}
	for _, n := range names {
		if n == "" {
			return invalid("Label", "name", "missing_field")
		}
		at := c.s.findLabel(n)
		if at < 0 { // GitHub makes a new one without asking
			c.s.addLabel(ghapi.Label{Name: n})
			at = len(c.s.state.labels) - 1
		}
		name := c.s.state.labels[at].Name
		if !i.HasLabel(name) {
			i.Labels = append(i.Labels, name)
			c.s.event(i, ghapi.Event{Kind: "labeled", Label: name})
		}
	}
	c.touch(i)
	return ok(c.labels(i.Labels))
}

// labelNames reads the forms of the body: {"labels": [...]} or [...], of names or of objects with a name.
func (c *call) labelNames() ([]string, reply, bool) {
	var in struct {
		Labels []labelName `json:"labels"`
	}
	if _, good := c.decode(&in.Labels); !good {
		if rep, good := c.decode(&in); !good {
			return nil, rep, false
		}
	}
	var names []string
	for _, l := range in.Labels {
		names = append(names, string(l))
	}
	return names, reply{}, true
}

type labelName string

// UnmarshalJSON takes a string, or an object with a name.
func (l *labelName) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(l)) == nil {
		return nil
	}
	var in struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*l = labelName(in.Name)
	return nil
}

func (c *call) removeLabel() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	for n, l := range i.Labels {
		if strings.EqualFold(l, c.args["label"]) {
			i.Labels = slices.Delete(i.Labels, n, n+1)
			c.s.event(i, ghapi.Event{Kind: "unlabeled", Label: l})
			c.touch(i)
			return ok(c.labels(i.Labels))
		}
	}
	return fail(http.StatusNotFound, "Label does not exist")
}

func (c *call) listEvents() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	out := []object{}
	for _, e := range i.events {
		if e.Kind != "cross-referenced" && e.Kind != "commented" {
			out = append(out, c.event(e))
		}
	}
	return list(c, out, nil)
}

func (c *call) listTimeline() reply {
	i, rep := c.find()
	if i == nil {
		return rep
	}
	type entry struct {
		at time.Time
		o  object
	}
	var all []entry
	for _, e := range i.events {
		if e.Kind == "cross-referenced" {
			all = append(all, entry{e.CreatedAt, c.crossReference(e)})
			continue
		}
		all = append(all, entry{e.CreatedAt, c.event(e)})
	}
	for _, x := range i.comments {
		o := c.comment(x)
		o["event"], o["actor"] = "commented", o["user"]
		all = append(all, entry{x.CreatedAt, o})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	out := make([]object, 0, len(all))
	for _, e := range all {
		out = append(out, e.o)
	}
	return list(c, out, nil)
}
