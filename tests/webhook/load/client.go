// SPDX-License-Identifier: Apache-2.0

// Clients of the loads: reviews with their expected answers, and trusted CAs.

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

const serverName = "gpugated.gpu-system.svc"

// A review is a body with a place for its uid, and the expected answer.
type review struct {
	path          string
	before, after []byte
	want          []byte
}

var uids atomic.Uint64

const uidMark = "00000000-0000-0000-0000-000000000000"

func readReview(dir, name string) (*review, error) {
	text, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return nil, err
	}
	before, after, found := bytes.Cut(text, []byte(uidMark))
	if !found {
		return nil, fmt.Errorf("%s.json: no uid to replace", name)
	}
	return &review{"/validate", before, after,
		fmt.Appendf(nil, `"allowed":%t`, name == "allow")}, nil
}

func (r *review) body() ([]byte, []byte) {
	uid := fmt.Appendf(nil, "00000000-0000-4000-8000-%012x", uids.Add(1))
	body := make([]byte, 0, len(r.before)+len(uid)+len(r.after))
	body = append(append(append(body, r.before...), uid...), r.after...)
	return body, uid
}

// Trust contains the CAs that clients currently trust: the old and the new one
// during a rotation, as in the bundle of an API server.
type trust struct{ pool atomic.Pointer[x509.CertPool] }

func (t *trust) set(cas ...*authority) {
	pool := x509.NewCertPool()
	for _, ca := range cas {
		pool.AddCert(ca.cert)
	}
	t.pool.Store(pool)
}

// add trusts more CAs, and keeps those that were trusted before.
func (t *trust) add(cas ...*authority) {
	pool := x509.NewCertPool()
	if old := t.pool.Load(); old != nil {
		pool = old.Clone()
	}
	for _, ca := range cas {
		pool.AddCert(ca.cert)
	}
	t.pool.Store(pool)
}

func (t *trust) verify(state tls.ConnectionState) error {
	options := x509.VerifyOptions{Roots: t.pool.Load(), DNSName: serverName,
		Intermediates: x509.NewCertPool()}
	for _, cert := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(cert)
	}
	_, err := state.PeerCertificates[0].Verify(options)
	return err
}

func (t *trust) config() *tls.Config {
	return &tls.Config{ServerName: serverName, InsecureSkipVerify: true,
		NextProtos: []string{"http/1.1"}, VerifyConnection: t.verify}
}

// A caller behaves like the API server: net/http's transport, HTTP/1.1, 25 idle
// connections, and only the retries of the transport itself.
type caller struct {
	client  *http.Client
	base    string
	retries bool // 429 and Retry-After, as client-go: 10 times at most
	on429   func()
	dials   atomic.Int64
}

func newCaller(address string, trusted *trust, keep bool) *caller {
	c := &caller{base: "https://" + address}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	c.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c.dials.Add(1)
			return dialer.DialContext(ctx, network, address)
		},
		TLSClientConfig:     trusted.config(),
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		DisableKeepAlives:   !keep,
	}}
	return c
}

func (c *caller) transport() *http.Transport {
	return c.client.Transport.(*http.Transport)
}

var errOverload = errors.New("429 after all retries")

// ask posts one review; any answer other than the expected one is an error.
func (c *caller) ask(r *review) error {
	body, uid := r.body()
	for try := 0; ; try++ {
		status, answer, err := c.post(r, body)
		if err != nil {
			return err
		}
		if status == http.StatusOK {
			return r.judge(answer, uid)
		}
		if status != http.StatusTooManyRequests {
			return fmt.Errorf("status %d: %.200s", status, answer)
		}
		if c.on429 != nil {
			c.on429()
		}
		if !c.retries || try == 10 {
			return errOverload
		}
		time.Sleep(time.Second)
	}
}

func (c *caller) post(r *review, body []byte) (int, []byte, error) {
	request, err := http.NewRequest("POST", c.base+r.path+"?timeout=10s",
		bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("User-Agent", "kube-apiserver-admission")
	answer, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode == http.StatusTooManyRequests &&
		answer.Header.Get("Retry-After") != "1" {
		return 0, nil, errors.New("429 without Retry-After: 1")
	}
	return answer.StatusCode, text, err
}

func (r *review) judge(answer, uid []byte) error {
	if !bytes.Contains(answer, uid) || !bytes.Contains(answer, r.want) {
		return fmt.Errorf("a wrong answer: %.300s", answer)
	}
	return nil
}

// serial returns the serial of the certificate that a new connection gets.
func serial(address string, trusted *trust) (string, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second},
		"tcp", address, trusted.config())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}
