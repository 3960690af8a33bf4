package paste

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// pytest writes tests for the fixtures of clients/fixtures/python.
func pytest() *dialect {
	return &dialect{
		name: "pytest", file: "test_explored.py", comment: "#", indent: "    ", quote: quotePython,
		server: func(masters, master int) string {
			switch {
			case masters == 1:
				return "miniredisd"
			case master == 0:
				return "miniredisd_masters"
			}
			return fmt.Sprintf("miniredisd_masters.masters[%d]", master-1)
		},
		rule: func(d *dialect, server, variable string, s step) string {
			args := []string{d.quote(s.name)}
			for _, c := range s.conds {
				value := d.quote(c.value)
				if c.isNumber() {
					value = c.value
				}
				args = append(args, strings.ToLower(c.word)+"="+value)
			}
			action := ""
			switch {
			case s.isText():
				action = d.quote(s.arg)
			case s.arg != "":
				action = s.arg
			}
			line := fmt.Sprintf("%s.fault(%s).%s(%s)", server, strings.Join(args, ", "), s.in(snake), action)
			if variable != "" {
				line = variable + " = " + line
			}
			return line
		},
		wait:    func(v string) string { return v + ".wait()" },
		letGo:   func(v string) string { return v + ".release()" },
		advance: func(server string, ms int64) string { return fmt.Sprintf("%s.clock.advance(%d)", server, ms) },
		crash: func(server string, keep bool, ms int64) string {
			args := []string{}
			if ms > 0 {
				args = append(args, strconv.FormatInt(ms, 10))
			}
			if keep {
				args = append(args, "keep_keys=True")
			}
			return server + ".crash(" + strings.Join(args, ", ") + ")"
		},
		settle: func(server string) string {
			return fill(`for _ in range(4):  # the other clients go on, until they send nothing any more
    seen = len(<server>.log())
    time.sleep(0.25)
    if seen == len(<server>.log()):
        break`, "<server>", server)
		},
		send: func(d *dialect, server string, s step) string {
			line := server + ".lab(" + d.quoted(s.words) + ")"
			if s.waits() {
				line = "assert " + line + `, "the request did not come: explore the program again"`
			}
			return line
		},
		harmed: harmedPython,
		frame:  framePython,
	}
}

func harmedPython(d *dialect, t *draft) string {
	all := d.server(t.masters, 0)
	switch {
	case t.staysTaken():
		line := "EXISTS " + string(ascii.AppendQuoted(nil, t.finding.Lock)) + "\r\n"
		later := ""
		if t.isAbout(explore.ForEver) {
			later = "<all>.clock.advance(24 * 3600 * 1000)  # longer than any lease\n"
		}
		return fill(later+`for port in <all>.ports:
    with socket.create_connection((<all>.host, port)) as server:
        server.sendall(<question>)
        assert server.recv(64) == b":0\r\n", "nobody holds the lock, and it is taken"`,
			"<all>", all, "<question>", "b"+d.quote(line))
	case t.isAbout(explore.CheckFails):
		if t.report.InTest {
			return ""
		}
		return `assert code == 0, f"the program ended with {code}"` + "\n# The command of --invariant belongs here."
	case t.isAbout(explore.NeverWakes, explore.NeverEnds):
		return ""
	}
	return all + ".assert_one_holder(" + d.quote(lockGlob(t)) + ")"
}

// lockGlob is the lock that a test asserts something about.
func lockGlob(t *draft) string {
	if t.finding.Lock == "" {
		return "*"
	}
	return glob(t.finding.Lock)
}

func framePython(d *dialect, t *draft) string {
	server, note := d.server(t.masters, 0), ""
	if t.masters > 1 {
		note = fmt.Sprintf("# The configuration of pytest says: miniredisd_masters = %d\n", t.masters)
	}
	if len(t.report.Server) > 0 {
		note += "# The configuration of pytest says: miniredisd_options = " + strings.Join(t.report.Server, " ") + "\n"
	}
	trial, body := "", `    env = {**os.environ, "REDIS_URL": <server>.url, "REDIS_URLS": ",".join(<server>.urls)}
    env.update(REDIS_HOST=<server>.host, REDIS_PORT=str(<server>.port), MINIREDISD_PORT=str(<server>.port))
    program = subprocess.Popen([<program>], env=env)
    try:
<during>        <code>program.wait(timeout=60)
    finally:
        program.kill()
        program.wait()
`
	if t.report.InTest {
		trial = fmt.Sprintf("def trial(%s):\n    raise NotImplementedError(%s)\n\n\n", server, d.quote(t.paste()))
		body = `    with ThreadPoolExecutor() as pool:
        done = pool.submit(trial, <server>)
<during>        done.result(timeout=60)
`
	}
	code := ""
	if t.isAbout(explore.CheckFails) {
		code = "code = "
	}
	body = t.before + fill(body, "<server>", server, "<during>", deeper(t.during, d.indent), "<code>", code,
		"<program>", d.quoted(t.program)) + t.after
	imports := ""
	for _, line := range []struct{ word, line string }{
		{"os.environ", "import os"}, {"socket.create", "import socket"}, {"subprocess.", "import subprocess"},
		{"time.sleep", "import time"}, {"ThreadPoolExecutor", "from concurrent.futures import ThreadPoolExecutor"},
	} {
		if strings.Contains(body, line.word) {
			imports += line.line + "\n"
		}
	}
	return t.about + note + "\n" + imports + "\n\n" + trial + "def test_" + snake(t.name) + "(" + server + "):\n" + body
}

// quotePython returns a literal of a text.
func quotePython(s string) string {
	return literal(s, func(r rune) string {
		switch {
		case r < 0x100:
			return fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	})
}
