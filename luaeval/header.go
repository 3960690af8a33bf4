package luaeval

import (
	"errors"
	"strings"

	"github.com/miniredisd/miniredisd/resp"
)

// Flags are what a script declares (script.h: SCRIPT_FLAG_*).
type Flags uint8

// The flags of a shebang line. Compat stands for a script without one: each command of the script
// is checked by itself.
const (
	NoWrites Flags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys
	Compat
)

// Header is the first line of a script: `#!lua name=mylib flags=no-writes,allow-oom`.
type Header struct {
	Flags Flags
}

func flagNamed(name string) Flags {
	switch name {
	case "no-writes":
		return NoWrites
	case "allow-oom":
		return AllowOOM
	case "allow-stale":
		return AllowStale
	case "no-cluster":
		return NoCluster
	case "allow-cross-slot-keys":
		return AllowCrossSlotKeys
	}
	return 0
}

// Declared returns the flags of a script that is not compiled. Errors in its first line are left to
// the compilation.
func Declared(body []byte) Flags {
	if len(body) < 2 || body[0] != '#' {
		return Compat
	}
	h, _, err := parseHeader(string(body))
	if err != nil {
		return Compat
	}
	return h.Flags
}

// parseHeader reads the shebang. It returns the code with that line emptied, so line numbers stay.
func parseHeader(body string) (Header, string, error) {
	if !strings.HasPrefix(body, "#!") {
		return Header{Flags: Compat}, body, nil
	}
	end := strings.IndexAny(body, "\n\x00")
	if end < 0 || body[end] == 0 {
		return Header{}, "", errors.New("ERR Invalid script shebang")
	}
	words, ok := resp.Words([]byte(body[:end]))
	if !ok {
		return Header{}, "", errors.New("ERR Invalid engine in script shebang")
	}
	if string(words[0]) != "#!lua" {
		return Header{}, "", errors.New("ERR Unexpected engine in script shebang: " + string(words[0]))
	}
	var h Header
	for _, word := range words[1:] {
		list, ok := strings.CutPrefix(string(word), "flags=")
		if !ok {
			return Header{}, "", errors.New("ERR Unknown lua shebang option: " + string(word))
		}
		if list == "" {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			flag := flagNamed(name)
			if flag == 0 {
				return Header{}, "", errors.New("ERR Unexpected flag in script shebang: " + name)
			}
			h.Flags |= flag
		}
	}
	return h, body[end:], nil
}
