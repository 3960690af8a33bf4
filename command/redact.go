package command

import "slices"

var redacted = []byte("(redacted)")

// redact returns the arguments as MONITOR and SLOWLOG show them: without secrets.
func redact(cmd *Command, args [][]byte) [][]byte {
	if cmd.Secrets == nil {
		return args
	}
	shown := slices.Clone(args)
	for _, i := range cmd.Secrets(args) {
		shown[i] = redacted
	}
	return shown
}

// allFrom1 is the Secrets of a command whose arguments are all secret.
func allFrom1(args [][]byte) []int { return indexes(1, len(args)) }

// AllFrom2 is the Secrets of a subcommand whose arguments are all secret.
func AllFrom2(args [][]byte) []int { return indexes(2, len(args)) }

// indexes returns the numbers from first to before end.
func indexes(first, end int) (all []int) {
	for i := first; i < end; i++ {
		all = append(all, i)
	}
	return all
}

// helloSecrets returns the name and the password after AUTH.
func helloSecrets(args [][]byte) []int {
	for i := 2; i+2 < len(args); i++ {
		switch {
		case is(args[i], "auth"):
			return []int{i + 1, i + 2}
		case is(args[i], "setname"):
			i++
		}
	}
	return nil
}

// migrateSecrets returns the password after AUTH, and the name and password after AUTH2.
func migrateSecrets(args [][]byte) (secrets []int) {
	for i := 6; i < len(args) && !is(args[i], "keys"); i++ {
		n := 0
		switch {
		case is(args[i], "auth"):
			n = 1
		case is(args[i], "auth2"):
			n = 2
		}
		if i+n < len(args) {
			secrets = append(secrets, indexes(i+1, i+1+n)...)
			i += n
		}
	}
	return secrets
}
