package engine

import "encoding/json"

// Event is one event of an engine's output by its exact keys: struct fields would match in any letter case. Reading a nil
// Event gives nothing.
type Event map[string]json.RawMessage

// Text is a member that is a string, else "".
func (e Event) Text(key string) string { return member[string](e, key) }

// Event is a member that is an object, else nil.
func (e Event) Event(key string) Event { return member[Event](e, key) }

// List is a member that is a list, else nil.
func (e Event) List(key string) []json.RawMessage { return member[[]json.RawMessage](e, key) }

func member[T any](e Event, key string) T {
	var v T
	if json.Unmarshal(e[key], &v) != nil {
		var none T
		return none
	}
	return v
}
