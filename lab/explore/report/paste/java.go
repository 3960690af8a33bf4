package paste

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/lab/explore"
)

// junit writes tests for the extension of clients/fixtures/java.
func junit() *dialect {
	return &dialect{
		name: "JUnit", file: "ExploredTest.java", comment: "//", indent: "        ", quote: quoteJava,
		server: func(masters, master int) string {
			if masters == 1 || master == 0 {
				return "redis"
			}
			return fmt.Sprintf("redis.master(%d)", master)
		},
		rule:  ruleJava,
		wait:  func(v string) string { return v + ".await();" },
		letGo: func(v string) string { return v + ".release();" },
		advance: func(server string, ms int64) string {
			return fmt.Sprintf("%s.clock().advance(Duration.ofMillis(%d));", server, ms)
		},
		crash: func(server string, keep bool, ms int64) string {
			if ms > 0 {
				return fmt.Sprintf("%s.crash(%t, Duration.ofMillis(%d));", server, keep, ms)
			}
			return fmt.Sprintf("%s.crash(%t);", server, keep)
		},
		settle: func(server string) string {
			return fill(`// The other clients go on, until they send nothing any more.
for (int i = 0, seen = -1; i < 4 && seen != <server>.log().size(); i++) {
    seen = <server>.log().size();
    Thread.sleep(250);
}`, "<server>", server)
		},
		send: func(d *dialect, server string, s step) string {
			line := server + ".lab(" + d.quoted(s.words) + ")"
			if s.waits() {
				return "assertNotNull(" + line + `, "the request did not come: explore the program again");`
			}
			return line + ";"
		},
		harmed: harmedJava,
		frame:  frameJava,
	}
}

func ruleJava(d *dialect, server, variable string, s step) string {
	var b strings.Builder
	if variable != "" {
		b.WriteString("Hold " + variable + " = ")
	}
	fmt.Fprintf(&b, "%s.fault(%s)", server, d.quote(s.name))
	for _, c := range s.conds {
		method := map[string]string{"CMD": "command"}[c.word]
		if method == "" {
			method = strings.ToLower(c.word)
		}
		value := d.quote(c.value)
		if c.isNumber() && c.word != "CLIENT" {
			value = c.value
		}
		fmt.Fprintf(&b, ".%s(%s)", method, value)
	}
	arg := s.arg
	switch {
	case s.isText():
		arg = d.quote(s.arg)
	case s.isMillis():
		arg = "Duration.ofMillis(" + s.arg + ")"
	}
	fmt.Fprintf(&b, ".%s(%s);", s.in(camel), arg)
	return b.String()
}

func harmedJava(d *dialect, t *draft) string {
	switch {
	case t.staysTaken():
		ports := "redis.port()"
		if t.masters > 1 {
			ports = "redis.ports()"
		}
		question := d.quote("EXISTS " + string(ascii.AppendQuoted(nil, t.finding.Lock)) + "\r\n")
		later := ""
		if t.isAbout(explore.ForEver) {
			later = "redis.clock().advance(Duration.ofDays(1)); // longer than any lease\n"
		}
		code := later + `for (int port : <ports>) {
    try (Socket server = new Socket("127.0.0.1", port)) {
        server.getOutputStream().write(<question>.getBytes(StandardCharsets.UTF_8));
        assertEquals(":0", new BufferedReader(new InputStreamReader(server.getInputStream())).readLine());
    }
}`
		if t.masters == 1 {
			ports = "new int[] {redis.port()}"
		}
		return fill(code, "<ports>", ports, "<question>", question)
	case t.isAbout(explore.CheckFails):
		if t.report.InTest {
			return ""
		}
		return `assertEquals(0, program.exitValue(), "the program's exit code");` +
			"\n// The command of --invariant belongs here."
	case t.isAbout(explore.NeverWakes, explore.NeverEnds):
		return ""
	}
	return "redis.assertOneHolder(" + d.quote(lockGlob(t)) + ");"
}

