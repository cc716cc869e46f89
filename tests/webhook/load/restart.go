// SPDX-License-Identifier: Apache-2.0

// Load during rolling restarts of two processes.

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// The state that a Deployment with two replicas maintains: ready replicas, and
// the balancers that are notified.
type service struct {
	mu        sync.Mutex
	ready     []string
	listeners []*balancer
}

func (s *service) change(address string, ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(s.ready),
		func(a string) bool { return a == address })
	if ready {
		list = append(list, address)
	}
	s.ready = list
	for _, listener := range s.listeners {
		listener.tell(list)
	}
}

// restart replaces two processes in turn under the load of three API servers,
// each with a separate, delayed view of the ready replicas. The transport
// repeats a POST only if none of it was written.
//
// Times are a fifth of those in production: idle connections live 18 seconds
// instead of 90, and --drain is 19 instead of 95. Only the balancers' lag of 0
// to 5 seconds is the same.
func restart(b *bench) {
	requests := int64(setting("RESTART_REQUESTS", 200000))
	restarts := setting("RESTARTS", 4)
	secret := &volume{dir: filepath.Join(b.dir, "restart")}
	ca := newAuthority("CA")
	trusted := &trust{}
	trusted.set(ca)
	secret.swap(ca.good().files())
	instances := []setup{}
	for range 2 {
		instances = append(instances, setup{name: "restart",
			port: freePort(), probe: freePort(), folder: secret.dir,
			more: []string{"--drain", "19", "--threads", "1"}})
	}
	s := &service{}
	daemons := []*daemon{}
	for _, i := range instances {
		d, err := b.begin(i)
		b.must(err)
		daemons = append(daemons, d)
		s.ready = append(s.ready, local(i.port))
	}
	for _, lag := range []func() time.Duration{
		func() time.Duration { return 0 },
		randomLag(5 * time.Second),
		func() time.Duration { return 5 * time.Second },
	} {
		s.listeners = append(s.listeners, newBalancer(lag, s.ready...))
	}
	var load, waves traffic
	var callers []*caller
	for _, listener := range s.listeners {
		c := newCaller(listener.address(), trusted, true)
		c.transport().IdleConnTimeout = 18 * time.Second
		callers = append(callers, c)
	}
	ask := func(i int) error { return callers[i%3].ask(b.either(i / 3)) }
	load.workers(12, 0, ask)
	// Bursts leave idle connections, which may be reused.
	waves.workers(60, 3*time.Second, ask)
	begin := time.Now()
	done, ends, longest := 0, 0, time.Duration(0)
	for done < restarts || load.asked.Load() < requests {
		if time.Since(begin) > time.Duration(setting("RESTART_MINUTES", 3))*time.Minute {
			break
		}
		which := done % 2
		gone := b.replace(s, instances[which], &daemons[which], &ends)
		longest = max(longest, gone)
		done++
	}
	load.stop()
	waves.stop()
	nobody := 0
	for _, listener := range s.listeners {
		nobody += listener.refused
	}
	lost := load.lost.Load() + waves.lost.Load()
	asked := load.asked.Load() + waves.asked.Load()
	if asked < requests {
		fmt.Printf("  %d requests were wanted: this machine is slow or busy\n", requests)
	}
	b.check(lost == 0 && done >= restarts,
		"%d restarts: %d of %d requests lost (%.0f/s, p99 %v, max %v; balancers 0, 0-5 and 5 s late, %d times without a backend)%s",
		done, lost, asked, float64(asked)/time.Since(begin).Seconds(),
		load.percentile(99).Round(100*time.Microsecond),
		max(load.slow, waves.slow).Round(time.Millisecond), nobody,
		load.losses()+waves.losses())
	b.row(fmt.Sprintf("requests lost in %d rolling restarts of two processes", done),
		fmt.Sprintf("%d of %d", lost, asked), "three balancers, 0 to 5 s late")
	b.check(ends == done, "%d of %d drained processes ended with 0, after %.1f s at most",
		ends, done, longest.Seconds())
}

// replace acts like a rolling update of one process: it gets no notice before
// SIGTERM, and the next one is stopped as soon as this one is ready again.
func (b *bench) replace(s *service, i setup, d **daemon, ends *int) time.Duration {
	begin := time.Now()
	(*d).signal(syscall.SIGTERM)
	s.change(local(i.port), false)
	<-(*d).done
	gone := time.Since(begin)
	if (*d).state.ExitCode() == 0 {
		*ends++
	}
	next, err := b.begin(i)
	b.must(err)
	*d = next
	s.change(local(i.port), true)
	return gone
}
