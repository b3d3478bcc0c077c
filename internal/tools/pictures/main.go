// Command pictures draws the pictures of the documentation: what the assistant's comments and job summaries look like on
// GitHub, in both of its themes.
//
//	pictures           play the tasks, draw what has changed, write the manifest and the costs in the guide
//	pictures -record   run the real Claude Code against a provider on this machine and keep what the runs cost
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, ".", os.Args[1:], exec.LookPath)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, args []string, look func(string) (string, error)) (err error) {
	flags := flag.NewFlagSet("pictures", flag.ContinueOnError)
	record := flags.Bool("record", false, "record the runs anew")
	all := flags.Bool("all", false, "draw every picture, changed or not")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	if *record {
		return recordAll(ctx, root, filepath.Join(root, runsDir))
	}
	chromium, err := findChromium(look)
	if err != nil {
		return err
	}
	pictures, err := list(ctx, root)
	if err != nil {
		return err
	}
	if err := writeCosts(root); err != nil {
		return err
	}
	return drawAll(ctx, root, chromium, pictures, *all)
}

// drawAll draws the pictures whose source is not the one of the manifest.
func drawAll(ctx context.Context, root, chromium string, pictures []picture, all bool) (err error) {
	before, err := readManifest(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	temp, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	d := drawer{chromium: chromium, temp: temp}
	now := manifest{}
	for _, p := range pictures {
		for _, theme := range themes() {
			name := p.name + "-" + theme + ".png"
			file := filepath.Join(root, imageDir, name)
			from, err := p.drawnFrom(theme)
			if err != nil {
				return err
			}
			e := entry{Source: from, Text: p.text}
			if old, ok := before[name]; ok && !all && old.Source == e.Source && old.Picture == digestFile(file) {
				now[name] = old
				continue
			}
			data, err := p.draw(ctx, d, root, theme)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if len(data) > maxBytes {
				return fmt.Errorf("%s has %d bytes, more than %d", name, len(data), maxBytes)
			}
			if err := write(file, data); err != nil {
				return err
			}
			e.Picture = digest(data)
			now[name] = e
			fmt.Println(name, len(data))
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			err = errors.Join(err, os.Remove(filepath.Join(root, imageDir, name)))
		}
	}
	return errors.Join(err, now.write(root))
}
