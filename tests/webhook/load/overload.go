// SPDX-License-Identifier: Apache-2.0

// Load from more clients than gpugated answers at once.

package main

import (
	"bytes"
	"path/filepath"
	"sync/atomic"
	"time"
)

// overload compares the answers to as many clients as may be in flight with the
// answers to five times as many clients, which wait like client-go. Bodies are
// larger than one read, so that many are in flight.
func overload(b *bench) {
	const flight, rounds = 64, 3
	long := time.Duration(setting("OVERLOAD_SECONDS", 9)) * time.Second
	secret := &volume{dir: filepath.Join(b.dir, "overload")}
	ca := newAuthority("CA")
	trusted := &trust{}
	trusted.set(ca)
	secret.swap(ca.good().files())
	d, err := b.begin(setup{name: "overload", folder: secret.dir,
		more: []string{"--max-in-flight", "64"}})
	b.must(err)
	large := *b.deny
	large.after = append(bytes.Clone(large.after), bytes.Repeat([]byte(" "), 20<<10)...)
	var peak, over traffic
	var peakRate, overRate float64
	var refused atomic.Int64
	measure := func(t *traffic, clients int) float64 {
		c := newCaller(local(d.port), trusted, true)
		c.retries = true
		c.on429 = func() { refused.Add(1) }
		c.transport().MaxIdleConnsPerHost = clients
		t.stopping.Store(false)
		t.workers(clients, 0, func(int) error { return c.ask(&large) })
		time.Sleep(time.Second) // for the handshakes
		begin, before := time.Now(), t.asked.Load()-t.lost.Load()
		time.Sleep(long / rounds)
		rate := float64(t.asked.Load()-t.lost.Load()-before) / time.Since(begin).Seconds()
		t.stop()
		c.transport().CloseIdleConnections()
		return rate / rounds
	}
	// The two alternate, because the load of the machine may change.
	for range rounds {
		peakRate += measure(&peak, flight)
		overRate += measure(&over, 5*flight)
	}
	gaveUp := over.errors[errOverload.Error()]
	bad := over.lost.Load() + peak.lost.Load() - int64(gaveUp)
	b.check(bad == 0,
		"%d clients where %d may be in flight: %d answers 200, %d times 429 and waited, %d gave up after 10, %d anything else%s",
		5*flight, flight, over.asked.Load()-over.lost.Load(), refused.Load(),
		gaveUp, bad, over.losses()+peak.losses())
	b.figure(overRate >= 0.8*peakRate,
		"goodput %.0f/s, %.0f %% of %.0f/s at %d clients (p99 with waiting %v; %v at %d)",
		overRate, 100*overRate/peakRate, peakRate, flight,
		over.percentile(99).Round(time.Millisecond),
		peak.percentile(99).Round(time.Millisecond), flight)
	b.check(refused.Load() > 0 && d.metric("gpugate_overload_total") > 0,
		"gpugate_overload_total is %.0f", d.metric("gpugate_overload_total"))
}
