package session

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// maxEncoded bounds an encoded record in bytes: it stands in the marker of a comment and travels as an output of a job.
const maxEncoded = 2 << 10

// Kept is what a run leaves for the next one of its key: the record, and what the record was measured on.
type Kept struct {
	Record
	Ingested string // Hash of the comments that were read
	Through  int64  // id of the last of them; 0: there was none
	First    int64  // tokens of the prompt of the run's first call
	Turns    int64
	Output   int64 // tokens of all turns
}

// wire is a record as it stands in a marker: short keys, whole numbers, nothing that is text of an issue. Who wrote it
// is not in it: that is the comment's author.
type wire struct {
	Schema     int                 `json:"v"`
	Key        string              `json:"k"`
	Engine     string              `json:"e"`
	Version    string              `json:"ev"`
	Model      string              `json:"m"`
	Effort     string              `json:"ef"`
	Rules      string              `json:"r"`
	Config     string              `json:"c"`
	Tools      string              `json:"t"`
	Permission Permission          `json:"p"`
	Workspace  string              `json:"w"`
	Repository int64               `json:"n"`
	Head       string              `json:"h"`
	Body       string              `json:"b"`
	Ingested   string              `json:"i"`
	Through    int64               `json:"z"`
	Ended      string              `json:"o"`
	Runs       int                 `json:"u"`
	Context    int64               `json:"x"`
	MicroUSD   int64               `json:"d"`
	Created    int64               `json:"a"`
	LastUsed   int64               `json:"l"`
	First      int64               `json:"f"`
	Turns      int64               `json:"q"`
	Output     int64               `json:"y"`
	Warm       map[Bucket]Observed `json:"g,omitempty"`
}

// Encode writes the record for a marker. It holds no "--": standard base64 has no hyphen.
func (k Kept) Encode() string {
	w := wire{
		Schema: k.Schema, Key: k.Key, Engine: k.Engine, Version: k.EngineVersion, Model: k.Model, Rules: k.RulesHash,
		Config: k.ConfigHash, Tools: k.ToolsHash, Permission: k.Permission, Workspace: k.Workspace,
		Repository: k.RepositoryID, Head: k.Head, Body: k.BodyHash, Ingested: k.Ingested, Through: k.Through,
		Ended: k.Ended, Runs: k.Runs, Context: k.ContextTokens, MicroUSD: int64(math.Round(k.CostUSD * 1e6)),
		Created: k.Created.Unix(), LastUsed: k.LastUsed.Unix(), First: k.First, Turns: k.Turns, Output: k.Output, Warm: k.Warm,
	}
	if k.Effort != nil {
		w.Effort = *k.Effort
	}
	data, err := json.Marshal(w)
	if err != nil {
		return "" // a struct of texts and numbers always encodes
	}
	return base64.RawStdEncoding.EncodeToString(data)
}

// errRecord is the root of the reasons why a record does not count. They never hold its text.
var errRecord = errors.New("the record of the session does not count")

// Decode reads a record. One of another version comes back with nothing but its version, which is a reason for a fresh
// start; one that is cut, forged or odd in any field is an error, as if there was none.
func Decode(text string) (Kept, error) {
	if len(text) > maxEncoded {
		return Kept{}, fmt.Errorf("%w: it has %d characters, at most %d are read", errRecord, len(text), maxEncoded)
	}
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return Kept{}, fmt.Errorf("%w: it is no base64", errRecord)
	}
	var w wire
	if json.Unmarshal(data, &w) != nil {
		return Kept{}, fmt.Errorf("%w: it is no JSON of its shape", errRecord)
	}
	if w.Schema != RecordVersion {
		return Kept{Record: Record{Schema: w.Schema}}, nil
	}
	if field := w.odd(); field != "" {
		return Kept{}, fmt.Errorf("%w: its field %s cannot be so", errRecord, field)
	}
	return Kept{
		Record: Record{
			Schema: w.Schema, Key: w.Key, Engine: w.Engine, EngineVersion: w.Version, Model: w.Model, Effort: &w.Effort,
			RulesHash: w.Rules, ConfigHash: w.Config, ToolsHash: w.Tools, Permission: w.Permission, Workspace: w.Workspace,
			RepositoryID: w.Repository, Head: w.Head, BodyHash: w.Body, Ended: w.Ended, Runs: w.Runs, ContextTokens: w.Context,
			CostUSD: float64(w.MicroUSD) / 1e6, Created: time.Unix(w.Created, 0).UTC(), LastUsed: time.Unix(w.LastUsed, 0).UTC(),
			Warm: w.Warm,
		},
		Ingested: w.Ingested, Through: w.Through, First: w.First, Turns: w.Turns, Output: w.Output,
	}, nil
}

