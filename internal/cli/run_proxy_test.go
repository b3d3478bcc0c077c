package cli

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/issue-assistant/issue-assistant/internal/engine/enginetest/anthropic"
	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// TestARunBehindAProxy: HTTPS_PROXY of the step holds for the calls of the model, through the second life of the process;
// no network is used, the name of the provider exists for the proxy alone.
func TestARunBehindAProxy(t *testing.T) {
	t.Parallel()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	program := testtool.NeedFile(t, "engines", "claude", "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude")
	api := anthropic.NewHandler(anthropic.Script{Steps: []anthropic.Step{{Answer: map[string]string{"verdict": "ok"}}}})
	server := httptest.NewTLSServer(api) // its certificate is for example.com
	t.Cleanup(server.Close)
	var opened, others atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			others.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		opened.Add(1)
		far, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			panic(err)
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
	}))
	t.Cleanup(proxy.Close)

	dir := t.TempDir()
	material := filepath.Join(dir, ".issue-assistant", "material")
	if err := os.MkdirAll(material, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(material, "prompt.md"):   "look at issue 12",
		filepath.Join(material, "schema.json"): `{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"]}`,
		filepath.Join(dir, "ca.pem"):           string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := exec.LookPath("issue-assistant")
	if err != nil || filepath.Base(self) != "issue-assistant" {
		t.Fatal(self, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, "run", "--task", "triage", "--issue", "12", "--cli", program, "--execution-file", "execution.jsonl")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + filepath.Join(dir, "out"), "GOCOVERDIR=" + dir,
		"ANTHROPIC_API_KEY=sk-ant-api03-TESTKEY0000", "ANTHROPIC_BASE_URL=https://example.com",
		"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + filepath.Join(dir, "ca.pem"),
	}
	output, err := cmd.CombinedOutput()
	outputs, _ := os.ReadFile(filepath.Join(dir, "out")) // what is missing fails below
	if err != nil || !strings.Contains(string(outputs), `{"verdict":"ok"}`) || opened.Load() == 0 || others.Load() != 0 {
		t.Fatalf("%v: %s\n%s\n%d ways were opened, %d refused", err, output, outputs, opened.Load(), others.Load())
	}
	if q := api.MainRequests()[0]; q.Header.Get("X-Api-Key") != "sk-ant-api03-TESTKEY0000" {
		t.Error("the provider got no key")
	}
}
