package main

import (
	"bytes"
	"fmt"

	"github.com/issue-assistant/issue-assistant/internal/session"
)

// The picture's measures in pixels, and the largest context that it shows.
const (
	width, height = 760, 420
	left, right   = 70, 170
	top, bottom   = 40, 60
	maxContext    = 100_000
)

// drawing shows what a follow-up costs by the size of the saved conversation: resumed warm, resumed cold, fresh.
func drawing(price session.Price) []byte {
	p := session.ProfileOf("follow-up", nil)
	fresh := session.FreshUSD(p, price)
	_, most := session.ResumedUSD(maxContext, p, price)
	x := func(c float64) float64 { return left + c/maxContext*(width-left-right) }
	y := func(usd float64) float64 { return height - bottom - usd/(most*1.05)*(height-top-bottom) }
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="What a follow-up costs by the size of the saved conversation">
<style>
  text { fill: #1f2328 } .axis, .grid { stroke: #59636e } .grid { stroke-opacity: .25 } .line { fill: none; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .axis, .grid { stroke: #9198a1 } }
</style>
<text x="%d" y="22" font-size="15" font-weight="600">A follow-up on claude-opus-5-5: resume or fresh?</text>
`, width, height, left)
	for c := 0; c <= maxContext; c += 20_000 {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">%dk</text>`+"\n",
			x(float64(c)), top, x(float64(c)), height-bottom, x(float64(c)), height-bottom+20, c/1000)
	}
	for usd := 0.0; usd <= most; usd += 0.1 {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">$%.2f</text>`+"\n",
			left, y(usd), width-right, y(usd), left-8, y(usd)+4, usd)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">tokens of the saved conversation</text>`+"\n", x(maxContext/2), height-14)
	line := func(name, color, dash string, from, to float64) {
		fmt.Fprintf(&b, `<polyline class="line" stroke="%s" stroke-dasharray="%s" points="%.1f,%.1f %.1f,%.1f"/><text x="%d" y="%.1f">%s</text>`+"\n",
			color, dash, x(0), y(from), x(maxContext), y(to), width-right+8, y(to)+4, name)
	}
	warm0, cold0 := session.ResumedUSD(0, p, price)
	warm1, cold1 := session.ResumedUSD(maxContext, p, price)
	line("resumed, cold", "#cf222e", "", cold0, cold1)
	line("resumed, warm", "#2da44e", "", warm0, warm1)
	line("fresh", "#0969da", "", fresh, fresh)
	line("fresh less a tenth", "#0969da", "5 4", 0.9*fresh, 0.9*fresh)
	even := breakEven(p, price, false)
	fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="5" fill="#cf222e"/><text x="%.1f" y="%.1f">%s: from here on a cold resume is dearer</text>`+"\n",
		x(even), y(0.9*fresh), x(even)+12, y(0.9*fresh)+22, tokens(even))
	b.WriteString("</svg>\n")
	return b.Bytes()
}
