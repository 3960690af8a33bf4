package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func both() []program { return []program{{name: ours}, {name: control, version: "7.2.6"}} }

func ok(name string) row {
	return row{Kind: "launcher", Name: name, Version: "1.0", OK: true, Detail: "starts it"}
}

func broken(name string) row {
	r := ok(name)
	r.OK, r.Detail = false, "it hangs"
	return r
}

func ran(here, there []row) []result {
	return []result{{ecosystem: "go", rows: map[string][]row{ours: here, control: there}}}
}

func TestARowHasToBeOKOnBothServers(t *testing.T) {
	for _, c := range []struct {
		here, there []row
		outcomes    []string
		problem     string
	}{
		{[]row{ok("a")}, []row{ok("a")}, []string{"ok", "ok"}, ""},
		{[]row{broken("a")}, []row{ok("a")}, []string{"FAIL", "ok"}, "go, a, miniredisd: it hangs"},
		{[]row{ok("a")}, []row{broken("a")}, []string{"ok", "FAIL"}, "go, a, redis-server: it hangs"},
		{nil, []row{ok("a")}, []string{"MISSING", "ok"}, "go, a: no row from miniredisd"},
		{[]row{ok("a")}, nil, []string{"ok", "MISSING"}, "go, a: no row from redis-server"},
	} {
		table := judge(ran(c.here, c.there), both(), true)
		require.Len(t, table.lines, 1)
		require.Equal(t, c.outcomes, table.lines[0].outcomes)
		require.Equal(t, c.problem, strings.Join(table.problems, "\n"))
	}
}

func TestAnEcosystemThatBreaksOrPrintsNothingFailsTheRun(t *testing.T) {
	table := judge([]result{{ecosystem: "go", broken: map[string]error{ours: errors.New("exit status 3")}}}, both(), false)
	require.Equal(t, []string{"go, miniredisd: exit status 3", "go: no rows"}, table.problems)
}

func TestAnEcosystemThatCannotBePreparedIsSkippedAndFailsInCI(t *testing.T) {
	results := []result{{ecosystem: "java", skipped: errors.New("prepare: no mvn")}}
	table := judge(results, both(), false)
	require.Equal(t, []string{"java: prepare: no mvn"}, table.skipped)
	require.Empty(t, table.problems)
	require.Equal(t, table.skipped, judge(results, both(), true).problems)
}

func TestALineThatIsNoCompleteRowIsRefused(t *testing.T) {
	good := `{"kind":"launcher","name":"a","version":"1","ok":true,"detail":"starts it"}`
	for line, problem := range map[string]string{
		"starting ...": "not a row",
		strings.Replace(good, "launcher", "l", 1): "kind has to be",
		strings.Replace(good, `"1"`, `""`, 1):     "without name, version or detail",
		strings.Replace(good, "starts it", "", 1): "without name, version or detail",
		strings.Replace(good, `:"a"`, `:"b"`, 1):  "",
		good:                                      "a second row a",
	} {
		rows, err := readRows(strings.NewReader(good + "\n" + line + "\n"))
		if problem == "" {
			require.NoError(t, err)
			require.Len(t, rows, 2)
			continue
		}
		require.ErrorContains(t, err, problem, line)
	}
}

// beginsVariable makes this test binary stand in for a server: it makes this file, and sleeps.
const beginsVariable = "LAUNCHERS_TEST_BEGINS"

func TestMain(m *testing.M) {
	if path := os.Getenv(beginsVariable); path != "" {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

func TestAServerThatIsLeftBehindIsEndedAndFailsTheRun(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("there is no /proc to find processes in")
	}
	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	work, dir := t.TempDir(), t.TempDir()
	t.Setenv(beginsVariable, filepath.Join(dir, "begun"))
	server := program{name: ours, file: filepath.Join(work, ours)}
	require.NoError(t, os.WriteFile(server.file, text, 0o755))
	for name, script := range map[string]string{
		"prepare": "#!/bin/sh\n",
		"run": `#!/bin/sh
			"$1" 600 </dev/null >/dev/null 2>&1 &
			until [ -e "$LAUNCHERS_TEST_BEGINS" ]; do :; done
			echo '{"kind":"launcher","name":"a","version":"1","ok":true,"detail":"leaves it behind"}'`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	r := collect(t.Context(), "go", dir, []program{server})
	require.Len(t, r.rows[ours], 1)
	require.ErrorContains(t, r.broken[ours], "left behind: "+filepath.Join(work, "go-"+ours, control)+" 600")
	require.Eventually(t, func() bool { return len(endLeftovers(filepath.Join(work, "go-"+ours, control))) == 0 },
		20*time.Second, time.Millisecond)
}

const emptyPage = "# Launchers\n\n" + begin + end + "\nMore.\n"

func TestThePageKeepsRowsOfEcosystemsThatDidNotRun(t *testing.T) {
	day := time.Unix(0, 0).UTC()
	node := ran([]row{ok("n")}, []row{ok("n")})
	node[0].ecosystem = "node"
	text, err := judge(node, both(), true).into(emptyPage, day)
	require.NoError(t, err)
	two := []row{ok("b"), ok("a")}
	text, err = judge(ran(two, two), both(), true).into(text, day)
	require.NoError(t, err)
	require.Equal(t, `# Launchers

`+begin+`Written on 1970-01-01, beside redis-server 7.2.6.

| in | what | name | what it did | miniredisd | redis-server |
|---|---|---|---|---|---|
| go | launcher | b 1.0 | starts it | ok | ok |
| go | launcher | a 1.0 | starts it | ok | ok |
| node | launcher | n 1.0 | starts it | ok | ok |
`+end+`
More.
`, text)
}

func TestAPageWithOtherRowsFailsTheRunUntilItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte(emptyPage), 0o644))
	table := judge(ran([]row{ok("a")}, []row{ok("a")}), both(), true)
	require.ErrorContains(t, table.compare(path, false), "has other rows")
	require.NoError(t, table.compare(path, true))
	require.NoError(t, table.compare(path, false))
	gone := judge(ran([]row{ok("b")}, []row{ok("b")}), both(), true)
	require.ErrorContains(t, gone.compare(path, false), "has other rows")
}
