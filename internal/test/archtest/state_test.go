package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// constants has the variables at package level that are constant, but of types that Go has no constants
// for. Nothing may assign to them, so that servers in one process share nothing.
func constants() map[string]string {
	return map[string]string{
		"luaeval/limits.ErrMemory":        "an error to compare with",
		"luaeval/lualib.boundHoles":       "lowers a bound that gopher-lua keeps for the whole process, once",
		"internal/config.ErrNoFile":       "an error to compare with",
		"internal/config.table":           "every directive; Parse reads it",
		"internal/rdb.crcTables":          "the tables of a polynomial",
		"internal/double.tenPowers":       "a table of powers of ten",
		"internal/geo.grid":               "a table of sines and cosines",
		"node.commands":                   "every command; executors only read it",
		"command.redacted":                "what MONITOR shows instead of a password",
		"lab/glass/glasshttp.page":        "embedded files",
		"lab/glass/glasshttp.sourcesJSON": "an embedded file",
		"course/labs.files":               "embedded files",
		"docs/lab.page":                   "an embedded file",
		"lab/explore/report.files":        "embedded files",

		"miniredistest/miniredis.ErrKeyNotFound":           "an error to compare with",
		"miniredistest/miniredis.ErrWrongType":             "an error to compare with",
		"miniredistest/miniredis.ErrNotValidHllValue":      "an error to compare with",
		"miniredistest/miniredis.ErrIntValueError":         "an error to compare with",
		"miniredistest/miniredis.ErrIntValueOverflowError": "an error to compare with",
		"miniredistest/miniredis.ErrFloatValueError":       "an error to compare with",
	}
}

// isTool reports whether a package is a tool or a test helper, and not part of a server.
func isTool(pkg string) bool {
	return pkg == "bench" || strings.HasPrefix(pkg, "bench/") || pkg == "clients/interop/matrix" ||
		pkg == "clients/interop/redlock" || pkg == "clients/interop/tls" || pkg == "clients/interop/suite" ||
		pkg == "clients/interop/explore" || pkg == "clients/interop/sentinel" || pkg == "clients/interop/topology" ||
		pkg == "internal/test/transcript" || pkg == "internal/test/differential" || pkg == "internal/test/redistest" ||
		pkg == "internal/test/browser"
}

func TestNoPackageHasStateOfItsOwn(t *testing.T) {
	set, files := sources(t)
	vars := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				require.False(t, d.Recv == nil && d.Name.Name == "init", "%s: an init function", set.Position(d.Pos()))
			case *ast.GenDecl:
				for _, name := range variables(d) {
					vars[f.pkg+"."+name] = true
				}
			}
		}
	}
	for _, f := range files {
		if isTool(f.pkg) {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			for _, id := range changed(n) {
				ofPackage := id.Obj == nil || id.Obj == f.Scope.Lookup(id.Name)
				require.False(t, ofPackage && vars[f.pkg+"."+id.Name],
					"%s: %s is a variable of the package, and this changes it", set.Position(n.Pos()), id.Name)
			}
			return true
		})
	}
	allowed := constants()
	for v := range vars {
		if !isTool(v[:strings.LastIndexByte(v, '.')]) {
			require.Contains(t, allowed, v, "a variable at package level: if it is constant, add it to the list")
		}
	}
	for v := range allowed {
		require.Contains(t, vars, v, "it does not exist any more: remove it from the list")
	}
}

// foreign has the variables of other packages that ours set, for the whole process.
func foreign() map[string]string {
	return map[string]string{
		"github.com/yuin/gopher-lua.MaxArrayIndex": "the bound of an array, which no state of Lua has for itself",
	}
}

func TestNoPackageSetsAVariableOfAnother(t *testing.T) {
	set, files := sources(t)
	found := map[string]bool{}
	for _, f := range files {
		if isTool(f.pkg) {
			continue
		}
		paths := map[string]string{} // by the name that the file uses
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			name := path[strings.LastIndexByte(path, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			paths[name] = path
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			for _, e := range targets(n) {
				ast.Inspect(e, func(n ast.Node) bool {
					s, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if id, ok := s.X.(*ast.Ident); ok && id == root(e) && id.Obj == nil && paths[id.Name] != "" {
						name := paths[id.Name] + "." + s.Sel.Name
						require.Contains(t, foreign(), name, "%s: this sets it for the whole process", set.Position(e.Pos()))
						found[name] = true
					}
					return true
				})
			}
			return true
		})
	}
	for name := range foreign() {
		require.Contains(t, found, name, "nobody sets it any more: remove it from the list")
	}
}

func variables(d *ast.GenDecl) (names []string) {
	if d.Tok != token.VAR {
		return nil
	}
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			if id.Name != "_" {
				names = append(names, id.Name)
			}
		}
	}
	return names
}

