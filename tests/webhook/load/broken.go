// SPDX-License-Identifier: Apache-2.0

// Load while files that cannot be used replace the certificate, the CA or the policy.

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A fault is one way in which files cannot be used.
type fault struct {
	name string
	make func(f *faults)
}

// The input of the faults: a folder with plain files, and a good pair.
type faults struct {
	dir  string
	ca   *authority
	good *pair
}

func (f *faults) write(name string, text []byte) {
	path := filepath.Join(f.dir, name)
	check(os.WriteFile(path+".new", text, 0o600))
	check(os.Rename(path+".new", path))
}

func (f *faults) put(p *pair) {
	f.clear("tls.crt")
	f.clear("tls.key")
	p.rename(f.dir, 0)
}

func (f *faults) clear(name string) {
	check(os.RemoveAll(filepath.Join(f.dir, name)))
}

func (f *faults) replace(name, how string) {
	path := filepath.Join(f.dir, name)
	f.clear(name)
	switch how {
	case "folder":
		check(os.Mkdir(path, 0o755))
	case "fifo":
		check(syscall.Mkfifo(path, 0o600))
	default:
		check(os.Symlink(how, path))
	}
}

func (f *faults) spoiled(change func(*x509.Certificate)) func(*faults) {
	return func(f *faults) { f.put(f.ca.issue(newKey("p256"), change)) }
}

func half(text []byte) []byte { return text[:len(text)/2] }

func certificateFaults() []fault {
	spoil := func(change func(*x509.Certificate)) func(*faults) {
		return (&faults{}).spoiled(change)
	}
	text := func(name string, make func(f *faults) []byte) func(*faults) {
		return func(f *faults) { f.write(name, make(f)) }
	}
	special := func(name, how string) func(*faults) {
		return func(f *faults) { f.replace(name, how) }
	}
	return []fault{
		{"certificate empty", text("tls.crt", func(*faults) []byte { return nil })},
		{"key empty", text("tls.key", func(*faults) []byte { return nil })},
		{"certificate cut off", text("tls.crt", func(f *faults) []byte { return half(f.good.crt) })},
		{"key cut off", text("tls.key", func(f *faults) []byte { return half(f.good.key) })},
		{"key of another certificate", text("tls.key", func(f *faults) []byte { return f.ca.good().key })},
		{"certificate of another key", text("tls.crt", func(f *faults) []byte { return f.ca.good().crt })},
		{"certificate and key swapped", func(f *faults) { f.put(&pair{crt: f.good.key, key: f.good.crt}) }},
		{"random bytes", text("tls.crt", func(*faults) []byte {
			noise := make([]byte, 1000)
			rand.Read(noise)
			return noise
		})},
		{"DER, not PEM", text("tls.crt", func(f *faults) []byte {
			b, _ := pem.Decode(f.good.crt)
			return b.Bytes
		})},
		{"base64 with a hole", text("tls.crt", func(f *faults) []byte {
			return bytes.Replace(f.good.crt, []byte("\nMII"), []byte("\n!!!"), 1)
		})},
		{"the CA without the leaf", text("tls.crt", func(f *faults) []byte { return f.ca.pem })},
		{"the CA before the leaf", text("tls.crt", func(f *faults) []byte {
			return append(bytes.Clone(f.ca.pem), f.good.crt...)
		})},
		{"expired", spoil(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })},
		{"not yet valid", spoil(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) })},
		{"for clients only", spoil(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		})},
		{"no alternative name", spoil(func(c *x509.Certificate) { c.DNSNames = nil })},
		{"RSA key of 1024 bits", func(f *faults) { f.put(f.ca.issue(weakKey(), nil)) }},
		{"curve P-224", func(f *faults) { f.put(f.ca.issue(newKey("p224"), nil)) }},
		{"encrypted key", text("tls.key", func(f *faults) []byte {
			b, _ := pem.Decode(f.good.key)
			return block("ENCRYPTED PRIVATE KEY", b.Bytes)
		})},
		{"16 MiB of certificate", text("tls.crt", func(f *faults) []byte {
			return append(bytes.Clone(f.good.crt), bytes.Repeat([]byte("# more\n"), 16<<20/7)...)
		})},
		{"certificate removed", func(f *faults) { f.clear("tls.crt") }},
		{"key removed", func(f *faults) { f.clear("tls.key") }},
		{"folder removed", func(f *faults) { check(os.RemoveAll(f.dir)) }},
		{"certificate is a folder", special("tls.crt", "folder")},
		{"key is a FIFO", special("tls.key", "fifo")},
		{"key is /dev/zero", special("tls.key", "/dev/zero")},
		{"link to nothing", special("tls.crt", "nowhere")},
		{"link to itself", special("tls.crt", "tls.crt")},
	}
}

