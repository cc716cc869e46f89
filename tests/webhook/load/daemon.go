// SPDX-License-Identifier: Apache-2.0

// Starts gpugated and follows its log.

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A daemon is one gpugated process and its log.
type daemon struct {
	cmd         *exec.Cmd
	port, probe int
	state       *os.ProcessState // set once it has ended
	done        chan struct{}    // closed when it has ended
	muted       atomic.Bool      // its log is no longer read
	mu          sync.Mutex
	lines       []string
}

var (
	runningMu sync.Mutex
	running   = map[*daemon]bool{}
)

// launch starts a process; wrap comes before its name ("prlimit ...").
func (b *bench) launch(name string, wrap []string, args ...string) (*daemon, error) {
	words := append(append([]string{}, wrap...), b.gpugated)
	words = append(words, args...)
	d := &daemon{cmd: exec.Command(words[0], words[1:]...),
		done: make(chan struct{})}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(b.dir, name+".log"),
		os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	runningMu.Lock()
	running[d] = true
	runningMu.Unlock()
	go d.follow(stderr, file)
	return d, nil
}

func (d *daemon) follow(stderr io.ReadCloser, file *os.File) {
	scan := bufio.NewScanner(stderr)
	scan.Buffer(nil, 1<<20)
	for !d.muted.Load() && scan.Scan() {
		fmt.Fprintln(file, scan.Text())
		d.mu.Lock()
		d.lines = append(d.lines, scan.Text())
		d.mu.Unlock()
	}
	// cmd.Wait() is not used, because it closes the pipe, and EPIPE is
	// tested separately.
	d.state, _ = d.cmd.Process.Wait()
	stderr.Close()
	file.Close()
	runningMu.Lock()
	delete(running, d)
	runningMu.Unlock()
	close(d.done)
}

// logged waits until a line from number `from` on contains all the texts.
func (d *daemon) logged(from int, wait time.Duration, texts ...string) (string, bool) {
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		d.mu.Lock()
		lines := d.lines[min(from, len(d.lines)):]
		d.mu.Unlock()
		for _, line := range lines {
			if hasAll(line, texts) {
				return line, true
			}
		}
		if time.Now().After(end) {
			return "", false
		}
	}
}

func hasAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}

func (d *daemon) nlines() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.lines)
}

func (d *daemon) alive() bool {
	select {
	case <-d.done:
		return false
	default:
		return true
	}
}

func (d *daemon) signal(s syscall.Signal) { d.cmd.Process.Signal(s) }

// stop ends the process and returns whether its exit status is 0.
func (d *daemon) stop() bool {
	d.signal(syscall.SIGINT)
	select {
	case <-d.done:
	case <-time.After(3 * time.Second):
		d.signal(syscall.SIGKILL)
		<-d.done
	}
	return d.state.ExitCode() == 0
}

func stopAll() {
	runningMu.Lock()
	var all []*daemon
	for d := range running {
		all = append(all, d)
	}
	runningMu.Unlock()
	for _, d := range all {
		d.stop()
	}
}

func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func local(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

var plain = &http.Client{Timeout: 5 * time.Second,
	Transport: &http.Transport{DisableKeepAlives: true}}

func get(port int, path string) (int, string, error) {
	answer, err := plain.Get("http://" + local(port) + path)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

func (d *daemon) ready() bool {
	status, _, err := get(d.probe, "/readyz")
	return err == nil && status == 200
}

// metric returns the value of a metric without labels, or with exactly the
// labels in its name; -1 if it is missing.
func (d *daemon) metric(name string) float64 {
	_, text, err := get(d.probe, "/metrics")
	if err != nil {
		return -1
	}
	for _, line := range strings.Split(text, "\n") {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			n, _ := strconv.ParseFloat(rest, 64)
			return n
		}
	}
	return -1
}

func until(wait time.Duration, done func() bool) bool {
	for end := time.Now().Add(wait); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// A setup contains the arguments with which gpugated is started.
type setup struct {
	name        string
	port, probe int    // 0: any
	folder      string // contains tls.crt and tls.key
	wrap        []string
	more        []string
}

// begin starts gpugated and waits until it is ready.
func (b *bench) begin(s setup) (*daemon, error) {
	if s.port == 0 {
		s.port = freePort()
	}
	if s.probe == 0 {
		s.probe = freePort()
	}
	args := append([]string{
		"--listen", local(s.port), "--probe-listen", local(s.probe),
		"--tls-cert", filepath.Join(s.folder, "tls.crt"),
		"--tls-key", filepath.Join(s.folder, "tls.key"),
	}, s.more...)
	d, err := b.launch(s.name, s.wrap, args...)
	if err != nil {
		return nil, err
	}
	d.port, d.probe = s.port, s.probe
	if !until(10*time.Second, func() bool { return d.ready() || !d.alive() }) ||
		!d.alive() {
		return nil, fmt.Errorf("gpugated is not ready: %s",
			strings.Join(d.lines, "\n"))
	}
	return d, nil
}
