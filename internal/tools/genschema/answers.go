package main

import (
	"github.com/invopop/jsonschema"

	"github.com/issue-assistant/issue-assistant/internal/answer"
	"github.com/issue-assistant/issue-assistant/internal/task"
)

// answerSchemas are the schemas of the answers by the name of their file: what package answer reads at run time and
// closes to a repository's labels.
func answerSchemas() map[string]any {
	out := map[string]any{}
	for name, prototype := range map[task.Name]any{
		task.Triage:          &answer.Analysis{},
		task.Reanalyze:       &answer.Analysis{},
		task.FollowUp:        &answer.FollowUp{},
		task.MaintainerReply: &answer.MaintainerReply{},
		task.ReleaseReply:    &answer.ReleaseReply{},
	} {
		r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
		s := r.Reflect(prototype)
		lengthsOfEntries(s)
		s.Title = "Answer of the task " + string(name)
		out["schema/answer-"+string(name)+".schema.json"] = s
	}
	return out
}

// lengthsOfEntries moves the tag's maxLength of a list of texts to its entries, where it belongs.
func lengthsOfEntries(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "array" && s.MaxLength != nil {
		s.Items.MaxLength, s.MaxLength = s.MaxLength, nil
	}
	lengthsOfEntries(s.Items)
	if s.Properties == nil {
		return
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		lengthsOfEntries(p.Value)
	}
}
