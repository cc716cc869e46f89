// SPDX-License-Identifier: Apache-2.0

// A load balancer that learns late which backends are ready.

package main

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A balancer forwards connections to the backends that it considers ready.
// Changes reach it late but in order, as in a watch on EndpointSlices; existing
// connections stay with their backend.
type balancer struct {
	listener net.Listener
	lag      func() time.Duration
	news     chan change
	mu       sync.Mutex
	ready    []string
	next     int
	refused  int // connections for which no backend was ready
}

type change struct {
	ready []string
	due   time.Time
}

func newBalancer(lag func() time.Duration, ready ...string) *balancer {
	b := &balancer{lag: lag, ready: ready, news: make(chan change, 100)}
	b.listener = must(net.Listen("tcp", "127.0.0.1:0"))
	go b.accept()
	go b.hear()
	return b
}

func randomLag(most time.Duration) func() time.Duration {
	return func() time.Duration { return rand.N(most) }
}

func (b *balancer) address() string { return b.listener.Addr().String() }

func (b *balancer) tell(ready []string) {
	b.news <- change{ready, time.Now().Add(b.lag())}
}

func (b *balancer) hear() {
	for c := range b.news {
		time.Sleep(time.Until(c.due))
		b.mu.Lock()
		b.ready = c.ready
		b.mu.Unlock()
	}
}

func (b *balancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		go b.pass(conn.(*net.TCPConn))
	}
}

func (b *balancer) choose() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ready) == 0 {
		b.refused++
		return ""
	}
	b.next++
	return b.ready[b.next%len(b.ready)]
}

func (b *balancer) pass(client *net.TCPConn) {
	defer client.Close()
	backend, err := net.Dial("tcp", b.choose())
	if err != nil {
		client.SetLinger(0)
		return
	}
	server := backend.(*net.TCPConn)
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { pipe(server, client) })
	both.Go(func() { pipe(client, server) })
	both.Wait()
}

// pipe forwards an end as an end and a reset as a reset.
func pipe(to, from *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		to.SetLinger(0)
		to.Close()
		from.Close()
		return
	}
	to.CloseWrite()
}