func frameJava(d *dialect, t *draft) string {
	redis := "MiniRedisd.create()"
	if t.masters > 1 || len(t.report.Server) > 0 {
		redis = "MiniRedisd.builder()"
		if t.masters > 1 {
			redis += fmt.Sprintf(".masters(%d)", t.masters)
		}
		for words := t.report.Server; len(words) > 1; words = words[2:] {
			redis += ".option(" + d.quoted(words[:2]) + ")"
		}
		redis += ".build()"
	}
	trial, run := "", `        ProcessBuilder builder = new ProcessBuilder(<program>).inheritIO();
        Map<String, String> env = builder.environment();
        env.put("REDIS_URL", <first>.url());
        env.put("REDIS_URLS", <urls>);
        env.put("REDIS_HOST", "127.0.0.1");
        env.put("REDIS_PORT", String.valueOf(<first>.port()));
        env.put("MINIREDISD_PORT", String.valueOf(<first>.port()));
        Process program = builder.start();
        try {
<during>            assertTrue(program.waitFor(60, TimeUnit.SECONDS), "the program did not end");
        } finally {
            program.destroyForcibly();
        }
`
	if t.report.InTest {
		trial = "\n    void trial() {\n        fail(" + d.quote(t.paste()) + ");\n    }\n"
		run = "        CompletableFuture<Void> done = CompletableFuture.runAsync(this::trial);\n<during>" +
			"        done.get(60, TimeUnit.SECONDS);\n"
	}
	first, urls, during := "redis", "redis.url()", t.during
	if t.masters > 1 {
		first, urls = "redis.master(1)", `String.join(",", redis.urls())`
	}
	if !t.report.InTest {
		during = deeper(t.during, "    ")
	}
	run = fill(run, "<program>", d.quoted(t.program), "<during>", during, "<first>", first, "<urls>", urls)
	body := t.before + run + t.after
	return t.about + "\n" + importsJava(trial+body) + "\nclass ExploredTest {\n    @RegisterExtension\n" +
		"    static MiniRedisd redis = " + redis + ";\n" + trial + "\n    @Test\n    void " + camel(t.name) +
		"() throws Exception {\n" + body + "    }\n}\n"
}

// importsJava returns the imports that the code needs.
func importsJava(code string) string {
	statics, classes := "", ""
	for _, name := range []string{"assertEquals", "assertNotNull", "assertTrue", "fail"} {
		if strings.Contains(code, name+"(") {
			statics += "import static org.junit.jupiter.api.Assertions." + name + ";\n"
		}
	}
	for _, c := range []struct{ name, word string }{
		{"io.github.miniredisd.junit.Hold", "Hold hold"}, {"io.github.miniredisd.junit.MiniRedisd", ""},
		{"java.io.BufferedReader", "BufferedReader("}, {"java.io.InputStreamReader", "InputStreamReader("},
		{"java.net.Socket", "Socket("}, {"java.nio.charset.StandardCharsets", "StandardCharsets."},
		{"java.time.Duration", "Duration."}, {"java.util.Map", "Map<"},
		{"java.util.concurrent.CompletableFuture", "CompletableFuture<"},
		{"java.util.concurrent.TimeUnit", "TimeUnit."}, {"org.junit.jupiter.api.Test", ""},
		{"org.junit.jupiter.api.extension.RegisterExtension", ""},
	} {
		if strings.Contains(code, c.word) {
			classes += "import " + c.name + ";\n"
		}
	}
	if statics != "" {
		statics += "\n"
	}
	return statics + classes
}

// quoteJava returns a literal of a text.
func quoteJava(s string) string {
	return literal(s, func(r rune) (units string) {
		for _, unit := range utf16.Encode([]rune{r}) {
			units += fmt.Sprintf(`\u%04x`, unit)
		}
		return units
	})
}
