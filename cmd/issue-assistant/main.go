// Command issue-assistant looks after the issues of a GitHub repository with an AI that only reads.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/issue-assistant/issue-assistant/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.System())
	stop()
	os.Exit(code)
}
