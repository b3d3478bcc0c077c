// Package attack holds the real engines to their limits against models and providers that want to break them: one row
// for each engine, attack and limit. `go test` runs a short form, `make bench-engines` all of it.
package attack
