package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestATestSaysWhatItsKeysAre(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.WatchAs("SEMAPHORE 3", "sem:a", "sem:b"))
	require.Contains(t, srv.History(), `"watched":[{"pattern":"*"},`+
		`{"pattern":"sem:a","as":"SEMAPHORE","holders":3},{"pattern":"sem:b","as":"SEMAPHORE","holders":3}]`)
}
