package run

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// markVar stands in the engine's environment with a value of this run alone, so that what left the process group is
// still found.
const markVar = "ISSUE_ASSISTANT_RUN"

func newMark() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return markVar + "=" + hex.EncodeToString(b[:]), nil
}

// containsEntry reports whether an environment block of /proc holds the entry.
func containsEntry(block []byte, entry string) bool {
	for e := range bytes.SplitSeq(block, []byte{0}) {
		if string(e) == entry {
			return true
		}
	}
	return false
}
