package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// hashBytes is how much of a SHA-256 is kept: 128 bits, which nobody can meet by trying, in half the room.
const hashBytes = 16

// Hash is the hash of a list of texts in hexadecimal digits. Where one text ends and the next begins counts.
func Hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		_, _ = h.Write(size[:]) // a hash takes all it gets
		_, _ = h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:hashBytes])
}

// Text is one comment that a conversation has read.
type Text struct {
	ID   int64
	Body string
}

// Ingested is the hash of the comments up to an id: an edit, a deletion and another order change it, a new comment
// does not.
func Ingested(comments []Text, through int64) string {
	h := sha256.New()
	for _, c := range comments {
		if c.ID > through {
			continue
		}
		body := sha256.Sum256([]byte(c.Body))
		var id [8]byte
		binary.BigEndian.PutUint64(id[:], uint64(c.ID)) //nolint:gosec // only its bits count
		_, _ = h.Write(id[:])
		_, _ = h.Write(body[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:hashBytes])
}
