package sanitize

// Material prepares a text of a stranger for the AI: what the page hides goes, so that the AI reads what people read.
// Invisible characters, comments (also unclosed ones), values of attributes and the words behind images are hidden; code
// keeps every byte that is visible, and tags keep their names, so that XML, JSX, generics and #include survive.
func Material(text string) string {
	return normalize(text)
}
