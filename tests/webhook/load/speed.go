// SPDX-License-Identifier: Apache-2.0

// Measures the rate and the latency of reviews and, for comparison, of a static
// answer.

package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const lines = 64 // connections, which are kept

// A server that is measured: gpugated, or one that checks nothing.
type measured struct {
	address string
	trusted *trust
	pid     int
	want    []byte
	request []byte
}

// newMeasured uses a review that is allowed.
func newMeasured(d *daemon, trusted *trust, body []byte) *measured {
	return &measured{address: local(d.port), trusted: trusted,
		pid: d.cmd.Process.Pid, want: []byte(`"allowed":true`),
		request: fmt.Appendf(nil, "POST /validate?timeout=10s HTTP/1.1\r\nHost: %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			serverName, len(body), body)}
}

// A line is one connection with a minimal client.
type line struct {
	conn *tls.Conn
	in   *bufio.Reader
}

func (m *measured) dial() (*line, error) {
	conn, err := tls.Dial("tcp", m.address, m.trusted.config())
	if err != nil {
		return nil, err
	}
	return &line{conn, bufio.NewReader(conn)}, nil
}

func (m *measured) ask(l *line) error {
	if _, err := l.conn.Write(m.request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != 200 || !bytes.Contains(text, m.want)) {
		err = fmt.Errorf("status %d: %.200s", answer.StatusCode, text)
	}
	return err
}

// dialAll opens the connections of run.
func (m *measured) dialAll() ([]*line, error) {
	var all []*line
	for range lines {
		l, err := m.dial()
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func hangUp(all []*line) {
	for _, l := range all {
		l.conn.Close()
	}
}

// run posts a review on each line at every time from due, until due is closed;
// the latency of an answer counts from that time.
func (m *measured) run(all []*line, t *traffic, due <-chan time.Time) {
	var wait sync.WaitGroup
	for _, l := range all {
		wait.Go(func() {
			for at := range due {
				err := m.ask(l)
				t.note(time.Since(at), err)
				if err != nil {
					return
				}
			}
		})
	}
	wait.Wait()
}

// saturate posts as fast as answers arrive, and returns the answers per second
// and the server's processor time per answer in microseconds.
func (m *measured) saturate(long time.Duration) (rate, cost float64, t *traffic, err error) {
	t = &traffic{}
	all, err := m.dialAll()
	if err != nil {
		return 0, 0, t, err
	}
	defer hangUp(all)
	due := make(chan time.Time)
	begin, before := time.Now(), ticks(m.pid)
	go func() {
		for time.Since(begin) < long {
			due <- time.Now()
		}
		close(due)
	}()
	m.run(all, t, due)
	n := float64(t.asked.Load() - t.lost.Load())
	return n / time.Since(begin).Seconds(),
		(ticks(m.pid) - before) * 1e6 / max(n, 1), t, nil
}

// pace posts at fixed times, whether or not answers have arrived.
func (m *measured) pace(all []*line, rate float64, long time.Duration) *traffic {
	t := &traffic{}
	n := int(rate * long.Seconds())
	due := make(chan time.Time, n)
	begin := time.Now()
	go func() {
		for i := range n {
			at := begin.Add(time.Duration(float64(i) / rate * 1e9))
			if rest := time.Until(at); rest > 0 {
				time.Sleep(rest)
			}
			due <- at
		}
		close(due)
	}()
	m.run(all, t, due)
	return t
}

// ticks returns the seconds of processor time of a process.
func ticks(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var user, system float64
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
	return (user + system) / 100
}

// floor starts a server with the same library and a static answer, if FLOOR
// names one: it shows the maximum of this machine.
func (b *bench) floor(ours *measured, dir string) (*measured, func()) {
	if os.Getenv("FLOOR") == "" {
		return nil, nil
	}
	cmd := exec.Command(os.Getenv("FLOOR"), filepath.Join(dir, "tls.crt"),
		filepath.Join(dir, "tls.key"), "2")
	out, err := cmd.StdoutPipe()
	b.must(err)
	b.must(cmd.Start())
	var port int
	_, err = fmt.Fscanf(out, "listening %d\n", &port)
	b.must(err)
	floor := *ours
	floor.address, floor.pid, floor.want = local(port), cmd.Process.Pid, nil
	return &floor, func() { cmd.Process.Kill(); cmd.Wait() }
}

// speed measures Pods of 20 KiB, checked by all rules: the maximum rate, and
// the latencies at half of it.
func speed(b *bench) {
	long := time.Duration(setting("SPEED_SECONDS", 5)) * time.Second
	body, err := os.ReadFile(filepath.Join(b.dir, "bodies", "large.json"))
	b.must(err)
	dir, policy := filepath.Join(b.dir, "speed"), filepath.Join(b.dir, "all.yaml")
	b.must(os.WriteFile(policy, []byte("apiVersion: gpugate.dev/v1\n"+
		"kind: Policy\nextends: [all]\nmode: enforce\n"), 0o644))
	ca, trusted := newAuthority("CA"), &trust{}
	trusted.set(ca)
	(&volume{dir: dir}).swap(ca.good().files())
	d, err := b.begin(setup{name: "speed", folder: dir, more: []string{
		"--policy", policy, "--threads", "2", "--log-level", "error"}})
	b.must(err)
	ours := newMeasured(d, trusted, body)
	rate, most, half := b.measure(ours, long, 0)
	var floorMost, floorHalf string
	if floor, stop := b.floor(ours, dir); floor != nil {
		_, floorMost, floorHalf = b.measure(floor, long, rate/2)
		stop()
	}
	b.row(fmt.Sprintf("reviews of Pods of %d KiB, all rules, saturated",
		len(body)>>10), most, floorMost)
	b.row(fmt.Sprintf("at %.0f/s, half of that, open loop", rate/2), half, floorHalf)
}

// measure returns the maximum rate, and the latencies at `rate`, or at half of
// the maximum.
func (b *bench) measure(m *measured, long time.Duration, rate float64) (float64, string, string) {
	most, cost, busy, err := m.saturate(long)
	b.must(err)
	name, strict := "gpugated", rate == 0
	if !strict {
		name = "a static answer"
	} else {
		rate = most / 2
	}
	all, err := m.dialAll()
	b.must(err)
	defer hangUp(all)
	t := m.pace(all, rate, long)
	b.check(busy.lost.Load()+t.lost.Load() == 0, "%s: %d of %d requests lost%s", name,
		busy.lost.Load()+t.lost.Load(), busy.asked.Load()+t.asked.Load(),
		busy.losses()+t.losses())
	text := fmt.Sprintf("p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms",
		ms(t.percentile(50)), ms(t.percentile(99)), ms(t.percentile(99.9)))
	much := fmt.Sprintf("%.0f/s, %.0f µs of processor each", most, cost)
	b.figure(!strict || most >= 5000, "%s: %s (at least 5000/s)", name, much)
	b.figure(!strict || t.percentile(99) <= 5*time.Millisecond,
		"%s at %.0f/s, open loop: %s (p99 at most 5 ms)", name, rate, text)
	return most, much, text
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }
