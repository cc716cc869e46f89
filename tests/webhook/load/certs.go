// SPDX-License-Identifier: Apache-2.0

// Issues certificates for the loads, and mounts them as the kubelet does.

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte
}

// A pair is tls.crt and tls.key in PEM form.
type pair struct {
	crt, key []byte
	serial   string
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func newKey(kind string) crypto.Signer {
	switch kind {
	case "rsa":
		return must(rsa.GenerateKey(rand.Reader, 2048))
	case "ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return must(key, err)
	case "p384":
		return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	case "p224":
		return must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))
	}
	return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
}

func newSerial() *big.Int {
	return must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)))
}

func newAuthority(name string) *authority {
	key := newKey("p256")
	template := &x509.Certificate{
		SerialNumber: newSerial(), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(240 * time.Hour),
		IsCA:      true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template,
		key.Public(), key))
	return &authority{must(x509.ParseCertificate(der)), key,
		block("CERTIFICATE", der)}
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// issue creates a good pair, which change may damage before it is signed.
func (a *authority) issue(key crypto.Signer, change func(*x509.Certificate)) *pair {
	template := &x509.Certificate{
		SerialNumber: newSerial(),
		Subject:      pkix.Name{CommonName: serverName},
		DNSNames:     []string{serverName},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.cert,
		key.Public(), a.key))
	return &pair{block("CERTIFICATE", der),
		block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key))),
		template.SerialNumber.String()}
}

func (a *authority) good() *pair { return a.issue(newKey("p256"), nil) }

// A volume is a folder as the kubelet mounts a Secret or ConfigMap. Its files
// are links through ..data, which is a link to a folder with a time in its
// name. An update makes a new folder and renames a new link over ..data.
type volume struct {
	dir string
	n   int
}

type content map[string][]byte

func (p *pair) files() content {
	return content{"tls.crt": p.crt, "tls.key": p.key}
}

func (v *volume) swap(files content) {
	v.n++
	old, _ := os.Readlink(filepath.Join(v.dir, "..data"))
	name := "..2026_01_02_03_04_05." + strconv.Itoa(v.n)
	folder := filepath.Join(v.dir, name)
	check(os.MkdirAll(folder, 0o755))
	for file, text := range files {
		check(os.WriteFile(filepath.Join(folder, file), text, 0o600))
	}
	link := filepath.Join(v.dir, "..data_tmp")
	os.Remove(link)
	check(os.Symlink(name, link))
	check(os.Rename(link, filepath.Join(v.dir, "..data")))
	for file := range files {
		path := filepath.Join(v.dir, file)
		if _, err := os.Lstat(path); err != nil {
			check(os.Symlink(filepath.Join("..data", file), path))
		}
	}
	if old != "" {
		os.RemoveAll(filepath.Join(v.dir, old))
	}
}

// rename replaces one file after the other, as certbot and scripts do.
func (p *pair) rename(dir string, pause time.Duration) {
	for _, name := range []string{"tls.crt", "tls.key"} {
		temporary := filepath.Join(dir, name+".new")
		check(os.WriteFile(temporary, p.files()[name], 0o600))
		check(os.Rename(temporary, filepath.Join(dir, name)))
		time.Sleep(pause)
	}
}

// rewrite copies over the files: for a moment each is empty, then incomplete.
func (p *pair) rewrite(dir string, pause time.Duration) {
	for _, name := range []string{"tls.key", "tls.crt"} {
		text := p.files()[name]
		file := must(os.Create(filepath.Join(dir, name)))
		time.Sleep(pause)
		file.Write(text[:len(text)/2])
		time.Sleep(pause)
		file.Write(text[len(text)/2:])
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
