// SPDX-License-Identifier: Apache-2.0

// A long load with reloads: memory and descriptors must not grow.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A sample is the private memory of a process in KiB, and its descriptors.
type sample struct{ memory, descriptors int }

func (d *daemon) sample() (s sample) {
	folder := fmt.Sprintf("/proc/%d/", d.cmd.Process.Pid)
	status, _ := os.ReadFile(folder + "status")
	if _, rest, found := strings.Cut(string(status), "RssAnon:"); found {
		fmt.Sscan(rest, &s.memory)
	}
	entries, _ := os.ReadDir(folder + "fd")
	s.descriptors = len(entries)
	return s
}

// usual returns the median of the samples of a quarter, 0 to 3. On a busy
// machine, the maximum consists of connections that wait to be closed; a leak
// would raise all samples.
func usual(samples []sample, quarter int) sample {
	n := len(samples)
	var memory, descriptors []int
	for _, one := range samples[n*quarter/4 : n*(quarter+1)/4] {
		memory = append(memory, one.memory)
		descriptors = append(descriptors, one.descriptors)
	}
	slices.Sort(memory)
	slices.Sort(descriptors)
	return sample{memory[len(memory)/2], descriptors[len(descriptors)/2]}
}

// soak keeps gpugated busy with permanent and with changing clients, and with a
// new certificate and a reload every two seconds. Memory and descriptors in the
// last quarter may hardly exceed those in the second.
func soak(b *bench) {
	seconds := setting("SOAK_SECONDS", 40)
	secret := &volume{dir: filepath.Join(b.dir, "soak")}
	policy := filepath.Join(b.dir, "soak.yaml")
	b.must(os.WriteFile(policy, []byte("apiVersion: gpugate.dev/v1\n"+
		"kind: Policy\nmode: enforce\n"), 0o644))
	ca, trusted := newAuthority("CA"), &trust{}
	trusted.set(ca)
	secret.swap(ca.good().files())
	d, err := b.begin(setup{name: "soak", folder: secret.dir,
		more: []string{"--policy", policy, "--threads", "2"}})
	b.must(err)
	var kept, fresh traffic
	keeping, reconnecting := newCaller(local(d.port), trusted, true),
		newCaller(local(d.port), trusted, false)
	kept.workers(8, 10*time.Millisecond, func(i int) error {
		return keeping.ask(b.either(i))
	})
	fresh.workers(4, 50*time.Millisecond, func(i int) error {
		return reconnecting.ask(b.either(i))
	})
	var samples []sample
	for i := range seconds * 2 {
		time.Sleep(500 * time.Millisecond)
		samples = append(samples, d.sample())
		if i%4 == 0 {
			secret.swap(ca.good().files())
			d.signal(syscall.SIGHUP)
		}
	}
	kept.stop()
	fresh.stop()
	lost := kept.lost.Load() + fresh.lost.Load()
	asked := kept.asked.Load() + fresh.asked.Load()
	early, late := usual(samples, 1), usual(samples, 3)
	b.check(lost == 0, "%d of %d requests lost in %d s, with %d reloads%s", lost,
		asked, seconds, (seconds+1)/2, kept.losses()+fresh.losses())
	b.check(late.memory <= early.memory+512 && late.descriptors <= early.descriptors+4,
		"flat: %d KiB of its own and %d descriptors in the second quarter, %d and %d in the last",
		early.memory, early.descriptors, late.memory, late.descriptors)
	b.row(fmt.Sprintf("memory of its own in %d s with %d reloads", seconds, (seconds+1)/2),
		fmt.Sprintf("%d KiB, at last %d KiB", early.memory, late.memory),
		fmt.Sprintf("%d requests", asked))
	b.row("descriptors meanwhile", fmt.Sprintf("%d, at last %d",
		early.descriptors, late.descriptors), "")
}
