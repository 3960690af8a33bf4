package paste

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// gotest writes tests for package miniredistest.
func gotest() *dialect {
	return &dialect{
		name: "go test", file: "explored_test.go", comment: "//", indent: "\t", quote: strconv.Quote,
		server: func(masters, master int) string {
			switch {
			case masters == 1:
				return "srv"
			case master == 0:
				return "masters"
			}
			return fmt.Sprintf("masters[%d]", master-1)
		},
		rule:  ruleGo,
		wait:  func(v string) string { return v + ".Wait()" },
		letGo: func(v string) string { return v + ".Release()" },
		advance: func(server string, ms int64) string {
			return fmt.Sprintf("%s.Clock().Advance(%s)", server, millisGo(ms))
		},
		crash: func(server string, keep bool, ms int64) string {
			loss := "miniredistest.LoseKeys"
			if keep {
				loss = "miniredistest.KeepKeys"
			}
			return eachGo(server, ".Crash("+strings.ReplaceAll(millisGo(ms), " ", "")+", "+loss+")")
		},
		settle: func(server string) string {
			return fill(`for range 4 { // the other clients go on, until they send nothing any more
	seen := len(<server>.History())
	time.Sleep(250 * time.Millisecond)
	if seen == len(<server>.History()) {
		break
	}
}`, "<server>", server)
		},
		send: func(d *dialect, server string, s step) string {
			words := d.quoted(append([]string{"LAB"}, s.words...))
			if s.waits() {
				return fmt.Sprintf("if %s.Do(%s).Null {\n\tt.Fatal(\"the request did not come: explore the program again\")\n}",
					server, words)
			}
			return eachGo(server, ".Do("+words+")")
		},
		harmed: harmedGo,
		frame:  frameGo,
	}
}

// eachGo calls a method of one server, or of each master.
func eachGo(server, call string) string {
	if server == "masters" {
		return "for _, master := range masters {\n\tmaster" + call + "\n}"
	}
	return server + call
}

func millisGo(ms int64) string {
	if ms == 0 {
		return "0"
	}
	if ms%1000 == 0 {
		return fmt.Sprintf("%d * time.Second", ms/1000)
	}
	return fmt.Sprintf("%d * time.Millisecond", ms)
}

func ruleGo(d *dialect, server, variable string, s step) string {
	var b strings.Builder
	if variable != "" {
		b.WriteString(variable + " := ")
	}
	fmt.Fprintf(&b, "%s.Fault(%s)", server, d.quote(s.name))
	for _, c := range s.conds {
		switch {
		case c.word == "CLIENT" && c.isNumber():
			fmt.Fprintf(&b, ".ClientID(%s)", c.value)
		case c.isNumber():
			fmt.Fprintf(&b, ".%s(%s)", pascal([]string{strings.ToLower(c.word)}), c.value)
		default:
			fmt.Fprintf(&b, ".%s(%s)", pascal([]string{strings.ToLower(c.word)}), d.quote(c.value))
		}
	}
	arg := s.arg
	switch {
	case s.isText():
		arg = d.quote(s.arg)
	case s.isMillis():
		ms, _ := strconv.ParseInt(s.arg, 10, 64)
		arg = millisGo(ms)
	}
	fmt.Fprintf(&b, ".%s(%s)", s.in(pascal), arg)
	return b.String()
}

func harmedGo(d *dialect, t *draft) string {
	all := d.server(t.masters, 0)
	lock := d.quote(lockGlob(t))
	switch {
	case t.staysTaken():
		later := ""
		if t.isAbout(explore.ForEver) {
			later = all + ".Clock().Advance(24 * time.Hour) // longer than any lease\n"
		}
		return later + all + ".AssertNone(" + lock + ")"
	case t.isAbout(explore.CheckFails):
		if t.report.InTest {
			return ""
		}
		return "if err != nil {\n\tt.Errorf(\"the program ended with %v\", err)\n}\n" +
			"// The command of --invariant belongs here."
	case t.isAbout(explore.NeverWakes, explore.NeverEnds):
		return ""
	}
	return all + ".AssertOneHolder(" + lock + ")"
}

func frameGo(d *dialect, t *draft) string {
	imports := []string{"testing", "time"}
	options := "miniredistest.Frozen()"
	if len(t.report.Server) > 0 {
		options += ",\n\t\tminiredistest.Config(" + d.quoted(t.report.Server) + ")"
	}
	start := "srv := miniredistest.Run(t, " + options + ")"
	first, urls, kind := "srv", "srv.URL()", "*miniredistest.Server"
	if t.masters > 1 {
		start = fmt.Sprintf("masters := miniredistest.RunMasters(t, %d, %s)", t.masters, options)
		first, urls, kind = "masters[0]", `"redis://"+strings.Join(masters.Addrs(), ",redis://")`, "miniredistest.Masters"
	}
	trial := ""
	run := `	done := make(chan struct{})
	go func() {
		defer close(done)
		trial(t, <all>)
	}()
<during>	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the trial did not end")
	}
`
	if t.report.InTest {
		trial = fmt.Sprintf("\nfunc trial(t *testing.T, %s %s) {\n\tt.Error(%s)\n}\n", d.server(t.masters, 0), kind,
			d.quote(t.paste()))
	} else {
		imports = []string{"context", "net", "os", "os/exec", "testing", "time"}
		if t.masters > 1 {
			imports = []string{"context", "net", "os", "os/exec", "strings", "testing", "time"}
		}
		ended := "_ = program.Wait()"
		if t.isAbout(explore.CheckFails) {
			ended = "err = program.Wait()"
		}
		run = `	host, port, err := net.SplitHostPort(<first>.Addr())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, <program>)
	program.Stdout, program.Stderr = os.Stdout, os.Stderr
	program.Env = append(os.Environ(), "REDIS_URL="+<first>.URL(), "REDIS_URLS="+<urls>, "REDIS_HOST="+host,
		"REDIS_PORT="+port, "MINIREDISD_PORT="+port)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
<during>	` + ended + `
	if ctx.Err() != nil {
		t.Fatal("the program did not end")
	}
`
	}
	run = fill(run, "<first>", first, "<urls>", urls, "<all>", d.server(t.masters, 0), "<program>", d.quoted(t.program),
		"<during>", t.during)
	return "package explored\n\nimport (\n\t\"" + strings.Join(imports, "\"\n\t\"") + "\"\n\n" +
		"\t\"github.com/miniredisd/miniredisd/miniredistest\"\n)\n" + trial + "\n" + t.about + "func Test" + pascal(t.name) +
		"(t *testing.T) {\n\t" + start + "\n" + t.before + run + t.after + "}\n"
}
