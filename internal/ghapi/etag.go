package ghapi

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// etagCache keeps answers of this run in memory and asks GitHub whether they still hold: a 304 costs nothing of the
// primary limit. Nothing is served without asking, and no request (with its token) is kept.
type etagCache struct {
	mu   sync.Mutex
	size int
	m    map[string]keptAnswer
}

type keptAnswer struct {
	etag   string
	header http.Header
	body   []byte
}

// Bounds of the cache: one answer and all of them, in bytes.
const (
	maxKeptOne = 1 << 20
	maxKept    = 8 << 20
)

func etagKey(r *http.Request) string { return r.Header.Get("Accept") + " " + r.URL.String() }

func (c *etagCache) ask(r *http.Request) {
	if r.Method != http.MethodGet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.m[etagKey(r)]; ok {
		r.Header.Set("If-None-Match", kept.etag)
	}
}

// answer gives the kept answer as if it had just arrived.
func (c *etagCache) answer(r *http.Request) *http.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.m[etagKey(r)]
	if !ok || r.Header.Get("If-None-Match") != kept.etag {
		return nil
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: kept.header.Clone(), Body: io.NopCloser(bytes.NewReader(kept.body)), ContentLength: int64(len(kept.body)), Request: r,
	}
}

// keep stores an answer that is small enough.
func (c *etagCache) keep(r *http.Request, resp *http.Response, body []byte) {
	etag := resp.Header.Get("Etag")
	if r.Method != http.MethodGet || etag == "" || resp.StatusCode != http.StatusOK || len(body) > maxKeptOne {
		return
	}
	header := resp.Header.Clone()
	header.Del("Set-Cookie")
	c.mu.Lock()
	defer c.mu.Unlock()
	key := etagKey(r)
	size := c.size - len(c.m[key].body) + len(body)
	if size > maxKept {
		return
	}
	if c.m == nil {
		c.m = map[string]keptAnswer{}
	}
	c.m[key], c.size = keptAnswer{etag: etag, header: header, body: body}, size
}
