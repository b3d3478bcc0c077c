package task

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// PromptFacts fill the places of a task's prompt. All of them are the product's, GitHub's or the maintainers' words.
type PromptFacts struct {
	Repository string // owner/name
	Issue      int
	Release    string   // tag of the latest release; empty: none yet
	Files      []string // one line each: the path of a file of the material and what it holds
	Languages  []string // tags of the languages that have texts
}

// Prompt is what the engine is asked in a task.
func Prompt(name Name, f PromptFacts) (string, error) {
	data, err := promptFiles.ReadFile("prompts/" + string(name) + ".md")
	if err != nil {
		return "", fmt.Errorf("the task %q has no prompt", name)
	}
	release := f.Release
	if release == "" {
		release = "none yet"
	}
	files := make([]string, len(f.Files))
	for i, line := range f.Files {
		files[i] = "- " + line
	}
	return strings.NewReplacer(
		"{repository}", f.Repository,
		"{issue}", fmt.Sprint(f.Issue),
		"{release}", release,
		"{files}", strings.Join(files, "\n"),
		"{languages}", strings.Join(f.Languages, ", "),
	).Replace(string(data)), nil
}
