package chunk

// Unmet is a condition of the wrap-up that does not hold yet.
type Unmet string

// The conditions of the work, then the two finishing acts.
const (
	UnmetClaimOpen        Unmet = "claim_open"
	UnmetClaimUnknown     Unmet = "claim_unknown"
	UnmetPullOpen         Unmet = "pr_open"
	UnmetFeedbackOpen     Unmet = "feedback_open"
	UnmetFindingUnfiled   Unmet = "finding_unfiled"
	UnmetFollowupClaimed  Unmet = "followup_claimed"
	UnmetWriteFailed      Unmet = "write_failed"
	UnmetTrackedNotEmpty  Unmet = "tracked_not_empty"
	UnmetPollArmed        Unmet = "poll_armed"
	unmetConditionsOfWork       = 7
)

// WrapState is the outcome of a wrap-up.
type WrapState string

// The outcomes. Finish: the work is done, only the finishing acts are left.
const (
	StateWrapped    WrapState = "wrapped"
	StateFinish     WrapState = "finish"
	StateNotWrapped WrapState = "not_wrapped"
)

// WrapResult is wrapped exactly when Unmet is empty.
type WrapResult struct {
	State WrapState `json:"state"`
	Unmet []Unmet   `json:"unmet"`
}

// WrapUp checks a chunk. No model is needed for any of it. A chunk that is wrapped stays so: an issue that is reopened
// later belongs to a new chunk.
func WrapUp(c *Chunk, f Facts) WrapResult {
	work := []Unmet{}
	if c.State != Wrapped {
		work = unmetWork(c, f)
	}
	if len(work) > 0 {
		return WrapResult{State: StateNotWrapped, Unmet: work}
	}
	acts := []Unmet{}
	if c.TrackedLeft > 0 {
		acts = append(acts, UnmetTrackedNotEmpty)
	}
	if c.Armed {
		acts = append(acts, UnmetPollArmed)
	}
	if len(acts) > 0 {
		return WrapResult{State: StateFinish, Unmet: acts}
	}
	return WrapResult{State: StateWrapped, Unmet: acts}
}

func unmetWork(c *Chunk, f Facts) []Unmet {
	claimOpen, claimUnknown, pullOpen := false, f.GitHub != "ok", false
	for _, claim := range c.Claims {
		claimOpen = claimOpen || claim.open()
		claimUnknown = claimUnknown || claim.unknown()
	}
	for _, pull := range c.PullRequests {
		pullOpen = pullOpen || !pull.settled()
	}
	unmet := make([]Unmet, 0, unmetConditionsOfWork)
	for _, condition := range []struct {
		is   bool
		name Unmet
	}{
		{claimOpen, UnmetClaimOpen},
		{claimUnknown, UnmetClaimUnknown},
		{pullOpen, UnmetPullOpen},
		{c.FeedbackOpen > 0, UnmetFeedbackOpen},
		{c.FindingsUnfiled > 0, UnmetFindingUnfiled},
		{c.FollowupsClaimed > 0, UnmetFollowupClaimed},
		{c.FailedWrites > 0, UnmetWriteFailed},
	} {
		if condition.is {
			unmet = append(unmet, condition.name)
		}
	}
	return unmet
}
