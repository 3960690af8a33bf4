package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// readURLs replaces the URLs among the upstreams by host:port. If they have TLS, or a login, the proxy uses both. No
// error shows a password.
func (o *proxyOptions) readURLs() error {
	if len(o.commands) > 0 {
		return nil
	}
	logins, secure := map[[2]string]bool{}, 0
	for i, at := range o.Upstreams {
		login, isSecure := [2]string{}, false
		if strings.Contains(at, "://") {
			to, u, err := targetOf(at)
			if err != nil {
				return errors.New("an upstream is host:port, or a URL such as redis://127.0.0.1:6379 or rediss://127.0.0.1:6380")
			}
			if err := hasNoMore(u); err != nil {
				return err
			}
			if u.Port() == "" && len(o.sentinels) > 0 {
				to.port = "26379"
			}
			o.Upstreams[i], isSecure = net.JoinHostPort(to.host, to.port), to.tls != nil
			login[0], login[1] = loginOf(u)
		}
		if logins[login] = true; isSecure {
			secure++
		}
	}
	return o.usesURLs(logins, secure)
}

// usesURLs takes over what all upstreams have in common: their login, and how many of them have TLS.
func (o *proxyOptions) usesURLs(logins map[[2]string]bool, secure int) error {
	if len(logins) > 1 {
		return errors.New("the proxy logs in to all upstreams alike: give their URLs the same user and password")
	}
	for login := range logins {
		switch {
		case login[1] == "":
		case o.auth != "":
			return errors.New("--auth and a password in the URL of an upstream exclude each other")
		case login[0] == "":
			o.Auth = login[1:]
		default:
			o.Auth = login[:]
		}
	}
	switch {
	case secure > 0 && secure < len(o.Upstreams) && o.secure.on == "no":
		return errors.New("all upstreams have TLS, or none: rediss:// for all, or for none")
	case secure > 0:
		o.secure.on = "yes"
	}
	return nil
}

// hasNoMore refuses what a URL says to a client, and not to the proxy.
func hasNoMore(u *url.URL) error {
	if db := strings.Trim(u.Path, "/"); db != "" && db != "0" {
		return fmt.Errorf("leave the database /%s out of the URL of the upstream: each client selects its own", db)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return errors.New("leave what follows the port out of the URL of the upstream: such options are the clients'")
	}
	return nil
}
