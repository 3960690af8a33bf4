package trace

// AppendText appends text as a string of JSON. It is printable ASCII: AppendEscaped made it.
func AppendText(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '?')
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Bytes shown of a read or a reply, and of a command.
const (
	shownBytes   = 128
	shownCommand = 256
)

// Shown returns the first bytes of a read or a reply, escaped as redis-cli does.
func Shown(data []byte) string {
	return string(AppendEscaped(nil, data[:min(len(data), shownBytes)]))
}

// AppendEscaped appends data in printable ASCII, escaped as redis-cli does.
func AppendEscaped(b, data []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range data {
		switch {
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// Command returns the words of a command as one types them in redis-cli, at most 256 bytes.
func Command(args [][]byte) string {
	var b []byte
	for i, arg := range args {
		if len(b) >= shownCommand {
			break
		}
		if i > 0 {
			b = append(b, ' ')
		}
		arg = arg[:min(len(arg), shownCommand)]
		if IsPlain(arg) {
			b = append(b, arg...)
		} else {
			b = append(AppendEscaped(append(b, '"'), arg), '"')
		}
	}
	return string(b[:min(len(b), shownCommand)])
}

// IsPlain reports whether redis-cli needs no quotes for a word.
func IsPlain(arg []byte) bool {
	for _, c := range arg {
		if c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\' {
			return false
		}
	}
	return len(arg) > 0
}

// Partial returns bytes that are no complete command yet, with a blank for each end of a line:
// *3 $3 SET $6 lock:_
func Partial(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	b := make([]byte, 0, shownBytes)
	for i := 0; i < len(data) && len(b) < shownBytes; i++ {
		switch c := data[i]; {
		case c == '\r' && i+1 < len(data) && data[i+1] == '\n':
			b = append(b, ' ')
			i++
		default:
			b = AppendEscaped(b, data[i:i+1])
		}
	}
	return string(append(b, '_'))
}
