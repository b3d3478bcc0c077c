package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// epoch stands for every time in an archive, so that the same binaries give the same archive.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// writeAssets makes the files of the release page.
func (r release) writeAssets() error {
	var sums []string
	put := func(name string, data []byte) error {
		sums = append(sums, sum(data)+"  "+name)
		return os.WriteFile(filepath.Join(r.out, "assets", name), data, 0o644)
	}
	for _, p := range platforms {
		data, err := os.ReadFile(filepath.Join(r.out, "bin", p.binary()))
		if err != nil {
			return err
		}
		archive, name, err := r.archive(p, data)
		if err != nil {
			return err
		}
		if err := errors.Join(put(name, archive), put(p.binary(), data)); err != nil { // bare binaries serve `gh extension install`
			return err
		}
	}
	bom, err := r.billOfMaterials()
	if err != nil {
		return err
	}
	notes, err := r.notes()
	if err != nil {
		return err
	}
	third, err := os.ReadFile(filepath.Join(r.root, thirdParty))
	if err != nil {
		return err
	}
	if err := errors.Join(put("sbom.spdx.json", bom), put("NOTES.md", []byte(notes)), put(thirdParty, third)); err != nil {
		return err
	}
	sort.Strings(sums)
	return os.WriteFile(filepath.Join(r.out, "assets", "SHA256SUMS"), []byte(strings.Join(sums, "\n")+"\n"), 0o644)
}

// thirdParty is the file with the licenses of what is linked; internal/tools/notices writes it.
const thirdParty = "THIRD_PARTY_NOTICES"

// member is a file of an archive.
type member struct {
	name string
	mode int64
	data []byte
}

func (r release) archive(p platform, binary []byte) (data []byte, name string, err error) {
	program := "issue-assistant"
	if p.os == "windows" {
		program += ".exe"
	}
	members := []member{{program, 0o755, binary}}
	for _, text := range []string{"LICENSE", thirdParty} {
		content, err := os.ReadFile(filepath.Join(r.root, text))
		if err != nil {
			return nil, "", err
		}
		members = append(members, member{text, 0o644, content})
	}
	base := "issue-assistant_" + strings.TrimPrefix(r.version, "v") + "_" + p.os + "_" + p.arch
	if p.os == "windows" {
		data, err = zipped(members)
		return data, base + ".zip", err
	}
	data, err = tarred(members)
	return data, base + ".tar.gz", err
}

func tarred(members []member) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, f := range members {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: epoch, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

func zipped(members []member) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// billOfMaterials lists the modules that are linked into the binary, in the form of SPDX 2.3.
func (r release) billOfMaterials() ([]byte, error) {
	info, err := buildinfo.ReadFile(filepath.Join(r.out, "bin", platforms[0].binary()))
	if err != nil {
		return nil, err
	}
	type pkg struct {
		Name     string `json:"name"`
		ID       string `json:"SPDXID"`
		Version  string `json:"versionInfo"`
		Download string `json:"downloadLocation"`
		Analyzed bool   `json:"filesAnalyzed"`
	}
	type relationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
	pkgs := []pkg{{"issue-assistant", "SPDXRef-main", r.version, "NOASSERTION", false}}
	rels := []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-main"}}
	for i, m := range info.Deps {
		id := fmt.Sprintf("SPDXRef-module-%d", i)
		pkgs = append(pkgs, pkg{m.Path, id, m.Version, "NOASSERTION", false})
		rels = append(rels, relationship{"SPDXRef-main", "DEPENDS_ON", id})
	}
	return json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
		"name":              "issue-assistant-" + r.version,
		"documentNamespace": "https://github.com/issue-assistant/issue-assistant/releases/tag/" + r.version,
		"creationInfo":      map[string]any{"created": epoch.Format(time.RFC3339), "creators": []string{"Tool: issue-assistant-release"}},
		"packages":          pkgs, "relationships": rels,
	}, "", "  ")
}

// notes takes the section of this version out of the changelog, else the unreleased one.
func (r release) notes() (string, error) {
	data, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	for _, heading := range []string{"## " + strings.TrimPrefix(r.version, "v"), "## Unreleased"} {
		if text, ok := section(string(data), heading); ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has no section for %s", r.version)
}

func section(changelog, heading string) (string, bool) {
	var lines []string
	found := false
	for line := range strings.Lines(changelog) {
		switch {
		case strings.HasPrefix(line, heading):
			found = true
		case found && strings.HasPrefix(line, "## "):
			return strings.TrimSpace(strings.Join(lines, "")) + "\n", true
		case found:
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "")) + "\n", found
}
