package install

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/lazy"
)

// Pin is an action at one commit, with the version that the commit is said to be: `uses: OWNER/REPO@SHA # VERSION`.
type Pin struct {
	Action  string // OWNER/REPO
	SHA     string // 40 lower-case hex digits
	Version string // a tag such as v1.2.3, or devel
}

func (p Pin) String() string { return p.Action + "@" + p.SHA + " # " + p.Version }

// Pins are the pins of one set-up: the assistant's own action and those of others by OWNER/REPO.
type Pins struct {
	Assistant Pin
	Others    map[string]Pin
}

const (
	checkoutAction = "actions/checkout"
	uploadAction   = "actions/upload-artifact"
)

var (
	usesLine    = lazy.Regexp(`(?m)^(\s*(?:- )?uses: )([^\s@]+)@(\S+)(?: # (\S+))?[ \t]*\r?$`)
	actionName  = lazy.Regexp(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}$`)
	commitHash  = lazy.Regexp(`^[0-9a-f]{40}$`)
	versionWord = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)
	releaseTag  = lazy.Regexp(`^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})$`)
)

// ParsePin reads the values of --action and --version.
func ParsePin(action, version string) (Pin, error) {
	name, sha, ok := strings.Cut(action, "@")
	if !ok || !actionName().MatchString(name) || !commitHash().MatchString(sha) {
		return Pin{}, fmt.Errorf("the action %q is not OWNER/REPO@SHA with the 40 hex digits of a commit", action)
	}
	if !versionWord().MatchString(version) {
		return Pin{}, fmt.Errorf("the version %q is no tag such as v1.2.3", version)
	}
	return Pin{name, sha, version}, nil
}

// pinsOf finds the pins of a generated workflow. A pin that is not a full commit with a version is left out.
func pinsOf(workflow []byte) Pins {
	pins := Pins{Others: map[string]Pin{}}
	for _, m := range usesLine().FindAllSubmatch(workflow, -1) {
		p := Pin{string(m[2]), string(m[3]), string(m[4])}
		if !actionName().MatchString(p.Action) || !commitHash().MatchString(p.SHA) || !versionWord().MatchString(p.Version) {
			continue
		}
		switch p.Action {
		case checkoutAction, uploadAction:
			p = newest(pins.Others[p.Action], p)
			pins.Others[p.Action] = p
		default:
			pins.Assistant = p
		}
	}
	return pins
}

// withoutPins returns the workflow with every commit and version taken out, for checksums.
func withoutPins(workflow []byte) []byte {
	return usesLine().ReplaceAll(workflow, []byte("${1}${2}"))
}

// merge fills what p lacks from base, and prefers the newer version of an action of others, so that install never
// takes back an update.
func (p Pins) merge(base Pins) Pins {
	out := Pins{Assistant: p.Assistant, Others: map[string]Pin{}}
	if out.Assistant == (Pin{}) {
		out.Assistant = base.Assistant
	}
	for _, from := range []Pins{base, p} {
		for name, pin := range from.Others {
			out.Others[name] = newest(out.Others[name], pin)
		}
	}
	return out
}

// newest returns the pin with the higher version; without one to compare, b.
func newest(a, b Pin) Pin {
	va, vb := releaseTag().FindStringSubmatch(a.Version), releaseTag().FindStringSubmatch(b.Version)
	if va == nil || vb == nil {
		return b
	}
	for i := 1; i < len(va); i++ {
		x, _ := strconv.Atoi(va[i]) // digits by the pattern, nine at most
		y, _ := strconv.Atoi(vb[i])
		if x != y {
			if x > y {
				return a
			}
			return b
		}
	}
	return b
}

// released reports whether the pin is a release. Workflows of a build from source run only when the repository
// variable says so, see guard.
func (p Pin) released() bool {
	return p.Version != "devel" && !strings.HasPrefix(p.Version, "devel-")
}
