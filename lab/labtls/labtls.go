// Package labtls makes the certificates of a lab: a certificate authority that is thrown away, and what it
// has signed. Tests of a client need them, and never the same ones twice.
//
//	ca.crt          the CA, for clients and for tls-ca-cert-file; its key is in no file
//	server.crt/key  for tls-cert-file and tls-key-file: localhost, this machine's name, 127.0.0.1, ::1
//	client.crt/key  for a client, because of tls-auth-clients yes
//	expired.crt/key the same as server, but its time was over yesterday
//	stranger.crt/key the same as server, but signed by another CA
//
// Each of the last four pairs may be used by a server and by a client. So CONFIG SET tls-cert-file can show a
// client a server whose certificate has expired.
//
// Redis has a script for the same purpose (utils/gen-test-certs.sh), which calls openssl.
package labtls

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	day      = 24 * time.Hour
	lifetime = 365 * day // some systems refuse certificates that are valid for longer than two years
)

// Write makes a CA and writes all files into dir. It makes dir if need be, and replaces files of an earlier
// call. A key can be read by its owner only.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	now := time.Now()
	ca, err := newAuthority("miniredisd lab", now)
	if err != nil {
		return err
	}
	other, err := newAuthority("another lab", now)
	if err != nil {
		return err
	}
	if err := writePEM(dir, "ca.crt", "CERTIFICATE", ca.cert.Raw, 0o644); err != nil {
		return err
	}
	for _, pair := range []struct {
		name     string
		by       *authority
		from, to time.Time
	}{
		{"server", ca, now.Add(-day), now.Add(lifetime)},
		{"client", ca, now.Add(-day), now.Add(lifetime)},
		{"expired", ca, now.Add(-2 * day), now.Add(-day)},
		{"stranger", other, now.Add(-day), now.Add(lifetime)},
	} {
		if err := pair.by.write(dir, pair.name, pair.from, pair.to); err != nil {
			return fmt.Errorf("%s.crt: %w", pair.name, err)
		}
	}
	return nil
}

// authority is a CA whose key nobody else gets.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(name string, now time.Time) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := template(name, now.Add(-2*day), now.Add(lifetime))
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert, key}, err
}

// write makes a key and a certificate for it.
func (a *authority) write(dir, name string, from, to time.Time) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	template := template(name, from, to)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	template.DNSNames = []string{"localhost"}
	if host, err := os.Hostname(); err == nil {
		template.DNSNames = append(template.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(dir, name+".crt", "CERTIFICATE", der, 0o644); err != nil {
		return err
	}
	return writePEM(dir, name+".key", "PRIVATE KEY", secret, 0o600)
}

// newKey makes a key of the kind that signs fastest and that every client knows.
func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func template(name string, from, to time.Time) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // rand.Reader never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
	}
}

// writePEM replaces a file in one step, because a server may be reading it.
func writePEM(dir, name, kind string, der []byte, mode os.FileMode) error {
	path := filepath.Join(dir, name)
	part := path + ".part"
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(part, text, mode); err != nil {
		return err
	}
	return os.Rename(part, path)
}
