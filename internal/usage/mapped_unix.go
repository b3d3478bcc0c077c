//go:build unix

package usage

import (
	"os"
	"runtime/debug"
	"syscall"
)

// windowSize is how much of a file is mapped at once, in bytes; a multiple of every page size.
const windowSize = 2 << 20

// resultMapped is resultBetween without copying the file; ok is false where it cannot be mapped.
func resultMapped(file *os.File, from, to int64) (found, ok bool) {
	page := int64(os.Getpagesize())
	for at := from; at < to; {
		begin := at - at%page
		window, err := syscall.Mmap(int(file.Fd()), begin, int(min(windowSize, to-begin)), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			return false, false
		}
		found = resultInWindow(window[at-begin:])
		if err := syscall.Munmap(window); err != nil {
			return false, false
		}
		if found {
			return true, true
		}
		end := begin + int64(len(window))
		if at = end - overlap; end == to {
			break
		}
	}
	return false, true
}

// resultInWindow is resultIn for mapped bytes. They are gone when somebody makes the file shorter meanwhile: then
// everything may be in it.
func resultInWindow(window []byte) (found bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(interface{ Addr() uintptr }); !ok {
				panic(fault)
			}
			found = true
		}
	}()
	return resultIn(window)
}
