// SPDX-License-Identifier: Apache-2.0

// Command server_load sends traffic to the server alone: requests at a fixed
// rate, as client-go sends them (kept connections, waits after 429), or slow
// clients.
//
//	server_load load -to PORT,... [-ready PORT,...] [-rate N] [-callers N]
//	                 [-seconds N] [-body N] [-retry]
//	server_load slow -to PORT -kinds handshake,header,body,read,idle -each N
//	                 -seconds N [-spread N]
//
// "load" prints one line: requests=N failed=N retried=N p50=µs p99=µs.
// Latency counts from the time at which a request was due, so that it includes
// the time in which a server answers nothing. "slow" prints "ready" when all
// are connected, and at the end how often each kind was disconnected.
package main

import (
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	to       = flag.String("to", "", "ports")
	ready    = flag.String("ready", "", "ports of /readyz, in the order of -to")
	rate     = flag.Int("rate", 500, "requests a second, 0: as fast as can be")
	callers  = flag.Int("callers", 32, "at once")
	seconds  = flag.Int("seconds", 5, "")
	size     = flag.Int("body", 3100, "bytes")
	text     = flag.String("text", "", "how the body begins")
	retry    = flag.Bool("retry", false, "after 429, as Retry-After says")
	want     = flag.Int("want", 200, "status")
	kinds    = flag.String("kinds", "", "")
	spread   = flag.Int("spread", 0, "seconds in which slow clients begin")
	each     = flag.Int("each", 1, "")
	insecure = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}
)

// Ports that are considered ready: polled twice a second, like a kubelet with
// delayed endpoints.
type targets struct {
	mu    sync.Mutex
	ports []string
	live  []string
}

func newTargets() *targets {
	t := &targets{ports: strings.Split(*to, ",")}
	t.live = t.ports
	if *ready == "" {
		return t
	}
	probes := strings.Split(*ready, ",")
	go func() {
		for {
			t.look(probes)
			time.Sleep(500 * time.Millisecond)
		}
	}()
	return t
}

func (t *targets) look(probes []string) {
	var live []string
	for i, probe := range probes {
		reply, err := http.Get("http://127.0.0.1:" + probe + "/readyz")
		if err != nil {
			continue
		}
		reply.Body.Close()
		if reply.StatusCode == 200 {
			live = append(live, t.ports[i])
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if live != nil {
		t.live = live
	}
}

func (t *targets) pick() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return "127.0.0.1:" + t.live[rand.IntN(len(t.live))]
}

type figures struct {
	mu              sync.Mutex
	took            []time.Duration
	failed, retried atomic.Int64
	reasons         map[string]int
}

func (f *figures) fail(why string) {
	f.failed.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons[why]++
}

func (f *figures) add(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.took = append(f.took, d)
}

func (f *figures) print() {
	slices.Sort(f.took)
	at := func(q float64) int64 {
		if len(f.took) == 0 {
			return -1
		}
		return f.took[int(float64(len(f.took)-1)*q)].Microseconds()
	}
	fmt.Printf("requests=%d failed=%d retried=%d p50=%d p99=%d\n",
		len(f.took), f.failed.Load(), f.retried.Load(), at(0.5), at(0.99))
	for why, n := range f.reasons {
		fmt.Fprintf(os.Stderr, "%d times: %s\n", n, why)
	}
}

// Sends one request with its retries; returns "" or the problem.
func ask(client *http.Client, body []byte, f *figures) string {
	for try := 0; ; try++ {
		request, _ := http.NewRequest("POST",
			"https://webhook.svc:443/validate?timeout=10s", bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		reply, err := client.Do(request)
		if err != nil {
			return err.Error()
		}
		_, err = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if err != nil {
			return err.Error()
		}
		if reply.StatusCode == *want {
			return ""
		}
		if !*retry || try == 10 || reply.Header.Get("Retry-After") == "" {
			return reply.Status
		}
		f.retried.Add(1)
		time.Sleep(time.Second)
	}
}

func load() {
	hosts := newTargets()
	f := &figures{reasons: map[string]int{}}
	transport := &http.Transport{
		TLSClientConfig:     insecure,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     5 * time.Second, // in place of client-go's 90
		Dial: func(network, _ string) (net.Conn, error) {
			return net.Dial(network, hosts.pick())
		},
	}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	body := append([]byte(*text), bytes.Repeat([]byte(" "), *size)...)
	due := make(chan time.Time, 100000)
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	go func() {
		defer close(due)
		for t := time.Now(); t.Before(end); {
			if *rate == 0 {
				t = time.Now()
			} else {
				t = t.Add(time.Second / time.Duration(*rate))
				time.Sleep(time.Until(t))
			}
			due <- t
		}
	}()
	var wg sync.WaitGroup
	for range *callers {
		wg.Go(func() {
			for t := range due {
				if *rate == 0 {
					if time.Now().After(end) {
						return
					}
					t = time.Now()
				}
				if why := ask(client, body, f); why != "" {
					f.fail(why)
				}
				f.add(time.Since(t))
			}
		})
	}
	wg.Wait()
	f.print()
}

// --- slow clients ------------------------------------------------------------

// Sends a byte per second, or nothing, until it is disconnected.
func drip(c net.Conn, text string) {
	gone := make(chan bool)
	go func() {
		io.Copy(io.Discard, c)
		close(gone)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-gone:
			return
		case <-tick.C:
			if text == "" {
				continue
			}
			if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
		}
	}
}

const post = "POST /validate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"

func slowOne(kind string, up func()) {
	raw, err := net.Dial("tcp", "127.0.0.1:"+*to)
	if err != nil {
		up()
		time.Sleep(time.Second)
		return
	}
	defer raw.Close()
	if kind == "handshake" {
		up()
		raw.Write([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 252})
		drip(raw, "\x03")
		return
	}
	c := tls.Client(raw, insecure)
	err = c.Handshake()
	up()
	if err != nil {
		return
	}
	switch kind {
	case "header":
		io.WriteString(c, post+"X: ")
		drip(c, "a")
	case "body":
		io.WriteString(c, post+"Content-Length: 5000000\r\n\r\n")
		drip(c, " ")
	case "read":
		io.WriteString(c, post+"Content-Length: 13\r\n\r\nlarge 1000000")
		time.Sleep(time.Duration(*seconds) * time.Second)
	case "idle":
		io.WriteString(c, post+"Content-Length: 2\r\n\r\n{}")
		drip(c, "")
	}
}

func slow() {
	var cuts sync.Map
	var wg sync.WaitGroup
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	for _, kind := range strings.Split(*kinds, ",") {
		count := new(atomic.Int64)
		cuts.Store(kind, count)
		for range *each {
			wg.Add(1)
			up := sync.OnceFunc(wg.Done)
			go func() {
				// Spreads the clients over time, at the start
				// and after each disconnection.
				defer up()
				time.Sleep(time.Duration(rand.IntN(*spread*1000+1)) * time.Millisecond)
				for time.Now().Before(end) {
					slowOne(kind, up)
					count.Add(1)
				}
			}()
		}
	}
	wg.Wait()
	fmt.Println("ready")
	time.Sleep(time.Until(end))
	cuts.Range(func(kind, count any) bool {
		fmt.Printf("%s %d\n", kind, count.(*atomic.Int64).Load())
		return true
	})
}

func main() {
	mode := os.Args[1]
	os.Args = os.Args[1:]
	flag.Parse()
	if mode == "slow" {
		slow()
	} else {
		load()
	}
}
