package task

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kinds of the assistant's comments, as they stand in their markers.
const (
	MarkAnalysis         = "analysis"
	MarkFollowUp         = "follow-up"
	MarkReminder         = "reminder"
	MarkClosedUnanswered = "closed-unanswered"
	MarkClosedDuplicate  = "closed-duplicate"
	MarkReopened         = "reopened"
	MarkFixed            = "fixed"
	MarkReleased         = "released"
	MarkReleaseReply     = "release-reply"
)

// Entry is one comment of an issue.
type Entry struct {
	ID   int64
	At   time.Time
	By   Person
	Body string
	Mark *Mark // the marker, of the assistant's own comments only
}

// Mark is what the routing needs of a marker.
type Mark struct {
	Kind      string
	Questions bool  // it asked the reporter something
	To        int64 // the comment that it answers; 0 for the issue itself
	Read      int64 // the last comment that the AI had read; meaningful with HasRead
	HasRead   bool
}

// followUpDue reports whether the assistant goes on by itself after an answer of the reporter, and if not, why: its
// last answer asked something, there was room for another one, no maintainer joined, and there is something that it has
// not read. edit says that the reporter changed what stands there already.
func followUpDue(thread []Entry, reporter string, edit bool) (due bool, why string) {
	answers := marked(thread, MarkAnalysis, MarkFollowUp)
	if len(answers) == 0 {
		return false, "the assistant has not asked anything"
	}
	last := newest(answers)
	if !last.Mark.Questions {
		return false, "the assistant's last answer asked nothing"
	}
	return FollowUpLeft(thread, reporter, edit)
}

// FollowUpLeft reports whether a follow-up that was due when its event was decided still has something to read: an
// answer to another comment may have been given meanwhile, and may have asked nothing.
func FollowUpLeft(thread []Entry, reporter string, edit bool) (left bool, why string) {
	answers := marked(thread, MarkAnalysis, MarkFollowUp)
	if len(answers) == 0 {
		return false, "the assistant has not asked anything"
	}
	last := newest(answers)
	if len(marked(thread, MarkFollowUp)) >= maxFollowUps {
		return false, fmt.Sprintf("the assistant followed up %d times already", maxFollowUps)
	}
	isNew := edit
	for _, e := range thread {
		if e.ID <= since(last) || e.Mark != nil || e.By.Bot {
			continue
		}
		if strings.EqualFold(e.By.Login, reporter) {
			isNew = true
		} else if e.By.Maintainer {
			return false, "a maintainer has joined since"
		}
	}
	if !isNew {
		return false, "nothing new since the assistant's last answer"
	}
	return true, ""
}

// newest is the answer that had read most.
func newest(answers []Entry) Entry {
	last := answers[0]
	for _, e := range answers {
		if since(e) >= since(last) {
			last = e
		}
	}
	return last
}

// Unread are the comments of people that came after what the assistant's last analysis or follow-up had read.
func Unread(thread []Entry) []Entry {
	var after int64
	for _, e := range marked(thread, MarkAnalysis, MarkFollowUp) {
		after = max(after, since(e))
	}
	return slices.DeleteFunc(slices.Clone(thread), func(e Entry) bool {
		return e.ID <= after || e.Mark != nil || e.By.Bot
	})
}

// since is the id after which everything is new to the assistant: what it had read, not when it posted.
func since(e Entry) int64 {
	if e.Mark != nil && e.Mark.HasRead {
		return e.Mark.Read
	}
	return e.ID
}

func marked(thread []Entry, kinds ...string) []Entry {
	var out []Entry
	for _, e := range thread {
		if e.Mark != nil && slices.Contains(kinds, e.Mark.Kind) {
			out = append(out, e)
		}
	}
	return out
}
