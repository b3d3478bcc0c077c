package main

import (
	"encoding/json"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

const (
	listFile  = "internal/sorter/list.go"
	sortFile  = "internal/sorter/sorter.go"
	rulesFile = "docs/rules.md"
)

// steps are the five tasks on the samples' first issue.
func steps() []step {
	return []step{triage(), followUp(), reanalyze(), maintainerReply(), releaseReply()}
}

func triage() step {
	return step{task: string(task.Triage), answer: answer.Analysis{
		Choice: answer.Choice{
			Language: "en", Kind: "bug", Areas: []string{}, Topics: []string{},
			LabelRationale: "Files are skipped silently although the documented list format allows the name.",
		},
		Summary: "With `tidybox sort --from LIST`, every path that contains a space is skipped without a message; paths without a space and a plain folder walk work.",
		Analysis: "The list reader splits each line at white space and keeps only the first word, so `holiday photo.png` becomes `holiday`. " +
			"That file does not exist, and `Sort` skips paths that do not exist without saying so. This explains both the skipped file and the missing message.\n\n" +
			"The documentation promises one path per line and does not mention quotes; quotes would become part of the first word, which fits your second comment.",
		NextSteps: []string{
			"Until this is fixed, `tidybox sort .` moves the same files because it does not read a list.",
			"If the list is needed, renaming the files without spaces avoids the split.",
		},
		MissingInformation: []string{"Which program writes the list, and can its lines end in a carriage return?"},
		Duplicates:         []answer.Duplicate{},
		Related:            []answer.Related{{Kind: "issue", Number: 31, Reason: "asks that paths of a list which are not found are reported; that would have made this fault visible."}},
		References: []answer.Reference{
			{Path: listFile, Line: 14, Reason: "the line is split at white space"},
			{Path: listFile, Line: 18, Reason: "only the first word is kept"},
			{Path: rulesFile, Anchor: "list-files", Reason: "promises one path per line"},
		},
		SensitiveData: "none",
	}}
}

func followUp() step {
	return step{
		task: string(task.FollowUp), login: reporter,
		says: "The list comes from `ls *.png > list.txt` on the same Debian machine, so there are no carriage returns.",
		answer: answer.FollowUp{
			Choice: answer.Choice{Language: "en", Kind: "bug", Areas: []string{}, Topics: []string{}, LabelRationale: "Still a fault of the list reader."},
			Reply: "That rules out line endings: `bufio.Scanner` hands over each line without its break, and the loss happens one line later, in `strings.Fields`. " +
				"So the fault does not depend on how the list was written, and every path with a space or a tab is affected.",
			MissingInformation: []string{},
			References:         []answer.Reference{{Path: listFile, Line: 14, Reason: "splits at every white space, a tab too"}},
			SensitiveData:      "none",
		},
	}
}

func reanalyze() step {
	a, _ := triage().answer.(answer.Analysis)
	a.Analysis = "Names that begin with `#` are lost as well: the reader takes a line whose first word begins with `#` for a comment, and the documentation does not say that list files have comments. " +
		"A file called `#1 draft.txt` can therefore not be named in a list at all.\n\n" +
		"Both faults are in the same loop: it works on words where it should work on lines.\n\n" +
		"```go\nfields := strings.Fields(scanner.Text())\nif len(fields) == 0 || strings.HasPrefix(fields[0], \"#\") {\n\tcontinue\n}\npaths = append(paths, fields[0])\n```"
	a.NextSteps = []string{"`./#1 draft.txt` gets past the comment check, but its second word is still lost."}
	a.MissingInformation = []string{}
	a.References = []answer.Reference{
		{Path: listFile, Line: 15, Reason: "the check for comments"},
		{Path: listFile, Line: 18, Reason: "only the first word is kept"},
		{Path: sortFile, Line: 17, Reason: "a path that does not exist is skipped without a message"},
	}
	return step{task: string(task.Reanalyze), login: maintainer, says: "/assistant analyze names that begin with a number sign", answer: a}
}

func maintainerReply() step {
	return step{
		task: string(task.MaintainerReply), login: maintainer,
		says:   "I have a fix on the branch `whole-lines`. @" + reporter + ", can you build it and try it with your list?",
		answer: answer.MaintainerReply{WaitingForReporter: true, Reason: "The maintainer asks the reporter to try a branch before it is merged."},
	}
}

func releaseReply() step {
	return step{
		task: string(task.ReleaseReply), login: reporter,
		says:     "I updated to 1.5.0. Names with a space work now, but `holiday  photo.png` with two spaces is still skipped.",
		answer:   answer.ReleaseReply{Language: "en", ProblemPersists: true, Reason: "A path with two spaces is still skipped with the release."},
		released: "v1.5.0",
	}
}

// complete is an answer as an engine gives it: the schema asks for every member of a reference, empty ones too.
func complete(answer any) (map[string]any, error) {
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	references, _ := object["references"].([]any)
	for _, r := range references {
		if r, ok := r.(map[string]any); ok {
			for key, none := range map[string]any{"line": 0, "anchor": ""} {
				if _, there := r[key]; !there {
					r[key] = none
				}
			}
		}
	}
	return object, nil
}
