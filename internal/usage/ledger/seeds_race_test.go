//go:build race

package ledger

// seeds is how many orders of parallel runs are tried; the race detector makes each some twenty times slower.
const seeds = 100