var (
	keyForm     = lazy.Regexp(`^[a-z][a-z-]{0,39}/[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}#[1-9][0-9]{0,9}$`)
	wordForm    = lazy.Regexp(`^[a-z][a-z_]{0,29}$`)
	effortForm  = lazy.Regexp(`^[a-z]{0,10}$`)
	versionForm = lazy.Regexp(`^[0-9A-Za-z.+-]{0,64}$`)
	modelForm   = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$`)
	headForm    = lazy.Regexp(`^([0-9a-f]{40}|[0-9a-f]{64})?$`)
	hashForm    = lazy.Regexp(`^[0-9a-f]{32}$`)
)

// Bounds of what a record may say. They are far above what a run can reach.
const (
	maxCount   = 1_000_000
	maxTokens  = 1_000_000_000
	maxMicro   = 10_000_000_000  // ten thousand dollars
	maxUnix    = 253_402_300_799 // the end of the year 9999
	maxBuckets = 8
)

// odd names the first field that no run of ours writes, "" when all are plain.
func (w wire) odd() string {
	for _, f := range []struct {
		name string
		ok   bool
	}{
		{"k", keyForm().MatchString(w.Key)},
		{"e", wordForm().MatchString(w.Engine)},
		{"ev", versionForm().MatchString(w.Version)},
		{"m", modelForm().MatchString(w.Model)},
		{"ef", effortForm().MatchString(w.Effort)},
		{"r", hashForm().MatchString(w.Rules)},
		{"c", hashForm().MatchString(w.Config)},
		{"t", hashForm().MatchString(w.Tools)},
		{"p", w.Permission == PermissionRead || w.Permission == PermissionComment || w.Permission == PermissionWrite},
		{"w", hashForm().MatchString(w.Workspace)},
		{"n", w.Repository >= 0},
		{"h", headForm().MatchString(w.Head)},
		{"b", hashForm().MatchString(w.Body)},
		{"i", hashForm().MatchString(w.Ingested)},
		{"z", w.Through >= 0},
		{"o", wordForm().MatchString(w.Ended)},
		{"u", w.Runs >= 1 && w.Runs <= maxCount},
		{"x", w.Context >= 0 && w.Context <= maxTokens},
		{"d", w.MicroUSD >= 0 && w.MicroUSD <= maxMicro},
		{"a", w.Created > 0 && w.Created <= maxUnix},
		{"l", w.LastUsed >= w.Created && w.LastUsed <= maxUnix},
		{"f", w.First >= 0 && w.First <= maxTokens},
		{"q", w.Turns >= 0 && w.Turns <= maxCount},
		{"y", w.Output >= 0 && w.Output <= maxTokens},
		{"g", plainWarm(w.Warm)},
	} {
		if !f.ok {
			return f.name
		}
	}
	return ""
}

func plainWarm(warm map[Bucket]Observed) bool {
	for b, o := range warm {
		if b != BucketMinute && b != BucketSmall && b != BucketLarge || o.Hits < 0 || o.Misses < 0 || o.Hits > maxCount || o.Misses > maxCount {
			return false
		}
	}
	return len(warm) <= maxBuckets
}

// KeyOf is the task key: nothing crosses issues or tasks.
func KeyOf(task, repository string, issue int) string {
	if task == "" || repository == "" || issue <= 0 {
		return ""
	}
	return strings.Join([]string{task, fmt.Sprintf("%s#%d", repository, issue)}, "/")
}
