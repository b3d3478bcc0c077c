package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checker decides whether an answer may be handed on.
type checker struct {
	schema  *jsonschema.Schema // nil: any JSON
	secrets *secretFinder
}

func newChecker(schema []byte, secrets []string) (*checker, error) {
	c := &checker{secrets: newSecretFinder(secrets)}
	if len(schema) == 0 {
		return c, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read the schema of the answer: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	const name = "answer.schema.json"
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("read the schema of the answer: %w", err)
	}
	if c.schema, err = compiler.Compile(name); err != nil {
		return nil, fmt.Errorf("compile the schema of the answer: %w", err)
	}
	return c, nil
}

// noLoader keeps a schema from naming other files or addresses.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("the schema of an answer stands alone")
}

// errAnswer is the root of the reasons why an answer is not handed on.
var errAnswer = errors.New("the answer is not handed on")

// check returns the answer as compact JSON. The error names numbers and fixed words only, never the answer's text.
func (c *checker) check(raw json.RawMessage) (string, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return "", fmt.Errorf("%w: it is no JSON", errAnswer)
	}
	if compact.Len() > MaxAnswer {
		return "", fmt.Errorf("%w: it has %d bytes, at most %d travel between jobs", errAnswer, compact.Len(), MaxAnswer)
	}
	if !utf8.Valid(compact.Bytes()) {
		return "", fmt.Errorf("%w: it is no UTF-8", errAnswer)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(compact.Bytes()))
	if err != nil {
		return "", fmt.Errorf("%w: it is no JSON", errAnswer)
	}
	if c.secrets.in(compact.Bytes()) {
		return "", fmt.Errorf("%w: it holds the engine's key or a secret of the job", errAnswer)
	}
	if c.schema != nil && c.schema.Validate(value) != nil {
		return "", fmt.Errorf("%w: it does not fit its schema", errAnswer)
	}
	return compact.String(), nil
}
