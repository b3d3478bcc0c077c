package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/issue-assistant/issue-assistant/internal/engine"
)

// SealVar names, in the environment of the second life of a run, the open file that brings its secrets.
const SealVar = "ISSUE_ASSISTANT_SEAL"

// maxSeal fits into a pipe that nobody reads yet.
const maxSeal = 60_000

// Secrets is what a run must know and must not keep in its environment.
type Secrets struct {
	Var    string   `json:"var"`    // the variable that held the key, "" when there is none
	Key    string   `json:"key"`    // the engine's key
	Others []string `json:"others"` // further secret values, which no answer may hold
}

// Collect finds the key by the engine's variables, in their order, and every other value of the environment whose name
// says that it is a secret.
func Collect(environ []string, credentials []engine.CredentialVar) Secrets {
	var s Secrets
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	for _, c := range credentials {
		if v := strings.TrimSpace(values[c.Name]); v != "" {
			s.Var, s.Key = c.Name, v
			break
		}
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value = strings.TrimSpace(value); namesSecret(name) && len(value) >= minSecret && value != s.Key {
			s.Others = append(s.Others, value)
		}
	}
	return s
}

// namesSecret reports whether a variable's name says that its value is a secret.
func namesSecret(name string) bool {
	upper := strings.ToUpper(name)
	for _, suffix := range []string{"_PATH", "_FILE", "_DIR", "_URL", "_NAME"} {
		if strings.HasSuffix(upper, suffix) {
			return false
		}
	}
	for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_KEY") || strings.HasSuffix(upper, "_PAT")
}

// OpenEnvironment is what the second life of a run keeps of the environment: no name that says secret.
func OpenEnvironment(environ []string, more ...string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !namesSecret(name) && opens(name, more) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func opens(name string, more []string) bool {
	for _, prefix := range []string{"GITHUB_", "RUNNER_", "INPUT_", "LC_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains(more, name) || slices.Contains([]string{
		"PATH", "HOME", "LANG", "TZ", "TMPDIR", "CI", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOCOVERDIR",
		"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
	}, name)
}

// HeldByKernel reports whether the environment that this process was started with holds a value: the kernel shows it to
// every process of the same user, whatever the process itself forgets.
func HeldByKernel(value string) bool {
	if value == "" {
		return false
	}
	data, err := os.ReadFile("/proc/self/environ")
	return err == nil && bytes.Contains(data, []byte(value))
}

// Reexec starts this process anew with an environment that holds no secret; they travel in a pipe. It returns only with
// an error.
func Reexec(self string, args, env []string, s Secrets) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("pack the key: %w", err)
	}
	if len(data) > maxSeal {
		return fmt.Errorf("the secrets of the environment have %d bytes, at most %d are taken", len(data), maxSeal)
	}
	return startAnew(self, args, env, data)
}

// Unseal reads the secrets that Reexec handed on and makes this process unreadable to others of its user. fd is the
// value of SealVar.
func Unseal(fd string) (Secrets, error) {
	n, err := strconv.Atoi(fd)
	if err != nil || n < 3 {
		return Secrets{}, fmt.Errorf("%s is set to what is no open file: it is not for people", SealVar)
	}
	if err := hide(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return Secrets{}, err
	}
	f := os.NewFile(uintptr(n), "seal")
	if f == nil {
		return Secrets{}, fmt.Errorf("%s names no open file: it is not for people", SealVar)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSeal+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return Secrets{}, fmt.Errorf("%s names no open file (it is not for people): %w", SealVar, err)
	}
	var s Secrets
	if err := json.Unmarshal(data, &s); err != nil {
		return Secrets{}, fmt.Errorf("take the key over: %w", err)
	}
	return s, nil
}
