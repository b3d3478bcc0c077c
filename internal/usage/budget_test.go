package usage

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBudget reads logs in both layouts of Claude Code, two that are read block by block and two that are
// read ahead; internal/cli holds what it allocates to a budget.
func BenchmarkBudget(b *testing.B) {
	const closing = `{"type":"result","subtype":"success","is_error":false,"num_turns":15,"duration_ms":72000,"total_cost_usd":0.2,` +
		`"modelUsage":{"claude-opus-5-5":{"inputTokens":24300,"outputTokens":2900,"cacheReadInputTokens":210000,"cacheCreationInputTokens":0,"costUSD":0.2}}}`
	message := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat(`func f() {\n\treturn \"x\"\n}\n`, 100) + `"}]}}`
	for _, mib := range []int{1, 8, 24, 64} {
		n := mib << 20 / len(message)
		array := "[\n  " + strings.Repeat(message+",\n  ", n) + closing + "\n]"
		lines := strings.Repeat(message+"\n", n) + closing + "\n"
		for name, text := range map[string]string{"array": array, "lines": lines} {
			b.Run(fmt.Sprintf("%s/%d", name, mib), func(b *testing.B) {
				file := bytes.NewReader([]byte(text))
				b.SetBytes(file.Size())
				for b.Loop() {
					run, err := Read(file, file.Size(), Options{})
					if err != nil || run.CostUSD == nil || *run.CostUSD != 0.2 {
						b.Fatalf("%+v %v", run, err)
					}
				}
			})
		}
	}
}