func weakKey() *rsa.PrivateKey {
	os.Setenv("GODEBUG", "rsa1024min=0")
	defer os.Unsetenv("GODEBUG")
	return must(rsa.GenerateKey(rand.Reader, 1024))
}

func goodPolicy(contact string) []byte {
	return []byte("apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n" +
		"extends: [recommended]\ncontact: \"" + contact + "\"\n")
}

func policyFaults() []fault {
	text := func(text string) func(*faults) {
		return func(f *faults) { f.write("policy.yaml", []byte(text)) }
	}
	special := func(how string) func(*faults) {
		return func(f *faults) { f.replace("policy.yaml", how) }
	}
	good := string(goodPolicy("#broken"))
	return []fault{
		{"policy empty", text("")},
		{"policy cut off", text(good[:len(good)-30])},
		{"not YAML", text(good + "rules: {a: [}\n")},
		{"unknown field", text(good + "rulez: {}\n")},
		{"unknown action", text(good + "rules: {shm-missing: {action: destroy}}\n")},
		{"unknown mode", text(strings.Replace(good, "enforce", "enforced", 1))},
		{"unknown preset", text(strings.Replace(good, "[recommended]", "[recomended]", 1))},
		{"another kind", text(strings.Replace(good, "kind: Policy", "kind: Pod", 1))},
		{"another version", text(strings.Replace(good, "gpugate.dev/v1", "gpugate.dev/v9", 1))},
		{"exemption without an end", text(good + "exempt: [{namespaces: [a], until: someday}]\n")},
		{"random bytes", text("\xff\xfe\x00\x01\x80\x80\x80\n")},
		{"aliases that grow", text(bomb(good))},
		{"deep nesting", text(good + "rules: " + strings.Repeat("[", 20000) + "\n")},
		{"32 MiB", text(good + strings.Repeat("# more\n", 32<<20/7))},
		{"policy removed", func(f *faults) { f.clear("policy.yaml") }},
		{"policy is a FIFO", special("fifo")},
		{"policy is /dev/zero", special("/dev/zero")},
		{"link to nothing", special("nowhere")},
		{"link to itself", special("policy.yaml")},
	}
}

func bomb(good string) string {
	var out strings.Builder
	out.WriteString(good + "custom:\n- &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		now, last := string(rune('b'+i)), string(rune('a'+i))
		if i == 0 {
			last = "a0"
		}
		out.WriteString("- &" + now + " [" + strings.Repeat("*"+last+", ", 9) + "]\n")
	}
	return out.String()
}

// A hospital runs gpugated under load with the faults of one kind of file.
type hospital struct {
	*bench
	d                  *daemon
	metric             string
	heal               func(i int)
	inUse              func() string // shows which file is in use
	silent, used, left []string      // faults with a wrong outcome
}

