package resp

// inline reads a command typed as a line, for telnet and health checks: words divided by spaces, ended by '\n'.
func (p *Parser) inline(buf []byte, b *Batch) (int, error) {
	end, err := p.lineEnd(buf, '\n', errInlineLine)
	if end < 0 {
		return 0, err
	}
	line := buf[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	had := len(b.args)
	args, ok := appendWords(b.args, line)
	b.args = args
	if !ok {
		b.args = args[:had]
		return 0, errInlineQuote
	}
	if len(args) > had {
		b.ends = append(b.ends, len(args))
	}
	p.restart()
	return end + 1, nil
}

// Words splits a line as a command typed inline is split; ok is false when its quotes are unbalanced. What is not quoted
// aliases the line.
func Words(line []byte) (words [][]byte, ok bool) { return appendWords(nil, line) }

// appendWords splits a line as Redis's sdssplitargs does. Plain words alias the line.
func appendWords(words [][]byte, line []byte) (_ [][]byte, ok bool) {
	i := 0
	for {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return words, true
		}
		from := i
		for i < len(line) && !endsWord(line[i]) && !isQuote(line[i]) {
			i++
		}
		word := line[from:i:i]
		if i < len(line) && isQuote(line[i]) {
			if word, i = appendQuoted(word, line, i); i < 0 {
				return words, false
			}
		}
		words = append(words, word)
	}
}

// appendQuoted appends what stands between the quote at i and the one that closes it, and returns the position behind
// that, where the word ends: the line's end or a space. It is -1 when the quotes are unbalanced. The word's capacity is
// its length, so it is copied here and the line stays as it is.
func appendQuoted(word, line []byte, i int) ([]byte, int) {
	quote := line[i]
	for i++; i < len(line); i++ {
		c := line[i]
		switch {
		case c == quote:
			if i+1 < len(line) && !isSpace(line[i+1]) {
				return word, -1
			}
			return word, i + 1
		case c == '\\' && quote == '\'' && i+1 < len(line) && line[i+1] == '\'':
			i++
			c = '\''
		case c == '\\' && quote == '"' && i+1 < len(line):
			i++
			c = unescape(line[i])
			if c == 'x' && i+2 < len(line) && isHex(line[i+1]) && isHex(line[i+2]) {
				c = hexValue(line[i+1])<<4 | hexValue(line[i+2])
				i += 2
			}
		}
		word = append(word, c)
	}
	return word, -1
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

// isSpace divides words; endsWord is the smaller set that ends one outside quotes. Redis has both.
func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func endsWord(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' }

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
