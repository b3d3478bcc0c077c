package usage

import "io"

// fromEnd reads the result at the end of a file.
func fromEnd(io.ReaderAt, int64, Options) (Run, bool) { return Run{}, false }
