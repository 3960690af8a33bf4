package clean

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/lab"
)

// Hidden stands where a secret was. MONITOR says the same.
const Hidden = "(redacted)"

// Words returns the words of a Redis command without its passwords.
func Words(words []string) []string {
	shown := slices.Clone(words)
	at := func(i int) string {
		if i < len(words) {
			return strings.ToLower(words[i])
		}
		return ""
	}
	hideFrom := func(from, to int) {
		for i := from; i < min(to, len(shown)); i++ {
			shown[i] = Hidden
		}
	}
	switch at(0) {
	case "auth":
		hideFrom(1, len(words))
	case "hello", "migrate":
		for i := 1; i < len(words); i++ {
			switch {
			case at(i) == "auth" && at(0) == "migrate":
				hideFrom(i+1, i+2)
			case at(i) == "auth", at(i) == "auth2":
				hideFrom(i+1, i+3)
			}
		}
	case "acl":
		if at(1) == "setuser" {
			hideFrom(2, len(words))
		}
	case "config":
		for i := 2; at(1) == "set" && i < len(words); i += 2 {
			if isSecretOption(at(i)) {
				hideFrom(i+1, i+2)
			}
		}
	default:
		for i := range shown {
			shown[i] = hideURLs(shown[i])
		}
	}
	return shown
}

// TellsSecrets reports whether the reply to a command has passwords or their hashes in it.
func TellsSecrets(words []string) bool {
	if len(words) < 2 {
		return false
	}
	switch strings.ToLower(words[0] + " " + words[1]) {
	case "config get", "acl getuser", "acl list", "acl genpass":
		return true
	}
	return false
}

// isSecretOption reports whether the value of a directive or of an option is a password.
func isSecretOption(name string) bool {
	name = strings.ToLower(strings.TrimLeft(name, "-"))
	switch name {
	case "a", "pass", "requirepass", "masterauth", "tls-key-file-pass", "tls-client-key-file-pass":
		return true
	}
	for _, part := range []string{"password", "passwd", "secret", "token", "apikey", "api-key"} {
		if strings.HasSuffix(name, part) {
			return true
		}
	}
	return false
}

// Program returns a command line without its passwords: those in URLs, those behind an option such as
// --password, and those of variables such as REDIS_PASSWORD=.
func Program(words []string) []string {
	shown := make([]string, len(words))
	for i, word := range words {
		name, _, given := strings.Cut(word, "=")
		switch {
		case given && isSecretOption(name):
			shown[i] = name + "=" + Hidden
		case i > 0 && strings.HasPrefix(words[i-1], "-") && isSecretOption(words[i-1]):
			shown[i] = Hidden
		default:
			shown[i] = hideURLs(word)
		}
	}
	return shown
}

// hideURLs removes the passwords of URLs in a text.
func hideURLs(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	return regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/'"<>]*@`).ReplaceAllStringFunc(s, func(part string) string {
		if u, err := url.Parse(part); err == nil && u.User.String() == "" {
			return part
		}
		scheme, _, _ := strings.Cut(part, "://")
		return scheme + "://" + Hidden + "@"
	})
}

// Command returns a line of a shell or of redis-cli without its passwords. A line of LAB stays as it is.
func Command(line string) string {
	words, ok := config.SplitArgs(line)
	if !ok {
		words = strings.Fields(line)
	}
	if len(words) == 0 || strings.EqualFold(words[0], "lab") {
		return line // rules of the lab have no secrets
	}
	at := 0
	if strings.EqualFold(words[0], "redis-cli") {
		at = 1
	}
	shown := Program(words)
	copy(shown[at:], Words(shown[at:]))
	if slices.Equal(shown, words) {
		return line
	}
	return lab.Line(shown)
}
