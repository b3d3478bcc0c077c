//go:build !race

package ledger

// seeds is how many orders of parallel runs are tried.
const seeds = 1000
