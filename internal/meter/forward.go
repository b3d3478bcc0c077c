package meter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
)

// forward sends the call and passes the response on as it comes.
func (c *call) forward(w http.ResponseWriter, ctx context.Context, header http.Header) (o outcome, abort bool) { //nolint:revive // the writer comes first, as in a handler
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	out, err := c.m.outgoing(ctx, c.req.path, c.req.query, header, c.m.api.body(c.req, c.grant.maxOutput, c.grant.last))
	if err != nil {
		o.free = true
		c.record.Status = c.m.send(w, refusal{status: http.StatusBadGateway, reason: "the request cannot be sent"})
		return o, false
	}
	resp, err := c.m.client.RoundTrip(out)
	if err != nil {
		if connected.Load() {
			return o, true // it may have arrived, and be billed
		}
		o.free = true
		c.record.Status = c.m.send(w, refusal{status: http.StatusBadGateway, reason: "the provider cannot be reached"})
		return o, false
	}
	defer func() { _ = resp.Body.Close() }()
	o.status = resp.StatusCode
	switch {
	case o.status >= http.StatusBadRequest:
		o.free = true
		c.settle(o)
		return o, c.passError(w, resp)
	case o.status >= http.StatusMultipleChoices:
		// The engine would take its prompt to another address.
		o.free = true
		c.record.Status = c.m.send(w, refusal{status: http.StatusBadGateway, reason: "the provider's address redirects to another one: check the base URL"})
		return o, false
	}
	c.req.raw, resp.Request = nil, nil // sent; a stream may last for minutes
	return c.stream(w, resp)
}

// passHeader copies a response's headers; one that holds the key never passes.
func (c *call) passHeader(w http.ResponseWriter, resp *http.Response) {
	for k, values := range resp.Header {
		switch k {
		case "Connection", "Keep-Alive", "Proxy-Connection", "Trailer", "Transfer-Encoding", "Upgrade", "Location":
			continue
		}
		for _, v := range values {
			w.Header().Add(k, strings.ReplaceAll(v, c.m.opts.Key, c.m.dummy))
		}
	}
	c.record.Status = resp.StatusCode
}

// passError passes an error body on; where it echoes the key, the dummy stands.
func (c *call) passError(w http.ResponseWriter, resp *http.Response) (abort bool) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	body = bytes.ReplaceAll(body, []byte(c.m.opts.Key), []byte(c.m.dummy))
	c.passHeader(w, resp)
	w.Header().Del("Content-Length")
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body) // the client may be gone
	return err != nil
}

// stream copies the body of an answer chunk by chunk and reads along. It ends when either side breaks, or when the body
// is far longer than the answer that was allowed. The call is booked and recorded before the engine sees its end.
func (c *call) stream(w http.ResponseWriter, resp *http.Response) (o outcome, abort bool) {
	reader := c.m.api.reader(c.req, resp.Header.Get("Content-Type"))
	o.status = resp.StatusCode
	finish := func(whole bool) outcome {
		if !c.ended {
			o.answer = reader.answer(whole)
			c.settle(o)
			c.end()
		}
		return o
	}
	c.passHeader(w, resp)
	w.WriteHeader(resp.StatusCode)
	flusher, _ := w.(http.Flusher)
	flush := func() {
		if flusher != nil {
			flusher.Flush()
		}
	}
	flush()
	left, got := int64(4<<20)+c.grant.maxOutput*1024, int64(0) // an event of a stream holds less than that around a token
	buf := make([]byte, copyBuffer)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			_, _ = reader.Write(buf[:n])
			if got += int64(n); reader.done() || got == resp.ContentLength || errors.Is(err, io.EOF) {
				finish(true)
			}
			_, gone := w.Write(buf[:n])
			flush()
			if gone != nil || got > left {
				return finish(false), true
			}
		}
		if errors.Is(err, io.EOF) {
			return finish(true), false
		}
		if err != nil {
			return finish(false), true
		}
	}
}
