package meter

import "strings"

const maxPlainBody = 32 << 20

// follower takes the body of an answer in as it passes: a stream event by event, a plain one as a whole.
type follower struct {
	hash   hasher
	stream bool
	sse    sseLines
	body   []byte
	broken bool // too large or not readable: nothing in it is trusted
}

func newFollower(h hasher, contentType string) follower {
	return follower{hash: h, stream: strings.HasPrefix(contentType, "text/event-stream")}
}

func (f *follower) Write(p []byte) (int, error) {
	switch {
	case f.broken:
	case f.stream:
		if !f.sse.feed(p) { // an event may have broken it as well
			f.broken = true
		}
	case len(f.body)+len(p) > maxPlainBody:
		f.broken, f.body = true, nil
	default:
		f.body = append(f.body, p...)
	}
	return len(p), nil
}

// whole reports whether the plain body is one object whose member has this value; else nothing in it is trusted.
func (f *follower) whole(member, value string) bool {
	f.broken = f.broken || !valid(f.body) || text(field(f.body, member)) != value
	return !f.broken
}
