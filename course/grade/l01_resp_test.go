package grade

import (
	"net"
	"strings"
	"testing"
)

// oneAfterAnother serves one client at a time.
func oneAfterAnother(parse func([]byte) ([]string, int)) func() {
	return func() {
		data := plain{}
		serve(func(nc net.Conn) {
			talk(nc, parse, func(words []string, write func(string)) { write(execute(data, words)) })
		})
	}
}

// parseRead takes what one read has got for one request, as if TCP had packets.
func parseRead(b []byte) (words []string, taken int) {
	if len(b) == 0 {
		return nil, 0
	}
	if words, _ = parseRequest(b); words == nil {
		words = []string{"half"}
	}
	return words, len(b)
}

// parseLines splits at line ends and ignores the lengths.
func parseLines(b []byte) (words []string, taken int) {
	lines := strings.SplitAfter(string(b), "\r\n")
	n := 0
	if len(lines[0]) > 3 {
		n = int(lines[0][1] - '0')
	}
	if n == 0 || len(lines) < 2*n+2 {
		return nil, 0
	}
	taken = len(lines[0])
	for i := range n {
		words = append(words, strings.TrimSuffix(lines[2*i+2], "\r\n"))
		taken += len(lines[2*i+1]) + len(lines[2*i+2])
	}
	return words, taken
}

func lab01Students() map[string]func() {
	return map[string]func(){
		"L01/right":    oneAfterAnother(parseRequest),
		"L01/finished": finished,
		"L01/deaf":     deaf,
		"L01/one-read": oneAfterAnother(parseRead),
		"L01/lines":    oneAfterAnother(parseLines),
	}
}

func TestRESPByHand(t *testing.T) {
	t.Parallel()
	full(t, "L01", "right")
	loses(t, "L01", "one-read", map[int]string{2: `ECHO that came in two reads, "*" | "2\r\n$4`, 3: "the rest is missing"})
	loses(t, "L01", "lines", map[int]string{4: `ECHO of a value that holds "a\r\nb"`})
}
