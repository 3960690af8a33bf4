package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/internal/config"
)

// Configure reads the certificates and makes the configuration of all handshakes to come. If that
// fails, the old configuration stays, the log gets the reason, and the result is false (tls.c:
// tlsConfigure). Unless again is set, it keeps a configuration that exists.
func (hs *handshakes) Configure(again bool) bool {
	if hs.Config != nil && !again {
		return true
	}
	made := hs.s.Cfg.TLS.Clone()
	if made == nil {
		made = hs.makeConfig()
	}
	if made == nil {
		return false
	}
	made.DynamicRecordSizingDisabled = true // small records cost more than they save
	hs.Config = made
	return true
}

// makeConfig returns nil if it fails.
func (hs *handshakes) makeConfig() *tls.Config {
	c := hs.s.Cfg
	switch {
	case c.TLSCertFile == "":
		hs.s.Log('#', "No tls-cert-file configured!")
		return nil
	case c.TLSKeyFile == "":
		hs.s.Log('#', "No tls-key-file configured!")
		return nil
	case c.TLSAuthClients != "no" && c.TLSCACertFile == "" && c.TLSCACertDir == "":
		hs.s.Log('#', "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, tls-replication or "+
			"tls-auth-clients are enabled!")
		return nil
	}
	made := &tls.Config{ClientAuth: authMode(c.TLSAuthClients), SessionTicketsDisabled: !c.TLSSessionCaching}
	ok := false
	if made.MinVersion, made.MaxVersion, ok = hs.protocols(c.TLSProtocols); !ok {
		return nil
	}
	cert, ok := hs.certificate(c.Relative(c.TLSCertFile), c.Relative(c.TLSKeyFile))
	if !ok {
		return nil
	}
	made.Certificates = []tls.Certificate{cert}
	if made.ClientCAs, ok = hs.authorities(c); !ok {
		return nil
	}
	if made.CipherSuites, ok = ciphers(c.TLSCiphers); !ok {
		hs.s.Log('#', "Failed to configure ciphers: %s", c.TLSCiphers)
		return nil
	}
	return made
}

func authMode(word string) tls.ClientAuthType {
	switch word {
	case "no":
		return tls.NoClientCert
	case "optional":
		return tls.VerifyClientCertIfGiven
	}
	return tls.RequireAndVerifyClientCert
}

// SetAuth puts tls-auth-clients into effect. As in Redis, it needs no certificates of CAs: without
// them, no client can be verified.
func (hs *handshakes) SetAuth() {
	if hs.Config != nil && hs.s.Cfg.TLS == nil {
		hs.Config = hs.Config.Clone()
		hs.Config.ClientAuth = authMode(hs.s.Cfg.TLSAuthClients)
	}
}

// certificate reads a certificate and its key. Two lines of the log tell a bad certificate from a bad key.
func (hs *handshakes) certificate(certFile, keyFile string) (cert tls.Certificate, ok bool) {
	certPEM, err := config.ReadFile(certFile, mostPEM)
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(certPEM) {
		err = errors.New(noCertificate)
	}
	if err != nil {
		hs.s.Log('#', "Failed to load certificate: %s: %s", certFile, ReasonOf(err))
		return cert, false
	}
	keyPEM, err := config.ReadFile(keyFile, mostPEM)
	if err == nil {
		cert, err = tls.X509KeyPair(certPEM, keyPEM)
	}
	if err != nil {
		hs.s.Log('#', "Failed to load private key: %s: %s", keyFile, ReasonOf(err))
		return cert, false
	}
	return cert, true
}

const noCertificate = "no certificate in it"

// ReasonOf returns the text of an error, without the path that the line of the log already has. An error of
// the system looks as OpenSSL prints it.
func ReasonOf(err error) string {
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return fmt.Sprintf("error:8%07X:system library::%s", int(errno), config.ErrorText(errno))
	}
	return err.Error()
}

// authorities reads the certificates of the CAs that clients may come from. OpenSSL finds a certificate in
// a folder by its name, which is a hash. Here all files of the folder are read, whatever their names are.
func (hs *handshakes) authorities(c *config.Config) (pool *x509.CertPool, ok bool) {
	if c.TLSCACertFile == "" && c.TLSCACertDir == "" {
		return nil, true
	}
	pool = x509.NewCertPool()
	var err error
	if dir := c.TLSCACertDir; dir != "" {
		err = hs.readFolder(pool, c.Relative(dir))
	}
	if file := c.TLSCACertFile; file != "" && err == nil {
		var pem []byte
		if pem, err = config.ReadFile(c.Relative(file), mostPEM); err == nil && !pool.AppendCertsFromPEM(pem) {
			err = errors.New(noCertificate)
		}
	}
	if err != nil {
		hs.s.Log('#', "Failed to configure CA certificate(s) file/directory: %s", ReasonOf(err))
		return nil, false
	}
	return pool, true
}

// How much the certificates of this server may have. The loop reads them, and everybody waits for it.
const (
	mostPEM    = 4 << 20  // bytes of a file
	mostFolder = 16 << 20 // bytes of all files of a folder
	mostFiles  = 10_000   // in a folder
)

