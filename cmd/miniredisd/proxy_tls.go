package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"os"
)

// proxyTLS has the options of the proxy for TLS. Those of the clients' side have the names of Redis's directives, and
// the others end in what redis-cli calls them.
type proxyTLS struct {
	cert, key, ca, auth string
	on, insecure        string // yes or no
	upCert, upKey, upCA string
	sni                 string
}

const proxyTLSUsage = `
  --tls-cert-file FILE, --tls-key-file FILE      clients have to speak TLS; these are what the proxy shows them
  --tls-ca-cert-file FILE                        who signs the certificates of clients
  --tls-auth-clients WHICH                       yes, no or optional: whether clients need a certificate (yes)
  --upstream-tls yes                             speak TLS with the upstreams, and with the nodes that they name
  --upstream-tls-ca-cert-file FILE               who signs their certificates; else the authorities of the system
  --upstream-tls-cert-file FILE, --upstream-tls-key-file FILE      what the proxy shows them
  --upstream-tls-sni NAME                        the name in their certificates; else the host of each
  --upstream-tls-insecure yes                    do not verify their certificates
`

func (o *proxyTLS) define(flags *flag.FlagSet) {
	flags.StringVar(&o.cert, "tls-cert-file", "", "")
	flags.StringVar(&o.key, "tls-key-file", "", "")
	flags.StringVar(&o.ca, "tls-ca-cert-file", "", "")
	flags.StringVar(&o.auth, "tls-auth-clients", "", "")
	flags.StringVar(&o.on, "upstream-tls", "no", "")
	flags.StringVar(&o.upCA, "upstream-tls-ca-cert-file", "", "")
	flags.StringVar(&o.upCert, "upstream-tls-cert-file", "", "")
	flags.StringVar(&o.upKey, "upstream-tls-key-file", "", "")
	flags.StringVar(&o.sni, "upstream-tls-sni", "", "")
	flags.StringVar(&o.insecure, "upstream-tls-insecure", "no", "")
}

// clients makes the configuration of the clients' side, nil without TLS.
func (o *proxyTLS) clients() (*tls.Config, error) {
	auth := map[string]tls.ClientAuthType{"": tls.RequireAndVerifyClientCert, "yes": tls.RequireAndVerifyClientCert,
		"no": tls.NoClientCert, "optional": tls.VerifyClientCertIfGiven}
	mode, known := auth[o.auth]
	switch {
	case !known:
		return nil, fmt.Errorf("--tls-auth-clients expects yes, no or optional, not '%s'", o.auth)
	case o.cert == "" && o.key == "" && o.ca == "" && o.auth == "":
		return nil, nil
	case o.cert == "" || o.key == "":
		return nil, errors.New("--tls-cert-file and --tls-key-file belong together, and the clients' side needs both")
	case o.ca == "" && mode != tls.NoClientCert:
		return nil, errors.New("--tls-ca-cert-file is missing: without it use --tls-auth-clients no")
	}
	made := &tls.Config{ClientAuth: mode}
	var err error
	if made.ClientCAs, err = authoritiesIn(o.ca); err != nil {
		return nil, err
	}
	made.Certificates, err = keyPair(o.cert, o.key)
	return made, err
}

// upstream makes the configuration of the upstreams' side, nil without TLS.
func (o *proxyTLS) upstream() (*tls.Config, error) {
	for name, word := range map[string]string{"upstream-tls": o.on, "upstream-tls-insecure": o.insecure} {
		if word != "yes" && word != "no" {
			return nil, fmt.Errorf("--%s expects yes or no, not '%s'", name, word)
		}
	}
	more := o.upCA != "" || o.upCert != "" || o.upKey != "" || o.sni != "" || o.insecure == "yes"
	switch {
	case o.on == "no" && more:
		return nil, errors.New("the options --upstream-tls-... need --upstream-tls yes")
	case o.on == "no":
		return nil, nil
	case (o.upCert == "") != (o.upKey == ""):
		return nil, errors.New("--upstream-tls-cert-file and --upstream-tls-key-file belong together")
	}
	made := &tls.Config{ServerName: o.sni, InsecureSkipVerify: o.insecure == "yes"}
	var err error
	if made.RootCAs, err = authoritiesIn(o.upCA); err != nil || o.upCert == "" {
		return made, err
	}
	made.Certificates, err = keyPair(o.upCert, o.upKey)
	return made, err
}

func keyPair(cert, key string) ([]tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", cert, key, err)
	}
	return []tls.Certificate{pair}, nil
}

// authoritiesIn reads the certificates of a file. It returns nil for no file.
func authoritiesIn(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return pool, nil
}
