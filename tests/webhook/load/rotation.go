// SPDX-License-Identifier: Apache-2.0

// Load while the CA and the certificate are replaced every few seconds.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A swapper installs one pair after another in one way.
type swapper struct {
	name string
	dir  string
	put  func(i int, p *pair)
}

// rotation replaces CA and pair every few seconds under load of two gpugated.
// One reads a folder that is swapped as the kubelet does; the other reads files
// that are renamed and rewritten in turn, as scripts and cp do.
func rotation(b *bench) {
	seconds := setting("ROTATION_SECONDS", 30)
	every := time.Duration(setting("ROTATION_EVERY_MS", 5000)) * time.Millisecond
	secret := &volume{dir: filepath.Join(b.dir, "secret")}
	files := filepath.Join(b.dir, "files")
	check(os.MkdirAll(files, 0o755))
	ways := []swapper{
		{"..data swapped", secret.dir,
			func(_ int, p *pair) { secret.swap(p.files()) }},
		{"files renamed, rewritten", files, func(i int, p *pair) {
			if i%2 == 0 {
				p.rename(files, 20*time.Millisecond)
			} else {
				p.rewrite(files, 20*time.Millisecond)
			}
		}},
	}
	fmt.Printf("  %d s, the full length is ROTATION_SECONDS=120\n", seconds)
	done := make(chan func())
	for _, way := range ways {
		go func() { done <- b.rotate(way, time.Duration(seconds)*time.Second, every) }()
	}
	for range ways {
		(<-done)()
	}
}

// rotate returns the checks, for the main goroutine.
func (b *bench) rotate(way swapper, long, every time.Duration) func() {
	kinds := []string{"p256", "rsa", "p384", "ed25519"}
	trusted := &trust{}
	ca := newAuthority("CA 0")
	trusted.set(ca)
	way.put(0, ca.good())
	d, err := b.begin(setup{name: "rotation", folder: way.dir})
	if err != nil {
		return func() { b.must(err) }
	}
	address := local(d.port)
	var kept, fresh traffic
	keeping, reconnecting := newCaller(address, trusted, true),
		newCaller(address, trusted, false)
	kept.workers(8, 5*time.Millisecond, func(i int) error {
		return keeping.ask(b.either(i))
	})
	fresh.workers(8, 20*time.Millisecond, func(i int) error {
		return reconnecting.ask(b.either(i))
	})
	swaps, unused, slowest := 0, 0, time.Duration(0)
	for end := time.Now().Add(long); time.Now().Before(end); swaps++ {
		next := newAuthority("CA next")
		trusted.set(ca, next)
		ca = next
		p := ca.issue(newKey(kinds[swaps%len(kinds)]), nil)
		begin := time.Now()
		way.put(swaps+1, p)
		used := until(every, func() bool {
			seen, err := serial(address, trusted)
			return err == nil && seen == p.serial
		})
		if !used {
			unused++
		}
		slowest = max(slowest, time.Since(begin))
		time.Sleep(time.Until(begin.Add(every)))
	}
	kept.stop()
	fresh.stop()
	keeping.transport().CloseIdleConnections()
	failures := d.metric("gpugate_certificate_reload_failures_total")
	return func() {
		b.row("requests lost, CA and certificate new every "+every.String()+", "+way.name,
			fmt.Sprintf("%d of %d", fresh.lost.Load()+kept.lost.Load(),
				fresh.asked.Load()+kept.asked.Load()),
			fmt.Sprintf("%d handshakes, %d pairs", fresh.asked.Load(), swaps))
		b.check(fresh.lost.Load() == 0,
			"%s: %d of %d requests lost of clients that reconnect (a handshake each; p99 %v, max %v)%s",
			way.name, fresh.lost.Load(), fresh.asked.Load(),
			fresh.percentile(99).Round(100*time.Microsecond),
			fresh.slow.Round(time.Millisecond), fresh.losses())
		b.check(kept.lost.Load() == 0,
			"%s: %d of %d requests lost of clients that keep connections (%d all in all; p99 %v, max %v)%s",
			way.name, kept.lost.Load(), kept.asked.Load(), keeping.dials.Load(),
			kept.percentile(99).Round(100*time.Microsecond),
			kept.slow.Round(time.Millisecond), kept.losses())
		b.check(unused == 0, "%s: %d of %d pairs (new CA each; %v) in use, %v at most after the swap",
			way.name, swaps-unused, swaps, kinds, slowest.Round(time.Millisecond))
		b.check(failures == 0, "%s: %v reloads counted as failed", way.name, failures)
	}
}

func (b *bench) either(i int) *review {
	if i%2 == 0 {
		return b.allow
	}
	return b.deny
}