// readFolder adds the certificates in the files of a folder. The folder may have anything else in it.
func (hs *handshakes) readFolder(pool *x509.CertPool, dir string) error {
	folder, err := os.OpenFile(dir, unix.O_DIRECTORY, 0) // does not wait for the writer of a FIFO
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(mostFiles + 1)
	switch {
	case err != nil && err != io.EOF:
		return err
	case len(names) > mostFiles:
		return fmt.Errorf("more than %d files in %s", mostFiles, dir)
	}
	left := mostFolder
	for _, name := range names {
		pem, err := config.ReadFile(filepath.Join(dir, name), mostPEM)
		switch {
		case errors.Is(err, unix.EFBIG):
			hs.s.Log('#', "%s is not read: %s", filepath.Join(dir, name), ReasonOf(err))
			continue
		case err != nil:
			continue
		}
		if left -= len(pem); left < 0 {
			return fmt.Errorf("more than %d MB in %s", mostFolder>>20, dir)
		}
		pool.AppendCertsFromPEM(pem)
	}
	return nil
}

// protocols parses tls-protocols (tls.c: parseProtocolsConfig). crypto/tls takes a range of versions, so
// a list with a gap is refused.
func (hs *handshakes) protocols(list string) (lowest, highest uint16, ok bool) {
	if list == "" {
		return tls.VersionTLS12, tls.VersionTLS13, true
	}
	known := []string{"tlsv1", "tlsv1.1", "tlsv1.2", "tlsv1.3"}
	var given []int
	for word := range strings.SplitSeq(list, " ") {
		at := slices.Index(known, ascii.ToLower(word))
		if at < 0 {
			hs.s.Log('#', "Invalid tls-protocols specified. "+
				"Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'.")
			return 0, 0, false
		}
		given = append(given, at)
	}
	slices.Sort(given)
	given = slices.Compact(given)
	first, last := given[0], given[len(given)-1]
	if last-first+1 != len(given) {
		hs.s.Log('#', "tls-protocols has a gap, which is not supported by miniredisd: %s", list)
		return 0, 0, false
	}
	return tls.VersionTLS10 + uint16(first), tls.VersionTLS10 + uint16(last), true
}

// ciphers parses tls-ciphers: names of OpenSSL, such as ECDHE-RSA-AES128-GCM-SHA256, or of the standard,
// separated by colons. OpenSSL's keywords are not known, but for DEFAULT. A name that crypto/tls does not
// have is an error.
func ciphers(list string) (ids []uint16, ok bool) {
	if list == "" || list == "DEFAULT" {
		return nil, true
	}
	suites := append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
	for name := range strings.SplitSeq(list, ":") {
		at := slices.IndexFunc(suites, func(c *tls.CipherSuite) bool {
			return c.SupportedVersions[0] < tls.VersionTLS13 && (c.Name == name || openSSLName(c.Name) == name)
		})
		if at < 0 {
			return nil, false
		}
		ids = append(ids, suites[at].ID)
	}
	return ids, true
}

// openSSLName returns OpenSSL's name of a cipher suite: ECDHE-RSA-AES128-GCM-SHA256 for
// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256.
func openSSLName(standard string) string {
	return strings.NewReplacer("TLS_RSA_WITH_", "", "TLS_", "", "WITH_", "", "AES_128", "AES128", "AES_256", "AES256",
		"3DES_EDE_CBC", "DES-CBC3", "_CBC", "", "POLY1305_SHA256", "POLY1305", "_", "-").Replace(standard)
}

// ErrTLSConfig is the error of CONFIG SET if the files of the certificates cannot be used.
const ErrTLSConfig = "Unable to update TLS configuration. Check server logs."

// ClientConfig makes the configuration for the link to a master, nil if the log has the reason why it cannot. As in
// Redis the master's certificate must come from a CA that this server knows, and its name does not matter.
func (hs *handshakes) ClientConfig(host string) *tls.Config {
	if !hs.Configure(false) {
		return nil
	}
	made := hs.Config.Clone()
	roots := made.RootCAs
	if roots == nil {
		roots = made.ClientCAs
	}
	if cert, key := hs.s.Cfg.TLSClientCertFile, hs.s.Cfg.TLSClientKeyFile; cert != "" && key != "" && hs.s.Cfg.TLS == nil {
		pair, ok := hs.certificate(hs.s.Cfg.Relative(cert), hs.s.Cfg.Relative(key))
		if !ok {
			return nil
		}
		made.Certificates = []tls.Certificate{pair}
	}
	if _, err := netip.ParseAddr(host); err != nil {
		made.ServerName = host
	}
	made.InsecureSkipVerify = true // VerifyConnection does it
	made.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return errors.New("the master has no certificate")
		}
		between := x509.NewCertPool()
		for _, cert := range state.PeerCertificates[1:] {
			between.AddCert(cert)
		}
		_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		return err
	}
	return made
}
