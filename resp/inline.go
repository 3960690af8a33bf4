package resp

// inline reads a command that is a line of words, as people type it in telnet (networking.c:
// processInlineBuffer).
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

// Words splits a line as an inline command is split. ok is false if its quotes are unbalanced. Words
// without quotes alias the line.
func Words(line []byte) (words [][]byte, ok bool) { return appendWords(nil, line) }

// appendWords splits a line by Redis's rules (sds.c: sdssplitargs). Words without quotes alias the line.
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
			if word, i = appendUnquoted(word, line, i); i < 0 {
				return words, false
			}
		}
		words = append(words, word)
	}
}

// appendUnquoted appends the text between the quote at i and the closing quote, unescaped. It returns the
// position after the closing quote, which must be a space or the end of the line. It returns -1 if the
// quotes are unbalanced. The capacity of word is its length, so append copies it and the line does not
// change.
func appendUnquoted(word, line []byte, i int) ([]byte, int) {
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

// isSpace reports whether c separates words. endsWord reports whether c ends a word without quotes,
// which is a smaller set. Redis has the same two.
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
