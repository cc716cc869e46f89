// SPDX-License-Identifier: Apache-2.0

// Command live_load creates and changes objects for a live cluster state, as
// fast as an API server accepts them. It uses only the standard library.
//
//	live_load DIR fill NAMESPACES QUOTAS PODS NODES
//	live_load DIR churn SECONDS RATE NAMESPACES QUOTAS PODS NODES
//	live_load DIR small SECONDS RATE NAMESPACES QUOTAS PODS NODES
//
// DIR has admin.crt, admin.key, ca.crt and port. churn continues while the
// server is not reachable: failed requests are repeated later. small does the
// same at the least cost for the API server: mostly quotas, replaced as a
// whole, in protobuf, and without managedFields. Each ends with a line of
// figures: the rate, the rate without the seconds in which no request was
// answered, and the rate of the median second.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const workers = 32

type client struct {
	base string
	http *http.Client
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newClient(dir string) *client {
	pair, err := tls.LoadX509KeyPair(dir+"/admin.crt", dir+"/admin.key")
	must(err)
	ca, err := os.ReadFile(dir + "/ca.crt")
	must(err)
	port, err := os.ReadFile(dir + "/port")
	must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &client{
		base: "https://127.0.0.1:" + strings.TrimSpace(string(port)),
		http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}},
			MaxIdleConnsPerHost: workers,
		}},
	}
}

func (c *client) do(method, path, body string) (int, string) {
	kind := "application/json"
	if method == "PATCH" {
		kind = "application/merge-patch+json"
	}
	return c.send(method, path, kind, []byte(body))
}

func (c *client) send(method, path, kind string, body []byte) (int, string) {
	req, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	must(err)
	req.Header.Set("Content-Type", kind)
	if kind == protobuf {
		req.Header.Set("Accept", kind)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	return resp.StatusCode, string(text)
}

type size struct{ namespaces, quotas, pods, nodes int }

func number(i int) int {
	n, err := strconv.Atoi(os.Args[i])
	must(err)
	return n
}

func sizes(at int) size {
	return size{number(at), number(at + 1), number(at + 2), number(at + 3)}
}

// Quotas are in namespaces without pods, because counting pods is not tested
// here.
func (s size) podSpace(i int) string   { return fmt.Sprintf("load-%d", i%s.namespaces) }
func (s size) quotaSpace(i int) string { return fmt.Sprintf("quota-%d", i%s.namespaces) }

func namespace(name string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
}

func quota(i, n int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q-%d"},
"spec":{"hard":{"requests.nvidia.com/gpu":"%d","requests.cpu":"%d"}}}`, i, n, n*8)
}

// Pods as a controller creates them: with an owner, labels, environment,
// volumes.
func pod(i, gpus int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-%d","labels":{"job-name":"job-%d","app":"train"},
"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"job-%d","uid":"%08d-0000-0000-0000-000000000000","controller":true,"blockOwnerDeletion":false}]},
"spec":{"restartPolicy":"Never","containers":[{"name":"train","image":"registry.example.com/team/train:1.2.3","command":["torchrun","train.py"],
"env":[{"name":"A","value":"one"},{"name":"B","value":"two"},{"name":"C","value":"three"}],
"resources":{"limits":{"nvidia.com/gpu":"%d","memory":"64Gi"},"requests":{"cpu":"8"}},
"volumeMounts":[{"name":"shm","mountPath":"/dev/shm"}]}],
"volumes":[{"name":"shm","emptyDir":{"medium":"Memory","sizeLimit":"16Gi"}}]}}`, i, i/8, i/8, i/8, gpus)
}

