package command

import "github.com/miniredisd/miniredisd/internal/config"

var redacted = []byte("(redacted)")

// redact returns the arguments as others may see them: without passwords.
func redact(cmd *Command, args [][]byte) [][]byte {
	first, n := 0, 0
	switch cmd.Name {
	case "auth":
		first, n = 1, len(args)-1
	case "hello":
		for i := 2; i+2 < len(args); i++ {
			if is(args[i], "auth") {
				first, n = i+1, 2
				break
			}
			if is(args[i], "setname") {
				i++
			}
		}
	case "migrate":
		return redactMigrate(args)
	case "config|set":
		return redactConfig(args)
	case "acl|setuser", "acl|getuser", "acl|deluser":
		first, n = 2, len(args)-2
	default:
		if cmd.Flags&HiddenArgs == 0 {
			return args
		}
		first, n = 1, len(args)-1
	}
	shown := append([][]byte(nil), args...)
	for i := first; i < first+n; i++ {
		shown[i] = redacted
	}
	return shown
}

func redactMigrate(args [][]byte) [][]byte {
	shown := args
	for i := 6; i < len(args) && !is(args[i], "keys"); i++ {
		secrets := 0
		switch {
		case is(args[i], "auth"):
			secrets = 1
		case is(args[i], "auth2"):
			secrets = 2
		}
		if secrets == 0 || i+secrets >= len(args) {
			continue
		}
		shown = append([][]byte(nil), shown...)
		for range secrets {
			i++
			shown[i] = redacted
		}
	}
	return shown
}

func redactConfig(args [][]byte) [][]byte {
	shown := args
	for i := 2; i+1 < len(args); i += 2 {
		if !config.Sensitive(string(args[i])) {
			continue
		}
		if &shown[0] == &args[0] {
			shown = append([][]byte(nil), args...)
		}
		shown[i+1] = redacted
	}
	return shown
}
