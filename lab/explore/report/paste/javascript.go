package paste

import (
	"fmt"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// vitest writes tests for the package of clients/fixtures/node.
func vitest() *dialect {
	return &dialect{
		name: "Vitest", file: "explored.test.js", comment: "//", indent: "  ", quote: quoteJavaScript,
		server: func(masters, master int) string {
			if masters == 1 || master == 0 {
				return "redis"
			}
			return fmt.Sprintf("redis.master(%d)", master)
		},
		rule:    ruleJavaScript,
		wait:    func(v string) string { return "await " + v + ".wait();" },
		letGo:   func(v string) string { return "await " + v + ".release();" },
		advance: func(server string, ms int64) string { return fmt.Sprintf("await %s.clock.advance(%d);", server, ms) },
		crash: func(server string, keep bool, ms int64) string {
			options := []string{}
			if ms > 0 {
				options = append(options, fmt.Sprintf("down: %d", ms))
			}
			if keep {
				options = append(options, `lose: "nothing"`)
			}
			return "await " + server + ".crash({ " + strings.Join(options, ", ") + " });"
		},
		settle: func(server string) string {
			return fill(`// The other clients go on, until they send nothing any more.
for (let i = 0, seen = -1; i < 4 && seen !== (await <server>.log()).length; i++) {
  seen = (await <server>.log()).length;
  await setTimeout(250);
}`, "<server>", server)
		},
		send: func(d *dialect, server string, s step) string {
			if s.waits() {
				return "expect(await " + server + ".lab(" + d.quoted(s.words) + ")).not.toBeNull();"
			}
			if server == "redis" && s.master == 0 {
				s.words = append([]string{"ALL"}, s.words...)
			}
			return "await " + server + ".lab(" + d.quoted(s.words) + ");"
		},
		harmed: harmedJavaScript,
		frame:  frameJavaScript,
	}
}

func ruleJavaScript(d *dialect, server, variable string, s step) string {
	conds := []string{}
	for _, c := range s.conds {
		value := d.quote(c.value)
		if c.isNumber() {
			value = c.value
		}
		conds = append(conds, strings.ToLower(c.word)+": "+value)
	}
	given := ""
	if len(conds) > 0 {
		given = ", { " + strings.Join(conds, ", ") + " }"
	}
	arg := s.arg
	if s.isText() {
		arg = d.quote(s.arg)
	}
	line := fmt.Sprintf("await %s.fault(%s%s).%s(%s);", server, d.quote(s.name), given, s.in(camel), arg)
	if variable != "" {
		line = "const " + variable + " = " + line
	}
	return line
}

func harmedJavaScript(d *dialect, t *draft) string {
	switch {
	case t.staysTaken():
		code := ""
		if t.isAbout(explore.ForEver) {
			code = "await redis.clock.advance(24 * 3600 * 1000); // longer than any lease\n"
		}
		for n := 1; n <= t.masters; n++ {
			code += "expect(await " + d.server(t.masters, n) + `.do("EXISTS", ` + d.quote(t.finding.Lock) + ")).toBe(0);\n"
		}
		return code
	case t.isAbout(explore.CheckFails):
		if t.report.InTest {
			return ""
		}
		return "expect(program.exitCode).toBe(0);\n// The command of --invariant belongs here."
	case t.isAbout(explore.NeverWakes, explore.NeverEnds):
		return ""
	}
	return "await redis.assertOneHolder(" + d.quote(lockGlob(t)) + ");"
}

func frameJavaScript(d *dialect, t *draft) string {
	options := "{ runner"
	if t.masters > 1 {
		options += fmt.Sprintf(", masters: %d", t.masters)
	}
	if len(t.report.Server) > 0 {
		options += ", args: [" + d.quoted(t.report.Server) + "]"
	}
	options += " }"
	imports := `import { spawn } from "node:child_process";
import { once } from "node:events";
import { useMiniRedisd } from "miniredisd";
`
	trial, run := "", `  const urls = <urls>;
  const port = String(redis.port);
  const env = { ...process.env, REDIS_URL: redis.url, REDIS_URLS: urls, REDIS_HOST: "127.0.0.1" };
  Object.assign(env, { REDIS_PORT: port, MINIREDISD_PORT: port });
  const [command, ...args] = [<program>];
  const program = spawn(command, args, { env, stdio: "inherit", timeout: 55_000, killSignal: "SIGKILL" });
  const ended = once(program, "exit");
  try {
<during>    await ended;
  } finally {
    program.kill("SIGKILL");
  }
  expect(program.signalCode, "the program did not end").toBeNull();
`
	during := t.during
	if t.report.InTest {
		imports = `import { useMiniRedisd } from "miniredisd";` + "\n"
		trial = "\nasync function trial() {\n  throw new Error(" + d.quote(t.paste()) + ");\n}\n"
		run = "  const done = trial();\n<during>  await done;\n"
	} else {
		during = deeper(t.during, d.indent)
	}
	urls := "redis.url"
	if t.masters > 1 {
		urls = `redis.urls.join(",")`
	}
	run = fill(run, "<urls>", urls, "<program>", d.quoted(t.program), "<during>", during)
	if strings.Contains(t.during, "await setTimeout(") {
		timers := `import { setTimeout } from "node:timers/promises";` + "\n"
		imports = strings.Replace(imports, "import { useMini", timers+"import { useMini", 1)
	}
	used := "test"
	if strings.Contains(t.before+run+t.after, "expect(") {
		used = "expect, test"
	}
	return t.about + imports + "import * as runner from \"vitest\";\nimport { " + used + " } from \"vitest\";\n\n" +
		"const redis = useMiniRedisd(" + options + ");\n" + trial + "\ntest(" + d.quote(strings.Join(t.name, " ")) +
		", async () => {\n" + t.before + run + t.after + "}, 60_000);\n"
}

// quoteJavaScript returns a literal of a text.
func quoteJavaScript(s string) string {
	return literal(s, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })
}
