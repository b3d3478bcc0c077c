package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/issue-assistant/issue-assistant/internal/testtool"
)

// browser is a stand-in for Chromium: it says how high the page is, and takes a picture that lies ready.
func browser(t *testing.T, body string, shot []byte) drawer {
	t.Helper()
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready.png")
	if err := os.WriteFile(ready, shot, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in\n--dump-dom) echo '%s';;\n--screenshot=*) cp '%s' \"${a#--screenshot=}\"; echo \"$@\" > '%s';;\nesac; done\n",
		body, ready, filepath.Join(dir, "args"))
	program := filepath.Join(dir, "browser")
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return drawer{chromium: program, temp: dir}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	testtool.Need(t, "sh")
	img := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range 1200 { // more colors than are kept
		img.Set(i%40, i/40, color.RGBA{uint8(i), uint8(i / 7), 0, 255})
	}
	var shot bytes.Buffer
	if err := png.Encode(&shot, img); err != nil {
		t.Fatal(err)
	}
	d := browser(t, `<body data-height="321" data-failed="">`, shot.Bytes())
	data, err := d.draw(t.Context(), "<p>x", 500)
	if err != nil {
		t.Fatal(err)
	}
	small, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := small.(*image.Paletted)
	if !ok || len(p.Palette) != colors || p.Bounds() != img.Bounds() {
		t.Errorf("%T %v", small, small.Bounds())
	}
	args, err := os.ReadFile(filepath.Join(d.temp, "args"))
	if err != nil || !strings.Contains(string(args), "--window-size=500,321") {
		t.Errorf("%s %v", args, err)
	}
	for _, body := range []string{`<body data-height="3" data-failed="Parse error">`, `<body>`, ``} {
		d := browser(t, body, shot.Bytes())
		if _, err := d.draw(t.Context(), "<p>x", 500); err == nil || !strings.Contains(err.Error(), "not drawn") {
			t.Errorf("%q: %v", body, err)
		}
	}
	d = browser(t, `<body data-height="3" data-failed="">`, []byte("no picture"))
	if _, err := d.draw(t.Context(), "<p>x", 500); err == nil {
		t.Error("a broken picture was taken")
	}
	d.chromium = filepath.Join(d.temp, "missing")
	if _, err := d.draw(t.Context(), "<p>x", 500); err == nil {
		t.Error("no browser, no error")
	}
}
