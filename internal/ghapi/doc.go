// Package ghapi talks to GitHub: reads, one bounded writer, and a recorder with the writer's interface for dry runs.
//
// REST goes through go-github, GraphQL through the absolute GITHUB_GRAPHQL_URL; both use one transport that sends the
// token to the API's host only, waits for rate limits within a total budget, rewinds bodies, caps the size of answers
// and turns every refusal into one [Error] of one short line. No type of go-github leaves the package.
//
// Every text in the types below was written by strangers unless the comment says otherwise.
package ghapi
