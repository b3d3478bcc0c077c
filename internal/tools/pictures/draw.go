package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// drawer turns pages into pictures by Chromium.
type drawer struct {
	chromium string
	temp     string
}

// Sizes of a picture.
const (
	zoom     = 2 // pixels of the picture for one of the page
	maxBytes = 150_000
	colors   = 64
)

func findChromium(look func(string) (string, error)) (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := look(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium is not installed: `apt-get install chromium fonts-noto-core fonts-noto-cjk`, or the like")
}

// draw returns the PNG of a page.
func (d drawer) draw(ctx context.Context, html string, width int) ([]byte, error) {
	file := filepath.Join(d.temp, "page.html")
	if err := write(file, []byte(html)); err != nil {
		return nil, err
	}
	dom, err := d.browse(ctx, file, "--window-size="+strconv.Itoa(width)+",600", "--dump-dom")
	if err != nil {
		return nil, err
	}
	m := regexp.MustCompile(`<body[^>]* data-height="([0-9]+)" data-failed="([^"]*)"`).FindSubmatch(dom)
	if m == nil || len(m[2]) > 0 {
		return nil, fmt.Errorf("the page was not drawn: %.300q", m)
	}
	shot := filepath.Join(d.temp, "page.png")
	_, err = d.browse(ctx, file, fmt.Sprintf("--window-size=%d,%s", width, m[1]), "--screenshot="+shot)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(shot)
	if err != nil {
		return nil, err
	}
	return shrink(data)
}

func (d drawer) browse(ctx context.Context, file string, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	all := []string{
		"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--font-render-hinting=none",
		"--user-data-dir=" + filepath.Join(d.temp, "profile"), "--force-device-scale-factor=" + strconv.Itoa(zoom),
		"--virtual-time-budget=10000", "--allow-file-access-from-files",
	}
	if os.Geteuid() == 0 {
		all = append(all, "--no-sandbox") // Chromium's sandbox does not start for root; the pages are our own
	}
	cmd := exec.CommandContext(ctx, d.chromium, append(append(all, args...), "file://"+file)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("chromium: %w: %.2000s", err, said.String())
	}
	return out.Bytes(), nil
}

// shrink keeps the colors that are used most; text and charts lose nothing that an eye sees.
func shrink(data []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	counts := map[color.RGBA]int{}
	bounds := img.Bounds()
	at := func(x, y int) color.RGBA {
		c, _ := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
		return c
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	type used struct {
		c color.RGBA
		n int
	}
	list := make([]used, 0, len(counts))
	for c, n := range counts {
		list = append(list, used{c, n})
	}
	slices.SortFunc(list, func(a, b used) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.c.R, b.c.R), cmp.Compare(a.c.G, b.c.G), cmp.Compare(a.c.B, b.c.B))
	})
	palette := make(color.Palette, 0, colors)
	for _, u := range list[:min(len(list), colors)] {
		palette = append(palette, u.c)
	}
	index := map[color.RGBA]uint8{}
	small := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			small.SetColorIndex(x, y, i)
		}
	}
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	if err := e.Encode(&b, small); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
