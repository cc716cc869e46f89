// SPDX-License-Identifier: Apache-2.0

// Load of ordinary reviews while other clients send expensive ones.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const attackers = 4

// An onslaught counts the results of expensive reviews.
type onslaught struct {
	Denied, Refused, Lost int
	Times                 []time.Duration // latencies of the denials
}

// attack posts the review in the file repeatedly on four connections, until its
// standard input ends. It is a separate process, so that it can have a low
// priority; in practice it would run on another machine.
func attack(address, file string) {
	body, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	var all onslaught
	done := make(chan struct{})
	for range attackers {
		wait.Go(func() { all.repeat(&mu, address, body, done) })
	}
	io.ReadAll(os.Stdin)
	close(done)
	wait.Wait()
	json.NewEncoder(os.Stdout).Encode(&all)
}

func (o *onslaught) repeat(mu *sync.Mutex, address string, body []byte, done chan struct{}) {
	c := newCaller(address, &trust{}, true)
	c.transport().TLSClientConfig.VerifyConnection = nil
	r := &review{path: "/validate"}
	for {
		select {
		case <-done:
			return
		default:
		}
		begin := time.Now()
		status, answer, err := c.post(r, body)
		took := time.Since(begin)
		mu.Lock()
		switch {
		case err == nil && status == 200 && bytes.Contains(answer, []byte(`"allowed":false`)):
			o.Denied++
			o.Times = append(o.Times, took)
		case err == nil && status == 429:
			o.Refused++
		default:
			o.Lost++
		}
		mu.Unlock()
		if status == 429 {
			time.Sleep(time.Second) // as Retry-After requires
		}
	}
}

// assault runs attack() against the server while `meanwhile` runs.
func (b *bench) assault(address, file string, meanwhile func()) (o onslaught) {
	cmd := exec.Command("nice", "-n", "19", os.Args[0], "attack", address, file)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	b.must(err)
	out, err := cmd.StdoutPipe()
	b.must(err)
	b.must(cmd.Start())
	time.Sleep(300 * time.Millisecond)
	meanwhile()
	in.Close()
	b.must(json.NewDecoder(out).Decode(&o))
	b.must(cmd.Wait())
	return o
}

// A siege contains one server's answers to ordinary reviews, alone and during
// the attack, in turns. The median of the turns' percentiles counts, because
// other work of the machine affects some turns.
type siege struct {
	server       *measured
	lines        []*line
	alone, among []*traffic
	asked, lost  int64
	onslaught
}

func (b *bench) newSiege(server *measured) *siege {
	all, err := server.dialAll()
	b.must(err)
	return &siege{server: server, lines: all}
}

func (p *siege) turn(b *bench, file string) {
	const rate, long = 500, 500 * time.Millisecond
	p.alone = append(p.alone, p.server.pace(p.lines, rate, long))
	o := b.assault(p.server.address, file, func() {
		p.among = append(p.among, p.server.pace(p.lines, rate, long))
	})
	p.Denied, p.Refused, p.Lost = p.Denied+o.Denied, p.Refused+o.Refused, p.Lost+o.Lost
	p.Times = append(p.Times, o.Times...)
}

func middle(turns []*traffic, percent float64) float64 {
	var all []time.Duration
	for _, t := range turns {
		all = append(all, t.percentile(percent))
	}
	slices.Sort(all)
	return ms(all[len(all)/2])
}

func (p *siege) String() string {
	return fmt.Sprintf("p50 %.2f, p99 %.2f ms; alone p50 %.2f, p99 %.2f ms",
		middle(p.among, 50), middle(p.among, 99),
		middle(p.alone, 50), middle(p.alone, 99))
}

// hostile compares the latency of ordinary reviews alone with their latency
// while four clients send expensive reviews. The clients run on the same
// processors; for comparison, the same is measured for a server that reads the
// bodies but checks nothing.
func hostile(b *bench) {
	body, err := os.ReadFile(filepath.Join(b.dir, "bodies", "large.json"))
	b.must(err)
	dir := filepath.Join(b.dir, "hostile-server")
	policy := filepath.Join(b.dir, "enforce.yaml")
	b.must(os.WriteFile(policy, []byte("apiVersion: gpugate.dev/v1\n"+
		"kind: Policy\nmode: enforce\n"), 0o644))
	ca, trusted := newAuthority("CA"), &trust{}
	trusted.set(ca)
	(&volume{dir: dir}).swap(ca.good().files())
	d, err := b.begin(setup{name: "hostile", folder: dir, more: []string{
		"--policy", policy, "--threads", "2", "--log-level", "error",
		"--max-memory", "47Mi"}})
	b.must(err)
	ours := newMeasured(d, trusted, body)
	floor, stop := b.floor(ours, dir)
	if floor != nil {
		defer stop()
	}
	files, err := filepath.Glob(filepath.Join(b.dir, "hostile", "*.json"))
	b.must(err)
	for _, file := range files {
		b.besiege(file, ours, floor)
	}
	used := d.peak()
	b.check(used <= 56, "peak %.1f MiB (16 more than --max-memory, at most)", used)
}

func (b *bench) besiege(file string, ours, floor *measured) {
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	judged, beside := b.newSiege(ours), ""
	defer hangUp(judged.lines)
	var static *siege
	if floor != nil {
		static = b.newSiege(floor)
		defer hangUp(static.lines)
	}
	for range setting("HOSTILE_TURNS", 10) {
		judged.turn(b, file)
		if floor != nil {
			static.turn(b, file)
		}
	}
	var lost int64
	for _, t := range append(judged.alone, judged.among...) {
		lost += t.lost.Load()
	}
	b.check(judged.Lost == 0 && judged.Denied > 0 && lost == 0,
		"%s: %d denied, %d answers 429, %d lost; ordinary reviews: %d lost",
		name, judged.Denied, judged.Refused, judged.Lost, lost)
	slices.Sort(judged.Times)
	half, worst := judged.Times[len(judged.Times)/2], judged.Times[len(judged.Times)-1]
	ratio := middle(judged.among, 99) / middle(judged.alone, 99)
	text := fmt.Sprintf("denied in %.0f ms, at most %.0f; ordinary reviews %s: %.2f times",
		ms(half), ms(worst), judged, ratio)
	if static != nil {
		beside = static.String()
	}
	b.figure(worst <= 200*time.Millisecond && ratio <= 1.2,
		"%s: %s (200 ms; 1.2 times)", name, text)
	b.row(name, text, beside)
}

// peak returns the maximum memory of the process, in MiB.
func (d *daemon) peak() float64 {
	var kib float64
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
		fmt.Sscan(rest, &kib)
	}
	return kib / 1024
}
