package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

const imageDir = "docs/images"

// manifest says of each picture what it was drawn from.
type manifest map[string]entry

type entry struct {
	Source  string `json:"source"`  // SHA-256 of text and look
	Picture string `json:"picture"` // SHA-256 of the file
	Text    string `json:"text"`    // what it shows, for those who do not see it
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digestFile is empty for a file that cannot be read.
func digestFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return digest(data)
}

func readManifest(root string) (manifest, error) {
	data, err := os.ReadFile(filepath.Join(root, imageDir, "manifest.json"))
	if err != nil {
		return manifest{}, err
	}
	m := manifest{}
	return m, json.Unmarshal(data, &m)
}

func (m manifest) write(root string) error {
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return write(filepath.Join(root, imageDir, "manifest.json"), append(data, '\n'))
}
