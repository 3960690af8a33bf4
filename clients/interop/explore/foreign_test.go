package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestWhatAnotherServerShowsIsRecorded(t *testing.T) {
	redistest.Need(t, "redis-server")
	c := folderOf(t).in([]string{alone})[0]
	r := recorded(pointRecord{setnx, map[string]string{
		"reply-lost": broken, "request-lost": "fine", "message-lost": "fine", "silent": varies}})
	require.NoError(t, c.save(r))
	o := options{server: "redis-server", seed: 1}
	plans, err := o.plans([]client{c})
	require.NoError(t, err)
	require.Equal(t, map[cell]string{{setnx, "reply-lost"}: broken, {setnx, "request-lost"}: "fine"}, plans[0].cells)
	require.ErrorContains(t, plans[0].check(t.Context(), o), "request-lost at a 1 SETNX: before fine, now noticed")
	o.update = true
	require.NoError(t, plans[0].check(t.Context(), o))
	now, err := read(c.path())
	require.NoError(t, err)
	require.Regexp(t, `^redis-server \d+\.\d+\.\d+$`, now.Shown.Server)
	require.Equal(t, 2, now.Shown.Cells)
	require.Equal(t, []other{{"request-lost", setnx, noticed}}, now.Shown.Others)
	require.Equal(t, r.Points, now.Points, "the marks of miniredisd stay")
}

func TestASectionSaysWhatAnotherServerHasShown(t *testing.T) {
	r := found()
	r.Findings = append(r.Findings, finding{"failover", takes, broken, "If it fails over, nobody can take it."},
		finding{"reset-after", takes, broken, "If it is reset, nobody can take it."})
	r.Points[0].Marks["failover"] = broken
	r.Points[1].Marks["silent"] = varies
	r.Shown = &shown{"redis-server 7.2.6", 5, []other{{"reset-after", takes, "fine"}, {"silent", deletes, "fine"}}}
	lines := r.section()
	require.Equal(t, []string{
		"* broken (reply-lost): If the reply is lost, nobody can take it. It is shown on redis-server 7.2.6, too.",
		"* broken (failover): If it fails over, nobody can take it.",
		"* broken (reset-after): If it is reset, nobody can take it.", "",
		"On redis-server 7.2.6, 3 of 4 of the marks are the same.", "",
		"* reset-after at a 1 SET: fine on redis-server 7.2.6", "",
		"Not in each run, and so not in the table: message 7 to b.",
	}, lines[len(lines)-9:])
	require.Contains(t, overview([]record{r, found()})[2], "| 3 of 4 | 10 | 5 |")
	require.Contains(t, overview([]record{r, found()})[3], "| – | 10 | 5 |")
}
