// Package mcpfiles lets an engine without a shell read: list, read and search inside a few folders and nowhere else.
//
// It speaks the Model Context Protocol over stdin and stdout (JSON-RPC 2.0, one message a line; facts:
// https://modelcontextprotocol.io/specification, and what Codex 0.171 sends). Every path goes through os.Root, which
// resolves symbolic links and refuses what leads out. Sizes and times are capped, so that no checkout can make an
// engine, or the budget, drown.
package mcpfiles

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Command is the hidden command of this program that serves: an engine without a shell starts it with --root DIR for
// every folder.
const Command = "mcp-files"

// Args is the command with its arguments. Empty names are left out.
func Args(roots ...string) []string {
	args := []string{Command}
	for _, root := range roots {
		if root != "" {
			args = append(args, "--root", root)
		}
	}
	return args
}

// Options say what may be read.
type Options struct {
	Roots   []string // folders, the checkout first: relative paths start there
	Version string   // of this program
	Now     func() time.Time
}

// protocols are the versions of the protocol that this server speaks: its few methods are the same in all.
var protocols = [...]string{"2025-06-18", "2025-03-26", "2024-11-05"}

// maxMessage bounds one message in bytes.
const maxMessage = 1 << 20

// JSON-RPC's own error codes.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeParams  = -32602
)

type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Serve answers messages until in ends or ctx is canceled. It is an error when a root cannot be opened, or out fails.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	if len(o.Roots) == 0 || o.Now == nil {
		return errors.New("at least one folder to read is needed")
	}
	f, err := openFolders(o)
	if err != nil {
		return err
	}
	defer f.close()
	s := &server{folders: f, version: o.Version}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	br := bufio.NewReaderSize(in, 64<<10)
	for ctx.Err() == nil {
		line, long, err := readMessage(br)
		switch {
		case long:
			err = enc.Encode(response{Version: "2.0", ID: null, Error: &rpcError{codeRequest, "the message is too long"}})
		case len(line) > 0:
			if r := s.answer(ctx, line); r != nil {
				if encErr := enc.Encode(r); encErr != nil {
					return fmt.Errorf("answer the engine: %w", encErr)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("talk to the engine: %w", err)
		}
	}
	return nil
}

var null = json.RawMessage("null") //nolint:gochecknoglobals // never written

// readMessage reads one line. A longer one is passed over.
func readMessage(br *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if !long {
			line = append(line, part...)
			long = len(line) > maxMessage
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			return nil, true, err
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, false, err
	}
}

type server struct {
	folders *folders
	version string
}

// answer is the response to one message, nil for a notification.
func (s *server) answer(ctx context.Context, line []byte) *response {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		code := codeParse
		if json.Valid(line) {
			code = codeRequest
		}
		return &response{Version: "2.0", ID: null, Error: &rpcError{code, "the message is no JSON-RPC request"}}
	}
	if len(m.ID) == 0 {
		return nil
	}
	r := &response{Version: "2.0", ID: m.ID}
	result, err := s.call(ctx, m)
	switch {
	case err != nil:
		r.Error = err
	default:
		r.Result = result
	}
	return r
}

func (s *server) call(ctx context.Context, m message) (any, *rpcError) {
	switch m.Method {
	case "initialize":
		return s.initialize(m.Params), nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": toolList()}, nil
	case "tools/call":
		var p struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, &rpcError{codeParams, "tools/call needs a name and arguments"}
		}
		return s.tool(ctx, p.Name, p.Arguments)
	}
	return nil, &rpcError{codeMethod, "there is no such method"}
}

func (s *server) initialize(params json.RawMessage) any {
	var p struct {
		Protocol string `json:"protocolVersion"`
	}
	version := protocols[0]
	if json.Unmarshal(params, &p) == nil {
		for _, known := range protocols {
			if known == p.Protocol {
				version = known
			}
		}
	}
	return map[string]any{
		"protocolVersion": version,
		"capabilities":    map[string]any{"tools": map[string]any{}},
		"serverInfo":      map[string]any{"name": "issue-assistant-files", "version": s.version},
	}
}
