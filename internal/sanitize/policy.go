// Package sanitize cleans text of the AI for the place where it will stand, checks whole comments before they are
// posted, finds secrets, and prepares text of strangers as material.
//
// The edit is the means, the check is the guarantee: [Clean] edits one text, [CheckComment] parses the composed comment
// again and must find nothing. Everything here is pure: no input or output, no clock, no state.
package sanitize

import (
	"net/url"
	"strconv"
	"strings"
)

// Policy says what may be live in a comment. The zero value allows nothing.
type Policy struct {
	Owner, Repo string       // the repository of the comment
	ServerURL   string       // "https://github.com" when empty
	Issues      map[int]bool // numbers that were read and are issues of this repository
	Discussions map[int]bool // numbers of discussions that were read
	Hosts       []string     // exact hosts that links may name besides this repository
	SHAs        []string     // full hashes of commits that exist in this repository
	Reporter    string       // login that the template may mention once; never in a text of the AI

	// Template lists pieces of Markdown that the comment's own template writes and a text of the AI may not: a heading's
	// or an alert's line, a tag, the marker, a link's address. CheckComment lets each pass as often as it is listed.
	// Clean ignores it.
	Template []string
}

// server is the scheme and host of GitHub, without a slash at the end.
func (p Policy) server() string {
	if p.ServerURL == "" {
		return "https://github.com"
	}
	return strings.TrimRight(p.ServerURL, "/")
}

// allowsSHA tells whether hex, at least seven digits, names a commit of this repository.
func (p Policy) allowsSHA(hex string) bool {
	hex = strings.ToLower(hex)
	for _, sha := range p.SHAs {
		if len(hex) >= 7 && strings.HasPrefix(strings.ToLower(sha), hex) {
			return true
		}
	}
	return false
}

// allowsURL tells whether an address may be a link: https, this repository or a listed host, nothing hidden in it.
func (p Policy) allowsURL(raw string) bool {
	if len(raw) > 2000 || !strings.HasPrefix(raw, "https://") {
		return false
	}
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\\`<>\"{}|^", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Host == "" || u.Scheme != "https" {
		return false
	}
	for _, host := range p.Hosts {
		if strings.EqualFold(u.Host, host) {
			return true
		}
	}
	server, err := url.Parse(p.server())
	if err != nil || !strings.EqualFold(u.Host, server.Host) || p.Owner == "" || p.Repo == "" {
		return false
	}
	return p.allowsPath(u)
}

// allowsPath judges a path of GitHub itself: files, releases and the security policy of this repository, and issues,
// discussions and commits that were checked.
func (p Policy) allowsPath(u *url.URL) bool {
	if u.EscapedPath() != u.Path && strings.ContainsAny(strings.ToLower(u.EscapedPath()), "%") {
		low := strings.ToLower(u.EscapedPath())
		if strings.Contains(low, "%2f") || strings.Contains(low, "%5c") || strings.Contains(low, "%2e") {
			return false
		}
	}
	parts := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	for _, part := range parts {
		if part == "." || part == ".." {
			return false
		}
	}
	if len(parts) < 3 || !strings.EqualFold(parts[0], p.Owner) || !strings.EqualFold(parts[1], p.Repo) {
		return false
	}
	switch rest := parts[2:]; rest[0] {
	case "blob", "tree", "releases":
		return true
	case "security":
		return len(rest) == 2 && rest[1] == "policy"
	case "issues":
		return len(rest) == 2 && u.RawQuery == "" && allowsNumber(p.Issues, rest[1])
	case "discussions":
		return len(rest) == 2 && u.RawQuery == "" && allowsNumber(p.Discussions, rest[1])
	case "commit":
		return len(rest) == 2 && u.RawQuery == "" && p.allowsSHA(rest[1])
	}
	return false
}

func allowsNumber(numbers map[int]bool, text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && strconv.Itoa(n) == text && numbers[n]
}
