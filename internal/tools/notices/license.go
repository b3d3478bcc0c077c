package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// licenses gives the names of a module's licenses and the texts that have to go with it.
func (m *module) licenses() (names, text string, err error) {
	var all []string
	for _, folder := range slices.Sorted(maps.Keys(m.folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return "", "", err
		}
		for _, e := range entries {
			role := roleOf(e.Name())
			if role == "" || !e.Type().IsRegular() {
				continue
			}
			data, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return "", "", err
			}
			file, err := filepath.Rel(m.dir, filepath.Join(folder, e.Name()))
			if err != nil {
				return "", "", err
			}
			content := strings.ReplaceAll(strings.TrimRight(string(data), " \r\n"), "\r\n", "\n") + "\n"
			text += heading(m.path+" "+m.version, filepath.ToSlash(file)) + content
			if role != "license" { // a NOTICE or a grant of patents says no license of its own
				continue
			}
			name, err := kinds(content)
			if err != nil {
				return "", "", fmt.Errorf("%s: %w", file, err)
			}
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	if len(all) == 0 {
		return "", "", errors.New("no license is among its files")
	}
	return strings.Join(all, ", "), text, nil
}

// roleOf says what a file of a module is by its name: "license", "notice" or "" for anything else.
func roleOf(name string) string {
	base, ext, _ := strings.Cut(strings.ToUpper(name), ".")
	if ext != "" && ext != "TXT" && ext != "MD" {
		return ""
	}
	switch base {
	case "LICENSE", "LICENCE", "COPYING", "UNLICENSE": //nolint:misspell // files are called so in Britain
		return "license"
	case "NOTICE", "NOTICES", "PATENTS", "AUTHORS", "COPYRIGHT":
		return "notice"
	default:
		if strings.HasPrefix(base, "LICENSE-") || strings.HasPrefix(base, "LICENCE-") { //nolint:misspell // as above
			return "license"
		}
		return ""
	}
}

// kinds names the licenses of a text. What is not known to be compatible is an error, so that a person looks at it.
func kinds(text string) (string, error) {
	words := strings.Join(strings.Fields(text), " ")
	for _, no := range []string{"GNU GENERAL", "GNU AFFERO", "GNU LESSER", "GNU General Public", "GNU Affero", "GNU Lesser", "Mozilla Public License", "Server Side Public License", "Business Source License", "Commons Clause", "European Union Public", "Creative Commons"} {
		if strings.Contains(words, no) {
			return "", fmt.Errorf("the text says %q, which is not among the licenses that the binary may carry", no)
		}
	}
	var names []string
	if strings.Contains(words, "Apache License") && strings.Contains(words, "2.0") {
		names = append(names, "Apache-2.0")
	}
	if strings.Contains(words, "Permission is hereby granted, free of charge") {
		names = append(names, "MIT")
	}
	if strings.Contains(words, "Redistribution and use in source and binary forms") {
		if strings.Contains(words, "Neither the name of") {
			names = append(names, "BSD-3-Clause")
		} else {
			names = append(names, "BSD-2-Clause")
		}
	}
	if strings.Contains(words, "Permission to use, copy, modify, and/or distribute this software") || strings.Contains(words, "Permission to use, copy, modify, and distribute this software") {
		names = append(names, "ISC")
	}
	if len(names) == 0 {
		return "", errors.New("the text is of no license that is known here")
	}
	return strings.Join(names, " and "), nil
}
