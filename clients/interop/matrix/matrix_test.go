package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func both() []string { return []string{ours, control} }

func pass(name string) cell { return outcome(name, "pass") }
func fail(name string) cell { return outcome(name, "fail") }

func outcome(name, outcome string) cell {
	client, scenario, _ := strings.Cut(name, "/")
	return cell{Client: client, Scenario: scenario, Outcome: outcome, MS: 7, Detail: "because"}
}

func ran(cells map[string][]cell) []result { return []result{{ecosystem: "go", cells: cells}} }

func TestACellHasToBeGreenWhereTheControlIs(t *testing.T) {
	for _, c := range []struct {
		here, there []cell
		want        mark
		failed      bool
	}{
		{[]cell{pass("a/expiry")}, []cell{pass("a/expiry")}, green, false},
		{[]cell{fail("a/expiry")}, []cell{pass("a/expiry")}, red, true},
		{nil, []cell{pass("a/expiry")}, missing, true},
		{[]cell{fail("a/expiry")}, []cell{fail("a/expiry")}, redOnBoth, false},
		{[]cell{pass("a/expiry")}, []cell{fail("a/expiry")}, controlOnly, false},
		{[]cell{pass("a/expiry")}, nil, controlOnly, false},
		{nil, []cell{fail("a/expiry")}, redOnBoth, false},
		{[]cell{fail("a/expiry")}, nil, redOnBoth, false},
	} {
		v := judge(ran(map[string][]cell{ours: c.here, control: c.there}), both(), options{})
		require.Equal(t, c.want, v.tables[0].marks["a"]["expiry"], "%v and %v", c.here, c.there)
		require.Equal(t, c.failed, v.failed(), "%v and %v", c.here, c.there)
	}
}

func TestARedCellHasToBeRedTwice(t *testing.T) {
	var asked []string
	run := func(name string) play {
		asked = append(asked, name)
		switch name {
		case "a/expiry":
			return play{cells: []cell{pass("a/expiry"), fail("aa/expiry")}}
		case "b/expiry":
			return play{cells: []cell{pass("b/expiry")}, err: errors.New("it broke down")}
		}
		return play{cells: []cell{fail(name), pass("another/expiry")}}
	}
	cells, again := secondChance([]cell{fail("a/expiry"), pass("x/expiry"), fail("b/expiry"), fail("c/expiry")}, run)
	require.Equal(t, []cell{pass("a/expiry"), pass("x/expiry"), fail("b/expiry"), fail("c/expiry")}, cells)
	require.Equal(t, []string{"a/expiry passed when it ran again alone; at first, after 7 ms: because"}, again)
	require.Equal(t, []string{"a/expiry", "b/expiry", "c/expiry"}, asked)
	results := ran(map[string][]cell{ours: cells[:2], control: cells[:2]})
	results[0].again = again
	v := judge(results, both(), options{})
	require.False(t, v.failed())
	require.Contains(t, v.remarks[0], "go: a/expiry passed")

	many := []cell{fail("a/expiry"), fail("b/expiry"), fail("c/expiry"), fail("d/expiry")}
	cells, again = secondChance(many, run)
	require.Equal(t, many, cells)
	require.Empty(t, again)
	require.Len(t, asked, 3)
}

func TestWithoutAControlEveryRedCellFails(t *testing.T) {
	for _, server := range both() {
		v := judge(ran(map[string][]cell{server: {pass("a/expiry"), fail("b/expiry")}}), []string{server}, options{})
		require.Equal(t, green, v.tables[0].marks["a"]["expiry"])
		require.Equal(t, red, v.tables[0].marks["b"]["expiry"])
		require.Len(t, v.problems, 1)
		require.Contains(t, v.problems[0], "b/expiry")
		require.Contains(t, v.problems[0], "because")
	}
}

func TestAToolchainThatIsMissingFailsInCIAlone(t *testing.T) {
	results := []result{{ecosystem: "java", skipped: errors.New("no mvn")}}
	v := judge(results, both(), options{})
	require.False(t, v.failed())
	require.Equal(t, []string{"java: skipped: no mvn"}, v.skipped)
	v = judge(results, both(), options{strict: true})
	require.True(t, v.failed())
}

func TestAnEcosystemThatBreaksDownFailsWhateverItPrinted(t *testing.T) {
	cells := map[string][]cell{ours: {pass("a/expiry")}, control: {pass("a/expiry")}}
	v := judge([]result{{ecosystem: "go", cells: cells, broken: errors.New("exit status 1")}}, both(), options{})
	require.True(t, v.failed())
}

func TestNothingRunIsAFailure(t *testing.T) {
	require.True(t, judge(ran(nil), both(), options{}).failed())
	require.True(t, judge(nil, both(), options{}).failed())
	require.True(t, judge(ran(nil), both(), options{cell: "no such cell"}).failed())
}

func TestLinesThatAreNoCellsAreRefused(t *testing.T) {
	good := `{"client":"a 1.0","scenario":"expiry","outcome":"pass","ms":3,"detail":""}`
	cells, err := readCells(strings.NewReader(good + "\n"))
	require.NoError(t, err)
	require.Equal(t, []cell{{Client: "a 1.0", Scenario: "expiry", Outcome: "pass", MS: 3}}, cells)
	for _, bad := range []string{
		"Connected.",
		`{"scenario":"expiry","outcome":"pass"}`,
		`{"client":"a","scenario":"expirey","outcome":"pass"}`,
		`{"client":"a","scenario":"expiry","outcome":"skip"}`,
		good, // a second time
	} {
		_, err := readCells(strings.NewReader(good + "\n" + bad + "\n"))
		require.Error(t, err, bad)
	}
}

func TestTheTableShowsEachClientAndOnlyColumnsInUse(t *testing.T) {
	cells := []cell{pass("redsync 4/acquire-release"), pass("redsync 4/redlock"), pass("rslock 0.7/acquire-release"),
		pass("rslock 0.7/wakeup")}
	here := append([]cell{}, cells...)
	here[3] = fail("rslock 0.7/wakeup")
	results := ran(map[string][]cell{ours: here, control: cells})
	results[0].took = map[string]time.Duration{ours: time.Second, control: 2 * time.Second}
	var out strings.Builder
	judge(results, both(), options{}).print(&out)
	_, text, found := strings.Cut(out.String(), "\ngo ")
	require.True(t, found)
	require.Equal(t, strings.Join([]string{
		"(1.0 s on miniredisd, 2.0 s on redis-server)",
		"              acquire-",
		"              release   wakeup",
		"  redsync 4   ok        -",
		"  rslock 0.7  ok        FAIL",
		"",
		"             redlock",
		"  redsync 4  ok",
		"",
		"Failures:",
		"  go: FAIL: rslock 0.7/wakeup",
		"    on miniredisd after 7 ms: because",
		"",
		"3 passed, 1 failed, 0 skipped",
		"",
	}, "\n"), text)
}
