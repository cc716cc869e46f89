// SPDX-License-Identifier: Apache-2.0

// Load while the API server is down and comes back.

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The kinds that the server has; others are not installed.
var served = map[string]string{
	"namespaces": "Namespace", "resourcequotas": "ResourceQuota",
	"limitranges": "LimitRange", "nodes": "Node", "pods": "Pod",
	"persistentvolumeclaims": "PersistentVolumeClaim",
	"poddisruptionbudgets":   "PodDisruptionBudget",
	"networkpolicies":        "NetworkPolicy",
	"priorityclasses":        "PriorityClass", "runtimeclasses": "RuntimeClass",
	"deviceclasses":  "DeviceClass",
	"resourceslices": "ResourceSlice",
}

// An apiServer has no objects, but lists and watches that stay open.
type apiServer struct {
	pair    tls.Certificate
	address string
	server  *http.Server
	gone    chan struct{}
}

func (a *apiServer) come() error {
	address := a.address
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	a.address = listener.Addr().String()
	a.gone = make(chan struct{})
	a.server = &http.Server{Handler: http.HandlerFunc(a.answer),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{a.pair}}}
	go a.server.ServeTLS(listener, "", "")
	return nil
}

func (a *apiServer) leave() {
	close(a.gone)
	a.server.Close()
}

func (a *apiServer) answer(w http.ResponseWriter, r *http.Request) {
	plural := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	version := strings.TrimPrefix(strings.TrimPrefix(
		strings.TrimSuffix(r.URL.Path, "/"+plural), "/apis/"), "/api/")
	kind := served[plural]
	if kind == "" {
		http.NotFound(w, r)
		return
	}
	meta := map[string]string{"resourceVersion": "1"}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") != "true" {
		json.NewEncoder(w).Encode(map[string]any{"kind": kind + "List",
			"apiVersion": version, "metadata": meta, "items": []any{}})
		return
	}
	for {
		json.NewEncoder(w).Encode(map[string]any{"type": "BOOKMARK",
			"object": map[string]any{"kind": kind,
				"apiVersion": version, "metadata": meta}})
		w.(http.Flusher).Flush()
		select {
		case <-a.gone:
			return
		case <-r.Context().Done():
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// away stops and starts the API server while reviews continue: no review is
// lost, the state is updated each time, and no resources are leaked.
func away(b *bench) {
	times := setting("AWAY_TIMES", 20)
	secret := &volume{dir: filepath.Join(b.dir, "away")}
	ca, trusted := newAuthority("CA"), &trust{}
	trusted.set(ca)
	secret.swap(ca.good().files())
	p := ca.issue(newKey("p256"), func(template *x509.Certificate) {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	})
	pair, err := tls.X509KeyPair(p.crt, p.key)
	b.must(err)
	api := &apiServer{pair: pair}
	b.must(api.come())
	config := filepath.Join(b.dir, "kubeconfig")
	b.must(os.WriteFile(config+".ca", ca.pem, 0o644))
	b.must(os.WriteFile(config, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://%s", certificate-authority: %s.ca}}]
users: [{name: a, user: {token: t}}]
`, api.address, config), 0o600))
	d, err := b.begin(setup{name: "away", folder: secret.dir,
		more: []string{"--kubeconfig", config, "--threads", "1"}})
	b.must(err)
	const age = "gpugate_cluster_state_age_seconds"
	var load traffic
	c := newCaller(local(d.port), trusted, true)
	load.workers(4, 20*time.Millisecond, func(i int) error { return c.ask(b.either(i)) })
	early, back, slowest := d.sample(), 0, time.Duration(0)
	for i := range times {
		api.leave()
		// With a server, the state never gets this old.
		aged := until(20*time.Second, func() bool { return d.metric(age) > 1.5 })
		b.must(api.come())
		begin := time.Now()
		if until(30*time.Second, func() bool {
			now := d.metric(age)
			return now >= 0 && now < 1
		}) && aged {
			back++
		}
		slowest = max(slowest, time.Since(begin))
		if i == times/4 {
			early = d.sample()
		}
	}
	load.stop()
	late := d.sample()
	b.check(load.lost.Load() == 0, "%d of %d requests lost%s", load.lost.Load(),
		load.asked.Load(), load.losses())
	b.check(back == times, "the API server away %d times: the state was new again %d times, after %.1f s at most",
		times, back, slowest.Seconds())
	b.check(late.memory <= early.memory+512 && late.descriptors <= early.descriptors+4,
		"flat: %d KiB of its own and %d descriptors, at last %d and %d",
		early.memory, early.descriptors, late.memory, late.descriptors)
	b.row(fmt.Sprintf("API server away %d times: requests lost", times),
		fmt.Sprintf("%d of %d", load.lost.Load(), load.asked.Load()),
		fmt.Sprintf("new state after %.1f s at most", slowest.Seconds()))
}