// broken installs unusable files, one kind after the other, under load: the
// last good ones stay in use, the metric and the log report it, and the next
// good ones are used.
func broken(b *bench) {
	certificates := &faults{dir: filepath.Join(b.dir, "broken"), ca: newAuthority("CA")}
	policies := &faults{dir: filepath.Join(b.dir, "policies")}
	check(os.MkdirAll(certificates.dir, 0o755))
	check(os.MkdirAll(policies.dir, 0o755))
	trusted := &trust{}
	trusted.set(certificates.ca)
	certificates.good = certificates.ca.good()
	certificates.put(certificates.good)
	policies.write("policy.yaml", goodPolicy("#contact-0"))
	d, err := b.begin(setup{name: "broken", folder: certificates.dir,
		more: []string{"--policy", filepath.Join(policies.dir, "policy.yaml")}})
	b.must(err)
	address := local(d.port)
	keep, fresh := newCaller(address, trusted, true), newCaller(address, trusted, false)
	var load traffic
	load.workers(8, 10*time.Millisecond, func(i int) error { return keep.ask(b.either(i)) })
	load.workers(4, 20*time.Millisecond, func(i int) error { return fresh.ask(b.either(i)) })

	first := &hospital{bench: b, d: d, metric: "gpugate_certificate_reload_failures_total",
		heal: func(int) {
			check(os.MkdirAll(certificates.dir, 0o755))
			certificates.good = certificates.ca.good()
			certificates.put(certificates.good)
		},
		inUse: func() string {
			seen, err := serial(address, trusted)
			if err != nil {
				return err.Error()
			}
			return seen
		}}
	first.treat(certificateFaults(), certificates)
	second := &hospital{bench: b, d: d, metric: "gpugate_policy_reload_failures_total",
		heal: func(i int) {
			policies.clear("policy.yaml")
			policies.write("policy.yaml", goodPolicy("#contact-"+string(rune('A'+i))))
		},
		inUse: func() string { return contactOf(keep, b.deny) }}
	second.treat(policyFaults(), policies)
	load.stop()
	b.check(load.lost.Load() == 0 && d.alive(),
		"%d of %d requests lost meanwhile (p99 %v, max %v)%s", load.lost.Load(),
		load.asked.Load(), load.percentile(99).Round(100*time.Microsecond),
		load.slow.Round(time.Millisecond), load.losses())
}

// contactOf returns the last line of a denial, which is the contact of the
// policy in use.
func contactOf(c *caller, deny *review) string {
	body, _ := deny.body()
	_, answer, err := c.post(deny, body)
	if err != nil {
		return err.Error()
	}
	at := bytes.Index(answer, []byte("#contact-"))
	if at < 0 {
		return "none"
	}
	return string(answer[at : at+len("#contact-")+1])
}

func (h *hospital) treat(list []fault, f *faults) {
	var worst time.Duration
	for i, fault := range list {
		good, lines := h.inUse(), h.d.nlines()
		failures := h.d.metric(h.metric)
		fault.make(f)
		told := until(5*time.Second, func() bool { return h.d.metric(h.metric) > failures })
		_, said := h.d.logged(lines, time.Second, `"error"`, "not used")
		if !told || !said {
			h.silent = append(h.silent, fault.name)
		}
		if h.inUse() != good || !h.d.ready() {
			h.used = append(h.used, fault.name)
		}
		begin := time.Now()
		h.heal(i)
		if !until(5*time.Second, func() bool { return h.inUse() != good }) {
			h.left = append(h.left, fault.name)
		}
		worst = max(worst, time.Since(begin))
	}
	h.check(len(h.silent) == 0, "%s: %d of %d faults are counted and logged%v",
		h.metric, len(list)-len(h.silent), len(list), names(h.silent))
	h.check(len(h.used) == 0, "the last good file stays in use and /readyz good with %d of %d faults%v",
		len(list)-len(h.used), len(list), names(h.used))
	h.check(len(h.left) == 0, "the next good file is used after %d of %d faults, %v at most after it came%v",
		len(list)-len(h.left), len(list), worst.Round(time.Millisecond), names(h.left))
}

func names(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "; not with: " + strings.Join(list, ", ")
}
