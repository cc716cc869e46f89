// SPDX-License-Identifier: Apache-2.0

// Measures the time from SIGKILL and a restart to the first right answer.

package main

import (
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// kill ends gpugated with SIGKILL while it answers, restarts it at the same
// address, and measures the time until the first right answer.
func kill(b *bench) {
	times := setting("KILLS", 100)
	secret := &volume{dir: filepath.Join(b.dir, "kill")}
	ca := newAuthority("CA")
	trusted := &trust{}
	trusted.set(ca)
	secret.swap(ca.good().files())
	port, probe := freePort(), freePort()
	var took []time.Duration
	for range times {
		begin := time.Now()
		d, err := b.launch("kill", nil, "--listen", local(port),
			"--probe-listen", local(probe),
			"--tls-cert", filepath.Join(secret.dir, "tls.crt"),
			"--tls-key", filepath.Join(secret.dir, "tls.key"))
		b.must(err)
		one := newCaller(local(port), trusted, true)
		for err = one.ask(b.deny); err != nil && time.Since(begin) < 5*time.Second; {
			time.Sleep(200 * time.Microsecond)
			err = one.ask(b.deny)
		}
		took = append(took, time.Since(begin))
		b.must(err)
		var busy traffic
		busy.workers(4, 0, func(i int) error { return one.ask(b.either(i)) })
		time.Sleep(20 * time.Millisecond)
		d.signal(syscall.SIGKILL)
		<-d.done
		busy.stop()
		one.transport().CloseIdleConnections()
	}
	slices.Sort(took)
	median, high := took[len(took)/2], took[len(took)*9/10]
	b.figure(median <= 50*time.Millisecond,
		"%d times killed at work and started: first verdict after %v (median), %v (p90), %v (max); limit 50ms for the median",
		times, median.Round(100*time.Microsecond),
		high.Round(100*time.Microsecond),
		took[len(took)-1].Round(100*time.Microsecond))
}
