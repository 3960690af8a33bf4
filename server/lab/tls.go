package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab/labtls"
)

// WriteTLS is the directive lab-tls: it makes certificates and has the server use them, unless the
// configuration names others. Without tls-port it chooses a free port.
func WriteTLS(cfg *config.Config) error {
	if cfg.LabTLS == "" {
		return nil
	}
	if !cfg.Lab {
		return errors.New("lab-tls needs --lab yes")
	}
	dir := cfg.Relative(cfg.LabTLS)
	if err := labtls.Write(dir); err != nil {
		return fmt.Errorf("lab-tls: %w", err)
	}
	if cfg.TLSPort == 0 {
		cfg.TLSPort = -1
	}
	if cfg.TLSCertFile == "" && cfg.TLSKeyFile == "" {
		cfg.TLSCertFile, cfg.TLSKeyFile = filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	}
	if cfg.TLSCACertFile == "" && cfg.TLSCACertDir == "" {
		cfg.TLSCACertFile = filepath.Join(dir, "ca.crt")
	}
	return nil
}
