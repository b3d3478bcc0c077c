package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Refusals of a text that holds no answer.
var (
	errEmpty    = errors.New("the answer is empty")
	errNoObject = errors.New("the answer holds no JSON object")
	errObjects  = errors.New("the answer holds more than one JSON object: which one is meant cannot be told")
	errBroken   = errors.New("the answer is no complete JSON")
)

// find returns the one JSON object of a text, and how it was wrapped: "" (not at all), "a fence" or "other text".
func find(text string) (object map[string]any, wrapped string, err error) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if text == "" {
		return nil, "", errEmpty
	}
	if v, rest, err := decode(text); err == nil && strings.TrimSpace(rest) == "" {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, "", errNoObject
		}
		return object, "", nil
	}
	object, before, after, err := scan(text)
	if err != nil {
		return nil, "", err
	}
	if b := strings.TrimSpace(before); (b == "```" || b == "```json") && strings.TrimSpace(after) == "```" {
		return object, "a fence", nil
	}
	return object, "other text", nil
}

// maxScan bounds the work on a text full of braces, in bytes read.
const maxScan = 64 * MaxBytes

// scan looks for objects in a text that is not JSON as a whole.
func scan(text string) (object map[string]any, before, after string, err error) {
	work := 0
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			break
		}
		at += next
		v, rest, err := decode(text[at:])
		if errors.Is(err, io.ErrUnexpectedEOF) {
			// An object starts here and never ends; what is complete inside it is a part, not the answer.
			return nil, "", "", errBroken
		}
		if err != nil {
			work += failedAt(err, len(text)-at)
			if work > maxScan {
				return nil, "", "", errNoObject
			}
			at++
			continue
		}
		found, ok := v.(map[string]any)
		if !ok || object != nil {
			return nil, "", "", errObjects
		}
		object, before, after = found, text[:at], rest
		at = len(text) - len(rest)
	}
	if object == nil {
		return nil, "", "", errNoObject
	}
	return object, before, after, nil
}

// decode reads one JSON value from the start of a text and returns what follows it.
func decode(text string) (v any, rest string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, "", err
	}
	return v, text[d.InputOffset():], nil
}

// failedAt is how many bytes were read before the error.
func failedAt(err error, all int) int {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return int(s.Offset)
	}
	return all
}

// into fills a typed answer from a checked object.
func into(object map[string]any, target any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(target); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}
