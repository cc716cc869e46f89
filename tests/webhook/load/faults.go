// SPDX-License-Identifier: Apache-2.0

// Load while the policy is missing, files run out, or the log cannot be written.

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A patient is gpugated with a policy folder, under load from clients that keep
// connections.
type patient struct {
	*bench
	d              *daemon
	secret, policy *volume
	trusted        *trust
	caller         *caller
	load           traffic
}

func (b *bench) patient(name string, wrap []string, more ...string) *patient {
	p := &patient{bench: b, trusted: &trust{},
		secret: &volume{dir: filepath.Join(b.dir, name+"-secret")},
		policy: &volume{dir: filepath.Join(b.dir, name+"-policy")}}
	ca := newAuthority("CA")
	p.trusted.set(ca)
	p.secret.swap(ca.good().files())
	p.policy.swap(content{"policy.yaml": goodPolicy("#contact-0")})
	d, err := b.begin(setup{name: name, wrap: wrap, folder: p.secret.dir,
		more: append([]string{"--policy", p.policy.dir}, more...)})
	b.must(err)
	p.d = d
	p.caller = newCaller(local(d.port), p.trusted, true)
	p.load.workers(8, 2*time.Millisecond, func(i int) error {
		return p.caller.ask(b.either(i))
	})
	return p
}

// end reports the result; on SIGTERM the process must exit with status 0.
func (p *patient) end(format string, args ...any) {
	p.load.stop()
	p.caller.transport().CloseIdleConnections()
	lived := p.d.alive() && p.d.ready()
	code := p.d.stop()
	args = append(args, p.load.lost.Load(), p.load.asked.Load(),
		p.load.percentile(99).Round(100*time.Microsecond),
		p.load.slow.Round(time.Millisecond), p.load.losses())
	p.check(p.load.lost.Load() == 0 && lived && code,
		format+": %d of %d requests lost, ready and ends with 0 (p99 %v, max %v)%s", args...)
}

func storm(b *bench) {
	p := b.patient("storm", nil)
	sent, end := 0, time.Now().Add(time.Duration(setting("STORM_SECONDS", 10))*time.Second)
	for ; time.Now().Before(end); sent++ {
		p.d.signal(syscall.SIGHUP)
		time.Sleep(10 * time.Millisecond)
	}
	p.end("%d SIGHUPs", sent)
}

func policyGone(b *bench) {
	const metric = "gpugate_policy_reload_failures_total"
	p := b.patient("gone", nil)
	away := p.policy.dir + ".away"
	told, back := 0, 0
	for i := range 5 {
		failures := p.d.metric(metric)
		check(os.Rename(p.policy.dir, away))
		if until(5*time.Second, func() bool { return p.d.metric(metric) > failures }) &&
			contactOf(p.caller, b.deny) != "none" {
			told++
		}
		check(os.Rename(away, p.policy.dir))
		mark := "#contact-" + string(rune('A'+i))
		p.policy.swap(content{"policy.yaml": goodPolicy(mark)})
		if until(5*time.Second, func() bool { return contactOf(p.caller, b.deny) == mark }) {
			back++
		}
	}
	b.check(told == 5 && back == 5,
		"policy folder removed 5 times: %d times counted and the last one kept, %d times the next one used", told, back)
	p.end("policy folder removed and put back")
}

