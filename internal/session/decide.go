package session

import (
	"strconv"
	"strings"
	"time"
)

// PromptKind says which prompt the engine gets.
type PromptKind string

// The kinds of prompt. A fresh conversation never gets the delta: it would know nothing of the issue.
const (
	PromptDelta          PromptKind = "delta"
	PromptFull           PromptKind = "full"
	PromptFullCheckpoint PromptKind = "full_with_checkpoint"
)

// Decision is the outcome of Decide. No reasons means resume.
type Decision struct {
	Reasons  []Reason
	Notes    []Note
	Estimate *Estimate // nil when something else has decided, or the price is not known
	Prompt   PromptKind
}

// Fresh reports whether a fresh conversation is started.
func (d Decision) Fresh() bool { return len(d.Reasons) > 0 }

// Word is "fresh" or "resume".
func (d Decision) Word() string {
	if d.Fresh() {
		return "fresh"
	}
	return "resume"
}

// maxSkew is how far a record may lie in the future before its time is not believed.
const maxSkew = 5 * time.Minute

// Decide looks at everything and collects every reason for a fresh start. price is the current model's, nil when it is
// not known.
func Decide(in Input, price *Price) Decision {
	class, wake := classOf(in.Wake)
	var d Decision
	d.add(in.Mode != Auto && in.Mode != Shadow, SessionsOff)
	d.add(in.ForceFresh, ForceFresh)
	d.add(in.Key == nil || *in.Key == "", NoTaskKey)
	d.add(class == wakeFresh, wake)
	if in.Saved == nil {
		d.add(true, NoSavedSession)
		d.Prompt = PromptFull
		return d
	}
	d.compareRecord(in)
	d.compareSetUp(in)
	d.compareWorld(in)
	d.checkLimits(in)
	if reason, bad := in.Store.reason(); bad {
		d.add(true, reason)
	}
	d.weigh(in, class, price)
	d.Prompt = promptKind(d, in)
	return d
}

func (d *Decision) add(is bool, r Reason) {
	if is {
		d.Reasons = append(d.Reasons, r)
	}
}

func (d *Decision) compareRecord(in Input) {
	s := in.Saved
	d.add(s.Schema != RecordVersion, RecordSchema)
	d.add(!s.AuthorIsTrusted, RecordAuthor)
	d.add(in.Key != nil && *in.Key != "" && s.Key != *in.Key, RecordKey)
	d.add(s.LastUsed.IsZero() || s.LastUsed.After(in.Now.Add(maxSkew)) || s.Created.After(in.Now.Add(maxSkew)), RecordTime)
}

func (d *Decision) compareSetUp(in Input) {
	s, c := in.Saved, in.Current
	d.add(s.Engine != c.Engine || s.Engine == "", EngineChanged)
	if s.Engine == c.Engine {
		major := majorOf(s.EngineVersion) != majorOf(c.EngineVersion) || s.EngineVersion == ""
		d.add(major, EngineMajorChanged)
		if s.EngineVersion != c.EngineVersion {
			d.Notes = append(d.Notes, EnginePatchChanged)
		}
	}
	d.add(differs(s.Model, c.Model), ModelChanged)
	d.add(s.Effort == nil || *s.Effort != c.Effort, EffortChanged)
	d.add(differs(s.RulesHash, c.RulesHash), RulesChanged)
	d.add(differs(s.ConfigHash, c.ConfigHash), ConfigChanged)
	d.add(differs(s.ToolsHash, c.ToolsHash), ToolsChanged)
	// In either direction: text injected into a run that only reads must not wake up in one that may write.
	d.add(differs(string(s.Permission), string(in.Permission)), PermissionChanged)
}

// differs treats what was not recorded as different.
func differs(saved, now string) bool { return saved == "" || saved != now }

// majorOf is the number before the first dot; a version without one is its own major.
func majorOf(version string) string {
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err == nil {
		return strconv.Itoa(n)
	}
	return version
}

func (d *Decision) compareWorld(in Input) {
	s, c := in.Saved, in.Current
	d.add(s.RepositoryID == 0 || s.RepositoryID != c.RepositoryID, RepoChanged)
	d.add(differs(s.Workspace, c.Workspace), WorkspaceMoved)
	d.add(!c.SavedHeadIsAncestor, HistoryRewritten)
	if c.SavedHeadIsAncestor && s.Head != c.Head {
		d.Notes = append([]Note{HeadMoved}, d.Notes...)
	}
	d.add(differs(s.BodyHash, in.Material.BodyHash) || in.Material.IngestedCommentsChanged, MaterialEdited)
	d.add(isPoisoned(s), LastRunPoisoned)
}

func (d *Decision) checkLimits(in Input) {
	s := in.Saved
	limit := in.Limits.ContextTokens
	if share := in.Current.ContextWindow * 2 / 5; share > 0 {
		limit = min(limit, share)
	}
	d.add(s.Runs >= in.Limits.Runs, MaxRuns)
	d.add(s.ContextTokens >= limit, MaxContext)
	d.add(in.Now.Sub(s.Created).Hours() >= in.Limits.AgeHours, MaxAge)
	d.add(s.CostUSD >= in.Limits.CostUSD, MaxCost)
}

// weigh compares dollars when nothing else has decided. A continuation skips the comparison, not the numbers.
func (d *Decision) weigh(in Input, class wakeClass, price *Price) {
	if d.Fresh() {
		return
	}
	if price == nil {
		d.add(class == wakeCost, PriceUnknown)
		return
	}
	e := d.estimate(in, *price)
	d.Estimate = &e
	d.add(class == wakeCost && e.dearer(), ResumeDearer)
}

// estimate prices both ways. Whatever changed in the set-up changes the start of the prompt, so the cache is cold.
func (d *Decision) estimate(in Input, price Price) Estimate {
	idle := max(in.Now.Sub(in.Saved.LastUsed), 0)
	ttl := TTL(in.CacheTTLSeconds)
	bucket := bucketOf(idle, ttl, in.Saved.ContextTokens, d.Notes)
	if d.Fresh() {
		bucket = BucketCold
	}
	return estimate(in.Saved.ContextTokens, Warm(bucket, in.Saved.Warm), in.Profile, price)
}

// promptKind never gives the delta to a conversation that starts fresh, shadow mode included. It gives a fresh start that
// follows earlier work its checkpoint, unless a person asked to forget, the record is not ours, or it belongs to another
// task or permission class.
func promptKind(d Decision, in Input) PromptKind {
	if !d.Fresh() && in.Mode != Shadow {
		return PromptDelta
	}
	for _, r := range d.Reasons {
		switch r {
		case ForceFresh, NoTaskKey, RecordSchema, RecordAuthor, RecordKey, PermissionChanged, RepoChanged, SessionsOff:
			return PromptFull
		default:
		}
	}
	return PromptFullCheckpoint
}

// AfterFailedResume is the one second attempt when the engine does not know the session: fresh, with the full prompt,
// inside the same budget.
func AfterFailedResume(d Decision) Decision {
	return Decision{Reasons: append(append([]Reason(nil), d.Reasons...), ResumeFailed), Notes: d.Notes, Prompt: PromptFull}
}
