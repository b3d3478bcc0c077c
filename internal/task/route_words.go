package task

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/issue-assistant/issue-assistant/internal/verbatim"
)

// Command is one command of a maintainer: a line of a comment that starts with /assistant.
type Command struct {
	Word  string // analyze, wait, off, fresh, or what was written instead
	Focus string // what follows the word
}

// The commands.
const (
	CommandAnalyze = "analyze"
	CommandWait    = "wait"
	CommandOff     = "off"
	CommandFresh   = "fresh"
)

const commandPrefix = "/assistant"

// Commands finds the commands of a comment, in order. Quoted lines and fenced code are text.
func Commands(body string) []Command {
	var out []Command
	var code verbatim.Fence
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if code.Holds(line) {
			continue
		}
		rest, ok := strings.CutPrefix(line, commandPrefix)
		if !ok || (rest != "" && !unicode.IsSpace(first(rest))) {
			continue
		}
		word, focus, _ := strings.Cut(strings.TrimSpace(rest), " ")
		out = append(out, Command{Word: strings.ToLower(word), Focus: strings.TrimSpace(focus)})
	}
	return out
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// newCommands are those that an edit added.
func newCommands(before, after string) []Command {
	old := Commands(before)
	return slices.DeleteFunc(Commands(after), func(c Command) bool { return slices.Contains(old, c) })
}

// words names known commands only: the reason of a decision is printed.
func words(commands []Command) string {
	var out []string
	for _, c := range commands {
		switch c.Word {
		case CommandAnalyze, CommandWait, CommandOff, CommandFresh:
			out = append(out, c.Word)
		default:
			out = append(out, "unknown")
		}
	}
	return strings.Join(out, ", ")
}

// Thanks reports whether a comment is thanks and nothing else. Any other word makes it an answer.
func Thanks(body string) bool {
	const limit = 120
	if len(body) > limit {
		return false
	}
	fields := strings.FieldsFunc(strings.ToLower(body), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '@' && r != '\''
	})
	if len(fields) == 0 {
		// An emoji or punctuation alone; nothing at all is no thanks.
		return strings.TrimSpace(body) != "" && !strings.ContainsAny(body, "`#![]")
	}
	thanked := false
	for _, w := range fields {
		switch {
		case slices.Contains(thankWords, w):
			thanked = true
		case slices.Contains(besideThanks, w), strings.HasPrefix(w, "@"):
		default:
			return false
		}
	}
	return thanked
}

// thankWords say thanks, besideThanks may stand with them, in the languages of the texts.
var thankWords = []string{
	"thanks", "thank", "thx", "ty", "tysm", "cheers", "danke", "dankeschön", "vielen", "merci", "gracias", "obrigado", "obrigada", "valeu",
	"ありがとう", "ありがとうございます", "ありがとうございました", "谢谢", "謝謝", "感谢", "多谢",
}

// besideThanks: see thankWords.
var besideThanks = []string{
	"you", "a", "lot", "so", "very", "much", "many", "again", "for", "the", "your", "quick", "fast", "help", "reply", "response", "answer",
	"great", "all", "everyone", "guys", "team", "in", "advance", "dir", "euch", "ihnen", "dank", "sehr", "schön", "besten", "herzlichen",
	"schnelle", "für", "die", "hilfe", "antwort", "beaucoup", "bien", "pour", "votre", "ton", "aide", "réponse", "muchas", "mil", "por", "la",
	"su", "tu", "ayuda", "respuesta", "muito", "pela", "ajuda", "resposta", "你", "您", "非常", "大家",
}
