package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestEachFailureBelongsToOneCompany(t *testing.T) {
	for _, fault := range explore.FaultNames() {
		var names []string
		for _, c := range companies() {
			if c.has(fault) {
				names = append(names, c.name)
			}
		}
		require.Len(t, names, 1, "%s is in %v", fault, names)
	}
	require.True(t, companies()[0].has("reply-lost"))
	require.True(t, companies()[1].has("failover"))
	require.True(t, companies()[2].has("power-cut"))
}

func TestAClientIsExploredInTheCompaniesThatAreNamed(t *testing.T) {
	one := client{Name: "one"}
	var names, paths []string
	for _, c := range one.in(nil) {
		names, paths = append(names, c.String()), append(paths, c.path())
	}
	require.Equal(t, []string{"one", "one with a replica", "one with a disk"}, names)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(paths))), 3)
	require.Len(t, one.in([]string{"disk", "replica"}), 2)
	err := run(t.Context(), options{beside: []string{"disk", "moon"}})
	require.EqualError(t, err, "-beside moon: there are alone, replica, disk")
}

func TestADocumentHasTheMarksOfAllCompanies(t *testing.T) {
	lone := recorded(pointRecord{takes, map[string]string{"reply-lost": broken}},
		pointRecord{deletes, map[string]string{"reply-lost": "fine"}})
	lone.Findings, lone.Unsteady = []finding{{"reply-lost", takes, broken, "One."}}, []point{refused}
	beside := recorded(pointRecord{takes, map[string]string{"failover": broken}},
		pointRecord{refused, map[string]string{"failover": "fine"}})
	beside.Findings, beside.Unsteady = []finding{{"failover", takes, broken, "Two."}}, []point{deletes}
	all := lone.with(beside)
	require.Equal(t, []pointRecord{
		{takes, map[string]string{"reply-lost": broken, "failover": broken}},
		{deletes, map[string]string{"reply-lost": "fine"}},
		{refused, map[string]string{"failover": "fine"}},
	}, all.Points)
	require.Empty(t, all.Unsteady, "each of them is in a table")
	require.Len(t, all.Findings, 2)
	require.Equal(t, []int{20, 10}, []int{all.Trials, all.Seconds})
	require.Len(t, lone.Points[0].Marks, 1, "a record stays as it is")
	require.Contains(t, overview([]record{all})[2], " | 1.0 | **1** | 0 | 0 | 0 | 0 | 1 | 0 | **1** | 0 | – | 20 | 10 |")
}

func TestARecordOfOneCompanyIsEnough(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range companyNames() {
		require.NoError(t, os.MkdirAll(name, 0o755))
	}
	text := []byte(`{"name": "one", "points": []}`)
	require.NoError(t, os.WriteFile(filepath.Join(alone, "one.json"), text, 0o644))
	all, err := readAll(".")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, os.WriteFile(filepath.Join("disk", "one.json"), []byte("{"), 0o644))
	_, err = readAll(".")
	require.Error(t, err)
}