// changed returns the variables that n assigns to: x for x, x.f, x[i] and *x.
func changed(n ast.Node) (ids []*ast.Ident) {
	for _, e := range targets(n) {
		if id := root(e); id != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// targets returns what n assigns to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// starters has the functions that start goroutines, and why.
func starters() map[string]string {
	return map[string]string{
		"cmd/miniredisd.listen":                 "reads the answers of explore --stdio",
		"cmd/miniredisd.serve":                  "waits for a signal and posts Stop",
		"cmd/miniredisd.serveHTTP":              "net/http, for lab-http and watch",
		"miniredistest.start":                   "runs the masters of a test",
		"miniredistest.play":                    "a trial of Explore, which may stand still for ever",
		"miniredistest.inside":                  "one for each fault that holds a client, until the servers end",
		"miniredistest.watch":                   "the test in a trial, which may not end",
		"miniredistest.alone":                   "a part of the test: FailNow ends its goroutine",
		"miniredistest.Go":                      "one for each worker of a trial",
		"course/stage.New":                      "runs the masters of a story",
		"course/claims.still":                   "a request whose reply comes when the server goes on",
		"course/grade.start":                    "waits for the end of the student's program",
		"lab/explore/trials.after":              "counts the steps of a limit",
		"lab/explore/trials.ask":                "runs a test that another process has",
		"lab/explore/trials.newForeign":         "runs a proxy before the servers of a trial",
		"lab/explore/trials.findJobs":           "two runs side by side",
		"lab/explore/trials.loop":               "one for each trial that runs",
		"lab/explore/trials.run":                "waits until a rule holds a client",
		"lab/explore/trials.start":              "waits for the end of the program",
		"internal/orphans.Adopt":                "reaps what a program leaves behind",
		"miniredistest/proxied.start":           "runs the proxy of a test",
		"miniredistest/miniredis.NewSubscriber": "reads messages until Close",

		"node.Run":                 "one for each master behind the first",
		"proxy.judges":             "judges the logs for LAB VERDICT",
		"proxy.topology":           "asks which nodes there are, and may have to connect",
		"proxy.begin":              "agrees on keys with a side that speaks TLS",
		"proxy.kills":              "waits for the end of a server that LAB CRASH has killed",
		"proxy.starts":             "waits until a server answers that LAB CRASH has started",
		"proxy/child.Start":        "starts a server, and waits for its end on the same thread",
		"server.start":             "the executor of --exec queue",
		"server/repl.ask":          "resolves the name of a master",
		"server/lab.apart":         "finds a verdict or writes a log, which may take a second",
		"server/persist.elsewhere": "fsyncs an append only file, at most one at a time",
		"persist/snapshot.write":   "writes a file, or to replicas, while commands go on",

		"server/repl.shakeHands": "the handshake of TLS with a master, until it is over",
		"server.giveTurns":       "one for each handshake of TLS, until it is over",
		"ioworkers.Start":        "one for each I/O thread",

		"lab/glass/glasshttp.events":  "waits for what one page gets",
		"lab/glass/glasshttp.look":    "a LAB TOPOLOGY, which waits while a loop is stopped",
		"lab/glass/glasshttp.connect": "reads for one client of the page",
		"lab/glass/glasshttp.drive":   "one for each connection of a load",

		"internal/collector.Collect": "collects garbage while a server is idle",

		"internal/test/browser.run":         "reads what the browser writes",
		"internal/test/redistest.run":       "waits for the end of a redis-server",
		"clients/interop/signals.Context":   "waits for the signals that end a tool",
		"clients/interop/tls.start":         "reads the rest of a server's log",
		"clients/interop/explore.each":      "a client is explored beside others",
		"clients/interop/explore.start":     "reads the answers of the process of a client",
		"clients/interop/matrix.collect":    "runs an ecosystem against one kind of server",
		"clients/interop/matrix.launch":     "waits for the end of a server",
		"clients/interop/sentinel.start":    "waits for the end of a server or a sentinel",
		"clients/interop/sentinel.newProxy": "accepts the connections to a server that can be cut off",
		"clients/interop/sentinel.accept":   "one for each connection to it",
		"clients/interop/sentinel.startRun": "reads what the program of a client prints",
		"bench/attack.startOnce":            "watches a server's memory, and waits for its end",
		"bench/attack.startPinger":          "pings beside the attack",
		"bench/attack.subscribe":            "writes while the attacker reads",
		"bench/attack.pipe":                 "writes while the attacker reads",
		"bench/models.run":                  "the executor of the queue; the loop stays",
		"bench.fanOut":                      "one for each subscriber, which reads",
		"bench.ownLoad":                     "one for each client of the load",
		"bench.drive":                       "one for each connection of the load",
		"bench.startPinger":                 "pings beside another client",
		"bench.fiftyLockers":                "one for each client that locks",
	}
}

func TestGoroutinesStartInFewPlaces(t *testing.T) {
	set, files := sources(t)
	found := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok {
					name := fmt.Sprintf("%s.%s", f.pkg, fn.Name.Name)
					found[name] = true
					require.Contains(t, starters(), name, "%s: a goroutine starts here", set.Position(g.Pos()))
				}
				return true
			})
		}
	}
	for name := range starters() {
		require.Contains(t, found, name, "it starts no goroutine any more: remove it from the list")
	}
}
