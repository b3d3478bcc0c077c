package sanitize

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBudget cleans and checks a usual comment, once and eight times as long; internal/cli holds what it allocates to
// a budget.
func BenchmarkBudget(b *testing.B) {
	for _, times := range []int{1, 8} {
		text := strings.Repeat(normalComment, times)
		clean := Clean(text, Paragraph, testPolicy())
		for name, run := range map[string]func(){
			"clean":    func() { Clean(text, Paragraph, testPolicy()) },
			"check":    func() { CheckComment(clean, testPolicy()) },
			"secrets":  func() { FindSecrets(text, nil) },
			"material": func() { Material(text) },
		} {
			run() // patterns are compiled at their first use
			b.Run(fmt.Sprintf("%s/%d", name, times), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					run()
				}
			})
		}
	}
}