func node(i, gpus int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n-%d","labels":{"kubernetes.io/hostname":"n-%d","pool":"p-%d"}},
"status":{"allocatable":{"cpu":"96","memory":"1Ti","nvidia.com/gpu":"%d","pods":"110"},"capacity":{"cpu":"96","memory":"1Ti","nvidia.com/gpu":"%d","pods":"110"}}}`,
		i, i, i%5, gpus, gpus)
}

// all runs f for 0..n-1 on all workers; if f returns false, the call is
// repeated.
func all(n int, f func(i int) bool) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				for tries := 0; !f(i); tries++ {
					if tries > 100 {
						os.Exit(1)
					}
					time.Sleep(100 * time.Millisecond)
				}
			}
		}()
	}
	wg.Wait()
}

func (c *client) create(path, body string) bool {
	code, text := c.do("POST", path, body)
	if code == 201 || code == 409 {
		return true
	}
	if code != 429 && code != 0 {
		fmt.Fprintln(os.Stderr, code, text)
	}
	return false
}

func fill(c *client, s size) {
	began := time.Now()
	all(s.namespaces, func(i int) bool {
		return c.create("/api/v1/namespaces", namespace(s.podSpace(i))) &&
			c.create("/api/v1/namespaces", namespace(s.quotaSpace(i)))
	})
	all(s.nodes, func(i int) bool { return c.create("/api/v1/nodes", node(i, 8)) })
	all(s.quotas, func(i int) bool {
		return c.create("/api/v1/namespaces/"+s.quotaSpace(i)+"/resourcequotas", quota(i, 8))
	})
	all(s.pods, func(i int) bool {
		return c.create("/api/v1/namespaces/"+s.podSpace(i)+"/pods", pod(i, 1+i%8))
	})
	n := s.namespaces*2 + s.nodes + s.quotas + s.pods
	took := time.Since(began).Seconds()
	fmt.Printf("filled %d objects in %.1f s (%.0f/s)\n", n, took, float64(n)/took)
}

// Changes some object; returns true if the server accepted the change.
func change(c *client, s size, r *rand.Rand) bool {
	var code int
	switch kind := r.Intn(10); {
	case kind < 4: // a quota's figure
		i := r.Intn(s.quotas)
		code, _ = c.do("PATCH", fmt.Sprintf("/api/v1/namespaces/%s/resourcequotas/q-%d", s.quotaSpace(i), i),
			fmt.Sprintf(`{"spec":{"hard":{"requests.nvidia.com/gpu":"%d"}}}`, r.Intn(1000)))
	case kind < 5:
		i := r.Intn(s.nodes)
		code, _ = c.do("PATCH", fmt.Sprintf("/api/v1/nodes/n-%d", i),
			fmt.Sprintf(`{"metadata":{"labels":{"pool":"p-%d"}}}`, r.Intn(5)))
	case kind < 6:
		i := r.Intn(s.namespaces)
		code, _ = c.do("PATCH", "/api/v1/namespaces/"+s.podSpace(i),
			fmt.Sprintf(`{"metadata":{"labels":{"tier":"t-%d"}}}`, r.Intn(50)))
	case kind < 8:
		i := r.Intn(s.pods)
		code, _ = c.do("DELETE", fmt.Sprintf("/api/v1/namespaces/%s/pods/p-%d?gracePeriodSeconds=0", s.podSpace(i), i), "")
	default:
		i := r.Intn(s.pods)
		code, _ = c.do("POST", "/api/v1/namespaces/"+s.podSpace(i)+"/pods", pod(i, 1+r.Intn(8)))
		if code == 409 { // already exists: phases change most often
			code, _ = c.do("PATCH", fmt.Sprintf("/api/v1/namespaces/%s/pods/p-%d/status", s.podSpace(i), i),
				fmt.Sprintf(`{"status":{"phase":%q}}`, []string{"Running", "Succeeded", "Pending"}[r.Intn(3)]))
		}
	}
	return code >= 200 && code < 300
}

// --- cheap changes -------------------------------------------------------

const protobuf = "application/vnd.kubernetes.protobuf"

// Appends a field of a protobuf message: bytes, a string or a message.
func field(number byte, value []byte) []byte {
	out := []byte{number<<3 | 2}
	for n := len(value); ; n >>= 7 {
		if n < 0x80 {
			out = append(out, byte(n))
			break
		}
		out = append(out, byte(n)|0x80)
	}
	return append(out, value...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// Encodes a ResourceQuota as runtime.Unknown: metadata (name 1, namespace 3,
// managedFields 17), spec.hard (a map to Quantity). An empty item of
// managedFields stops their tracking.
func quotaMessage(namespace, name string, gpus int) []byte {
	hard := join(field(1, []byte("requests.nvidia.com/gpu")), field(2, field(1, []byte(strconv.Itoa(gpus)))))
	untracked := []byte{17<<3&0x7f | 0x80 | 2, 17 >> 4, 0}
	meta := join(field(1, []byte(name)), field(3, []byte(namespace)), untracked)
	object := join(field(1, meta), field(2, field(1, hard)))
	kind := join(field(1, []byte("v1")), field(2, []byte("ResourceQuota")))
	return join([]byte("k8s\x00"), field(1, kind), field(2, object))
}

func changeSmall(c *client, s size, r *rand.Rand) bool {
	if r.Intn(20) == 0 {
		return change(c, s, r)
	}
	i := r.Intn(s.quotas)
	name := fmt.Sprintf("q-%d", i)
	code, _ := c.send("PUT", "/api/v1/namespaces/"+s.quotaSpace(i)+"/resourcequotas/"+name, protobuf,
		quotaMessage(s.quotaSpace(i), name, r.Intn(1000)))
	return code == 200
}

// Returns the number of seconds with answers, and the number of answers in the
// median second: the server is away in some seconds, and slow after that.
func awake(answers []atomic.Int64) (n int, median int64) {
	var some []int64
	for i := range answers {
		if answered := answers[i].Load(); answered > 0 {
			some = append(some, answered)
		}
	}
	if len(some) == 0 {
		return 0, 0
	}
	slices.Sort(some)
	return len(some), some[len(some)/2]
}

func churn(c *client, s size, seconds, rate int, change func(*client, size, *rand.Rand) bool) {
	var done, failed atomic.Int64
	answers := make([]atomic.Int64, seconds)
	var wg sync.WaitGroup
	began := time.Now()
	end := began.Add(time.Duration(seconds) * time.Second)
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(w)))
			pause := time.Duration(workers) * time.Second / time.Duration(rate)
			for next := time.Now(); time.Now().Before(end); next = next.Add(pause) {
				if late := time.Since(next); late > time.Second {
					next = time.Now() // time in which the server was away is not made up for
				}
				time.Sleep(time.Until(next))
				if change(c, s, r) {
					done.Add(1)
					answers[min(int(time.Since(began).Seconds()), seconds-1)].Add(1)
				} else {
					failed.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	took := time.Since(began).Seconds()
	n, median := awake(answers)
	fmt.Printf("changed %d in %.1f s (%.0f/s; %.0f/s in the %d s with answers, the median second %d), %d not done\n",
		done.Load(), took, float64(done.Load())/took, float64(done.Load())/float64(n), n, median, failed.Load())
}

func main() {
	c := newClient(os.Args[1])
	switch os.Args[2] {
	case "fill":
		fill(c, sizes(3))
	case "churn":
		churn(c, sizes(5), number(3), number(4), change)
	case "small":
		churn(c, sizes(5), number(3), number(4), changeSmall)
	}
}