// fewFiles leaves descriptors for only some connections, and lets more clients
// connect and stay.
func fewFiles(b *bench) {
	p := b.patient("files", []string{"prlimit", "--nofile=256:256"})
	squatters := newCrowd(local(p.d.port), p.trusted)
	squatters.come(400, 2*time.Second, idle)
	time.Sleep(4 * time.Second)
	ready, tries := 0, 40
	fresh, late := &traffic{}, newCaller(local(p.d.port), p.trusted, false)
	fresh.rate(5, func(i int) error { return late.ask(b.either(i)) })
	for range tries {
		if p.d.ready() {
			ready++
		}
		time.Sleep(200 * time.Millisecond)
	}
	fresh.stop()
	// Reloading the pair also needs descriptors.
	p.d.signal(syscall.SIGHUP)
	_, loaded := p.d.logged(0, 3*time.Second, "reloading")
	kept := p.d.metric("gpugate_certificate_reload_failures_total") == 0 &&
		p.d.metric("gpugate_policy_reload_failures_total") == 0
	squatters.leave()
	b.check(ready == tries && loaded && kept,
		"256 descriptors, 400 idle clients: /readyz good %d of %d times, files are read again", ready, tries)
	b.check(fresh.lost.Load() == 0, "256 descriptors: %d of %d new clients not served (max %v)%s",
		fresh.lost.Load(), fresh.asked.Load(), fresh.slow.Round(time.Millisecond), fresh.losses())
	p.end("256 descriptors")
}

// noLog uses logs that cannot be written: a full disk, and a pipe without a
// reader.
func noLog(b *bench) {
	p := b.patient("full", []string{"sh", "-c", `exec "$@" 2>/dev/full`, "sh"})
	time.Sleep(2 * time.Second)
	p.end("log on a full disk")
	// Denials of objects with different names, so that each is logged.
	p = b.patient("stuck", nil, "--log-level", "debug")
	p.d.muted.Store(true)
	for i := range 400 {
		named := *b.deny
		named.after = bytes.ReplaceAll(named.after, []byte("train"),
			fmt.Appendf(nil, "train-%d", i))
		if err := p.caller.ask(&named); err != nil {
			p.load.note(0, err)
		}
	}
	time.Sleep(2 * time.Second)
	p.end("log in a pipe that nobody reads (64 KiB)")
}

func faultsOfIO(b *bench) {
	storm(b)
	policyGone(b)
	fewFiles(b)
	noLog(b)
}

// mixed puts all loads at once, then a drain, on a gpugated built with a
// sanitizer. The reports of the sanitizer are in the log.
func mixed(b *bench) {
	p := b.patient("mixed", nil, "--sandbox", "off", "--drain", "5",
		"--max-in-flight", "8", "--timeout", "2")
	p.caller.retries = true
	fresh := newCaller(local(p.d.port), p.trusted, false)
	fresh.retries = true
	p.load.workers(4, 10*time.Millisecond, func(i int) error { return fresh.ask(b.either(i)) })
	slows := newCrowd(local(p.d.port), p.trusted)
	slows.come(10, time.Second, slowHandshake)
	slows.come(10, time.Second, slowBody)
	slows.come(10, time.Second, slowHeader)
	ca := newAuthority("CA")
	end := time.Now().Add(time.Duration(setting("MIXED_SECONDS", 20)) * time.Second)
	for i := 0; time.Now().Before(end); i++ {
		next := newAuthority("CA next")
		p.trusted.add(ca, next)
		ca = next
		p.secret.swap(ca.good().files())
		p.policy.swap(content{"policy.yaml": goodPolicy("#contact-" + string(rune('A'+i%26)))})
		p.d.signal(syscall.SIGHUP)
		p.d.metric("gpugate_in_flight")
		p.d.ready()
		time.Sleep(200 * time.Millisecond)
	}
	p.d.signal(syscall.SIGTERM)
	time.Sleep(time.Second)
	p.load.stop()
	slows.leave()
	p.caller.transport().CloseIdleConnections()
	<-p.d.done
	p.d.mu.Lock()
	words := strings.Join(p.d.lines, "\n")
	p.d.mu.Unlock()
	found := strings.Count(words, "WARNING: ThreadSanitizer") +
		strings.Count(words, "ERROR: AddressSanitizer") +
		strings.Count(words, "runtime error:")
	b.check(p.load.lost.Load() == 0, "mixed load, reloads, drain: %d of %d requests lost%s",
		p.load.lost.Load(), p.load.asked.Load(), p.load.losses())
	b.check(found == 0 && p.d.state.ExitCode() == 0,
		"%d findings of a sanitizer, ended with %d", found, p.d.state.ExitCode())
}
