package paste

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/explore"
)

func TestATestThatCannotBeWrittenIsRefused(t *testing.T) {
	r := &explore.Report{Program: []string{"./app"}}
	_, err := Tests(r, &explore.Finding{
		Commands: []string{"LAB FAULT ADD x KEY " + strings.Repeat("k", 1<<20) + " ACTION SILENT"}}, nil)
	require.ErrorContains(t, err, "one of its commands has")
	_, err = Tests(r, &explore.Finding{Commands: []string{"LAB MASTER x CLOCK"}}, nil)
	require.ErrorContains(t, err, "there is no master x")
}
