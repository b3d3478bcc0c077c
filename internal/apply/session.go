package apply

import (
	"github.com/issue-assistant/issue-assistant/internal/config"
	"github.com/issue-assistant/issue-assistant/internal/session"
)

// record is the record of the conversation for the comment's marker: hashes and numbers, written anew from what was
// read, so that nothing else comes along. One that is odd or of another issue or task is left out.
func (a *run) record() string {
	if a.Session == "" || a.Config.Sessions.Mode == config.SessionsOff {
		return ""
	}
	kept, err := session.Decode(a.Session)
	switch {
	case err != nil:
		a.note("no record of the session is kept: " + err.Error())
		return ""
	case kept.Schema != session.RecordVersion || kept.Key != session.KeyOf(string(a.Task), a.r.Repo(), a.Issue):
		a.note("no record of the session is kept: it is of another run")
		return ""
	}
	return kept.Encode()
}
