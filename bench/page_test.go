package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Other numbers on the pages are counted by internal/test/archtest, which cannot see the rows here.
func TestTheBenchmarksPageCountsTheRows(t *testing.T) {
	page, err := os.ReadFile("../docs/benchmarks.md")
	require.NoError(t, err)
	for phrase, want := range map[string]int{
		`measures (\d+) commands and scripts`: len(breadthRows()),
		`(\d+) scripts are like those`:        len(realScriptRows()),
		`each of (\d+) shapes`:                len(shapes(1e-9)),
	} {
		said := regexp.MustCompile(phrase).FindSubmatch(page)
		require.NotNil(t, said, phrase)
		require.Equal(t, strconv.Itoa(want), string(said[1]), phrase)
	}
}
