// Package session decides whether a saved conversation of an engine is resumed or a fresh one is started.
//
// One function, Decide, returns the decision and its reasons together: fresh is defined as "there is a reason". It reads
// no clock and does no I/O, and neither reasons nor notes carry a byte of an issue's text: they are words of closed lists.
package session

import "slices"

// Reason says why a conversation is not resumed.
type Reason string

// The reasons, in the order in which they are checked and reported.
const (
	SessionsOff           Reason = "sessions_off"
	ForceFresh            Reason = "force_fresh"
	NoTaskKey             Reason = "no_task_key"
	WakeIssueOpened       Reason = "wake_issue_opened"
	WakeAssigned          Reason = "wake_assigned"
	WakeApprovalRequested Reason = "wake_approval_requested"
	WakeReviewerRecovery  Reason = "wake_reviewer_recovery"
	WakePollUnscoped      Reason = "wake_poll_unscoped"
	WakeIssueEdited       Reason = "wake_issue_edited"
	WakeReopened          Reason = "wake_reopened"
	WakeUnknown           Reason = "wake_unknown"
	NoSavedSession        Reason = "no_saved_session"
	RecordSchema          Reason = "record_schema"
	RecordAuthor          Reason = "record_author"
	RecordKey             Reason = "record_key"
	RecordTime            Reason = "record_time"
	EngineChanged         Reason = "engine_changed"
	EngineMajorChanged    Reason = "engine_major_changed"
	ModelChanged          Reason = "model_changed"
	EffortChanged         Reason = "effort_changed"
	RulesChanged          Reason = "rules_changed"
	ConfigChanged         Reason = "config_changed"
	ToolsChanged          Reason = "tools_changed"
	PermissionChanged     Reason = "permission_changed"
	RepoChanged           Reason = "repo_changed"
	WorkspaceMoved        Reason = "workspace_moved"
	HistoryRewritten      Reason = "history_rewritten"
	MaterialEdited        Reason = "material_edited"
	LastRunPoisoned       Reason = "last_run_poisoned"
	MaxRuns               Reason = "max_runs"
	MaxContext            Reason = "max_context"
	MaxAge                Reason = "max_age"
	MaxCost               Reason = "max_cost"
	TranscriptMissing     Reason = "transcript_missing"
	TranscriptHash        Reason = "transcript_hash"
	TranscriptUntrusted   Reason = "transcript_untrusted"
	TranscriptSecret      Reason = "transcript_secret"
	PriceUnknown          Reason = "price_unknown"
	ResumeDearer          Reason = "resume_dearer"
	ResumeFailed          Reason = "resume_failed" // at run time: the engine did not know the session
)

// Reasons lists all reasons in their order.
var Reasons = []Reason{
	SessionsOff, ForceFresh, NoTaskKey, WakeIssueOpened, WakeAssigned, WakeApprovalRequested,
	WakeReviewerRecovery, WakePollUnscoped, WakeIssueEdited, WakeReopened, WakeUnknown, NoSavedSession, RecordSchema,
	RecordAuthor, RecordKey, RecordTime, EngineChanged, EngineMajorChanged, ModelChanged, EffortChanged, RulesChanged,
	ConfigChanged, ToolsChanged, PermissionChanged, RepoChanged, WorkspaceMoved, HistoryRewritten, MaterialEdited,
	LastRunPoisoned, MaxRuns, MaxContext, MaxAge, MaxCost, TranscriptMissing, TranscriptHash, TranscriptUntrusted,
	TranscriptSecret, PriceUnknown, ResumeDearer, ResumeFailed,
}

// Note is a fact that makes the provider's cache cold without forbidding to resume.
type Note string

// The notes, in the order in which they are reported.
const (
	HeadMoved          Note = "head_moved"
	EnginePatchChanged Note = "engine_patch_changed"
)

// Wake is the event that asks for a run.
type Wake string

// wakeClass says what a wake allows.
type wakeClass int

const (
	wakeFresh    wakeClass = iota // always fresh
	wakeCost                      // may resume, cost decides
	wakeContinue                  // may resume, the unfinished work exists nowhere else
)

// classOf sorts a wake and names the reason of the fresh class. A wake that this release does not know is fresh: a
// transcript holds strangers' text, so doubt goes to the bounded side.
func classOf(w Wake) (wakeClass, Reason) {
	switch w {
	case "reporter_replied", "maintainer_commented", "mention", "review_requested", "changes_requested", "poll_scoped", "manual":
		return wakeCost, ""
	case "retry_transient", "retry_process_lost", "continue_turns", "continue_budget":
		return wakeContinue, ""
	case "issue_opened", "assigned", "approval_requested", "reviewer_recovery", "poll_unscoped", "issue_edited", "reopened":
		return wakeFresh, Reason("wake_" + string(w))
	}
	return wakeFresh, WakeUnknown
}

// LabelFresh asks for fresh starts as long as it stands on an issue.
const LabelFresh = "issue-assistant:fresh"

// Mode is the setting [sessions] mode.
type Mode string

// The modes. Shadow decides and reports, and always runs fresh. Auto may resume: the mode of
// a second start inside one job, and of `session decide`; no setting asks for it.
const (
	Off    Mode = "off"
	Shadow Mode = "shadow"
	Auto   Mode = "auto"
)

// Store is the verdict on the saved transcript.
type Store string

// The verdicts. Secret: the transcript held a secret and was not saved.
const (
	StoreOK        Store = "ok"
	StoreMissing   Store = "missing"
	StoreHash      Store = "hash"
	StoreUntrusted Store = "untrusted"
	StoreSecret    Store = "secret"
)

// reason maps a verdict to its reason; an unknown verdict is not trusted.
func (s Store) reason() (Reason, bool) {
	switch s {
	case StoreOK:
		return "", false
	case StoreMissing:
		return TranscriptMissing, true
	case StoreHash:
		return TranscriptHash, true
	case StoreSecret:
		return TranscriptSecret, true
	case StoreUntrusted:
	}
	return TranscriptUntrusted, true
}

// continuable lists the endings after which a transcript is continued: the run finished, was stopped at its turns, budget
// or minutes, was lost, or gave an answer that was refused. After an error of the provider, a refusal of the model or an
// empty run it is poisoned, and so it is after an ending that this release does not know.
var continuable = []string{"finished", "turns", "budget", "time", "bad_answer", "interrupted", "unfinished"}

func isPoisoned(r *Record) bool {
	return r.ContextTokens <= 0 || !slices.Contains(continuable, r.Ended)
}
