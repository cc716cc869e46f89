// SPDX-License-Identifier: Apache-2.0

// Workers and fixed rates of requests, and the statistics of their answers.

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Traffic contains the requests of many workers and their results.
type traffic struct {
	asked, lost atomic.Int64
	stopping    atomic.Bool
	wait        sync.WaitGroup
	mu          sync.Mutex
	errors      map[string]int
	times       []time.Duration
	slow        time.Duration // the worst
}

func (t *traffic) note(took time.Duration, err error) {
	t.asked.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times = append(t.times, took)
	t.slow = max(t.slow, took)
	if err == nil {
		return
	}
	t.lost.Add(1)
	if t.errors == nil {
		t.errors = map[string]int{}
	}
	if len(t.errors) < 20 {
		t.errors[err.Error()]++
	}
}

// workers post one review after the other, each at most once per `pace`.
func (t *traffic) workers(n int, pace time.Duration, ask func(i int) error) {
	for w := range n {
		t.wait.Go(func() {
			time.Sleep(pace * time.Duration(w) / time.Duration(n))
			next := time.Now()
			for i := w; !t.stopping.Load(); i++ {
				begin := time.Now()
				err := ask(i)
				t.note(time.Since(begin), err)
				next = next.Add(pace)
				if rest := time.Until(next); rest > 0 {
					time.Sleep(rest)
				} else {
					next = time.Now()
				}
			}
		})
	}
}

// rate posts at fixed times, whether or not answers have arrived; the latency
// of an answer counts from the time at which it was due.
func (t *traffic) rate(perSecond float64, ask func(i int) error) {
	t.wait.Go(func() {
		begin := time.Now()
		for i := 0; !t.stopping.Load(); i++ {
			due := begin.Add(time.Duration(float64(i) / perSecond * 1e9))
			if rest := time.Until(due); rest > 0 {
				time.Sleep(rest)
			}
			t.wait.Go(func() {
				err := ask(i)
				t.note(time.Since(due), err)
			})
		}
	})
}

func (t *traffic) stop() {
	t.stopping.Store(true)
	t.wait.Wait()
}

func (t *traffic) percentile(p float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.times) == 0 {
		return 0
	}
	slices.Sort(t.times)
	return t.times[min(len(t.times)-1, int(p*float64(len(t.times))/100))]
}

// losses returns the messages of the failures.
func (t *traffic) losses() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	for text, n := range t.errors {
		fmt.Fprintf(&out, "\n    %d times: %s", n, text)
	}
	return out.String()
}
