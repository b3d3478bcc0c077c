package task

import (
	"strings"
	"unicode/utf8"
)

// Settled reports whether a short comment says that nothing more is needed: on an issue that was closed for silence it is
// no answer that opens it again. A question, or a word that something is not well, is.
func Settled(body string) bool {
	const limit = 240
	if utf8.RuneCountInString(body) > limit || strings.ContainsAny(body, "?？") {
		return false
	}
	text := strings.Join(strings.Fields(strings.ToLower(body)), " ")
	has := func(words []string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	return has(settledWords) && !has(unsettledWords)
}

// settledWords say it in the languages of the texts; unsettledWords beside them take it back.
var (
	settledWords = []string{
		"leave it closed", "leave this closed", "keep it closed", "keep this closed", "stay closed", "can be closed", "ok to close", "fine to close",
		"no longer need", "no longer relevant", "not needed anymore", "not needed any more", "solved it myself", "never mind", "nevermind",
		"geschlossen bleiben", "geschlossen lassen", "hat sich erledigt", "nicht mehr nötig",
		"rester fermé", "laisser fermé", "plus nécessaire", "dejarlo cerrado", "quedar cerrado", "ya no es necesario", "deixar fechado", "ficar fechado",
		"não é mais necessário", "不需要了", "保持关闭", "不用打开", "閉じたままで", "クローズのままで", "解決しました", "닫아 두", "닫힌 상태로", "해결했습니다",
	}
	unsettledWords = []string{
		"don't", "do not", "cannot", "can not", "should not", "shouldn't", "not stay", "not be closed", "can't", "still", "reopen", "re-open", "again", "nicht geschlossen", "immer noch", "wieder",
		"ne doit pas", "toujours", "todavía", "aún", "ainda", "仍然", "还是", "まだ", "아직",
	}
)
