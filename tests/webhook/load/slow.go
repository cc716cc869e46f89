// SPDX-License-Identifier: Apache-2.0

// Load while other clients are slow in each phase of a connection.

package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A crowd is a group of misbehaving clients that run until they are stopped.
type crowd struct {
	address string
	trusted *trust
	stopped chan struct{}
	wait    sync.WaitGroup
	open    atomic.Int64 // its current connections
	cut     atomic.Int64 // connections that the server closed
}

func (c *crowd) secure(conn net.Conn) (*tls.Conn, error) {
	secured := tls.Client(conn, c.trusted.config())
	return secured, secured.Handshake()
}

// drip writes one byte at a time.
func (c *crowd) drip(conn net.Conn, text []byte, every time.Duration) error {
	for i := 0; ; i = (i + 1) % len(text) {
		if _, err := conn.Write(text[i : i+1]); err != nil {
			return err
		}
		if !c.pause(every) {
			return nil
		}
	}
}

func (c *crowd) pause(long time.Duration) bool {
	select {
	case <-c.stopped:
		return false
	case <-time.After(long):
		return true
	}
}

func slowHandshake(c *crowd, conn net.Conn) error {
	hello := append([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}, make([]byte, 500)...)
	return c.drip(conn, hello, 300*time.Millisecond)
}

func slowHeader(c *crowd, conn net.Conn) error {
	secured, err := c.secure(conn)
	if err != nil {
		return err
	}
	secured.Write([]byte("POST /validate HTTP/1.1\r\nHost: a\r\nX-Slow: "))
	return c.drip(secured, []byte("a"), 300*time.Millisecond)
}

func slowBody(c *crowd, conn net.Conn) error {
	secured, err := c.secure(conn)
	if err != nil {
		return err
	}
	secured.Write([]byte("POST /validate HTTP/1.1\r\nHost: a\r\n" +
		"Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"))
	return c.drip(secured, []byte("{"), 300*time.Millisecond)
}

// slowRead keeps sending requests and reads the answers one byte at a time,
// with the smallest buffers that the kernel allows.
func slowRead(c *crowd, conn net.Conn) error {
	conn.(*net.TCPConn).SetReadBuffer(1)
	secured, err := c.secure(conn)
	if err != nil {
		return err
	}
	request := []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	for {
		secured.SetWriteDeadline(time.Now().Add(time.Minute))
		if _, err := secured.Write(request); err != nil {
			return err
		}
		if !c.pause(300 * time.Millisecond) {
			return nil
		}
	}
}

func idle(c *crowd, conn net.Conn) error {
	secured, err := c.secure(conn)
	if err != nil {
		return err
	}
	go func() { <-c.stopped; conn.Close() }()
	_, err = secured.Read(make([]byte, 1))
	select {
	case <-c.stopped:
		return nil
	default:
		return err
	}
}

// come starts n clients over some seconds; a client that is disconnected
// connects again.
func (c *crowd) come(n int, over time.Duration, act func(*crowd, net.Conn) error) {
	for i := range n {
		c.wait.Go(func() {
			for c.pause(over * time.Duration(i) / time.Duration(n)) {
				conn, err := net.DialTimeout("tcp", c.address, 5*time.Second)
				if err != nil {
					continue
				}
				c.open.Add(1)
				if act(c, conn) != nil {
					c.cut.Add(1)
				}
				c.open.Add(-1)
				conn.Close()
			}
		})
	}
}

func (c *crowd) leave() {
	close(c.stopped)
	c.wait.Wait()
}

func newCrowd(address string, trusted *trust) *crowd {
	return &crowd{address: address, trusted: trusted, stopped: make(chan struct{})}
}

// slow measures good traffic at a fixed rate: alone, then with 1,000 slow
// clients of four types and 2,000 idle connections, then alone again.
func slow(b *bench) {
	var limit syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if limit.Max < 8000 {
		fmt.Printf("skip: slow: only %d files may be open\n", limit.Max)
		return
	}
	perManner := setting("SLOW_CLIENTS", 1000) / 4
	idles := setting("IDLE_CONNECTIONS", 2000)
	rate := float64(setting("SLOW_RATE", 400))
	long := time.Duration(setting("SLOW_SECONDS", 12)) * time.Second
	secret := &volume{dir: filepath.Join(b.dir, "slow")}
	ca := newAuthority("CA")
	trusted := &trust{}
	trusted.set(ca)
	secret.swap(ca.good().files())
	d, err := b.begin(setup{name: "slow", folder: secret.dir,
		more: []string{"--timeout", "5"}})
	b.must(err)
	good := newCaller(local(d.port), trusted, true)
	measure := func() *traffic {
		t := &traffic{}
		t.rate(rate, func(i int) error { return good.ask(b.either(i)) })
		time.Sleep(long)
		t.stop()
		return t
	}
	before := measure()
	slows := newCrowd(local(d.port), trusted)
	for _, act := range []func(*crowd, net.Conn) error{slowHandshake, slowHeader, slowBody, slowRead} {
		slows.come(perManner, 5*time.Second, act)
	}
	quiet := newCrowd(local(d.port), trusted)
	quiet.come(idles, 5*time.Second, idle)
	time.Sleep(6 * time.Second)
	among := measure()
	open := d.metric("gpugate_connections")
	stayed := quiet.open.Load()
	slows.leave()
	quiet.leave()
	after := measure()
	alone := max(before.percentile(99), after.percentile(99))
	limitOf := max(2*alone, 2*time.Millisecond)
	b.check(among.lost.Load()+before.lost.Load()+after.lost.Load() == 0,
		"%d of %d good requests lost among %d slow and %d idle clients (%.0f connections, %d slow ones cut)%s",
		among.lost.Load(), among.asked.Load(), 4*perManner, stayed, open,
		slows.cut.Load(), among.losses())
	b.figure(among.percentile(99) <= limitOf,
		"p99 of good traffic at %.0f/s: %v alone, %v among them, %v alone again (limit %v); p50 %v, %v, %v",
		rate, before.percentile(99), among.percentile(99), after.percentile(99), limitOf,
		before.percentile(50), among.percentile(50), after.percentile(50))
	b.check(stayed == int64(idles) && quiet.cut.Load() == 0,
		"%d of %d idle connections stayed, %d cut", stayed, idles, quiet.cut.Load())
}
