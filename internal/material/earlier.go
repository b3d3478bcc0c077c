package material

import (
	"github.com/issue-assistant/issue-assistant/internal/comment"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// Earlier is what a run is told of earlier work on its issue. The zero value is nothing.
type Earlier struct {
	Checkpoint *session.Checkpoint // nil: none is given
	Delta      bool                // a fault may be followed by a continuation in this job: it needs its own prompt
}

// deltaPrompt is what a continued conversation is told: the task stands in it already.
const deltaPrompt = `The run was broken off by a fault of the connection or of the program, not by you, and the fault has passed. All
files are as they were. Go on where you stopped and read nothing twice. When you know enough, hand in the answer by its
schema, as the task at the beginning says.
`

// earlier writes the checkpoint, which the task lists as one more file, and the prompt of a continuation.
func (f *folder) earlier(o Options, t Thread) error {
	if o.Earlier == nil {
		return nil
	}
	e := o.Earlier(t)
	if e.Checkpoint != nil {
		c := *e.Checkpoint
		for _, s := range []*string{&c.Done, &c.Questions, &c.Files, &c.Next} {
			*s = t.text(*s)
		}
		if err := f.put(FileCheckpoint, "what your earlier run on this issue did and left open", []byte(c.Markdown(fence))); err != nil {
			return err
		}
	}
	if e.Delta {
		return f.put(FileDelta, "", []byte(deltaPrompt))
	}
	return nil
}

// Ingested are the comments that a conversation reads and that are not the assistant's own, oldest first.
func (t Thread) Ingested() []session.Text {
	var out []session.Text
	for _, c := range t.Comments {
		if !t.own(c) {
			out = append(out, session.Text{ID: c.ID, Body: c.Body})
		}
	}
	return out
}

// Kept finds the newest comment of the assistant that keeps a record of the key, and the record. Records in comments of
// others, and records that are no records, do not count.
func (t Thread) Kept(key string) (own comment.Own, kept session.Kept, ok bool) {
	for _, c := range comment.Owned(t.Comments, t.Owner) {
		if c.Marker.Session == "" {
			continue
		}
		k, err := session.Decode(c.Marker.Session)
		if err != nil || (k.Schema == session.RecordVersion && k.Key != key) {
			continue
		}
		own, kept, ok = c, k, true
	}
	kept.Author, kept.AuthorIsTrusted = own.Author.Login, ok
	return own, kept, ok
}
