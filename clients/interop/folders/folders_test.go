package folders_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/clients/interop/folders"
)

func TestOnlyFoldersWithTheProgramAreEcosystems(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"java", "node", "build"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	for _, name := range []string{"java", "node"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "run"), nil, 0o755))
	}
	names, err := folders.With("run", dir, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"java", "node"}, names)
	names, err = folders.With("run", dir, []string{"node"})
	require.NoError(t, err)
	require.Equal(t, []string{"node"}, names)
	_, err = folders.With("run", dir, []string{"build"})
	require.ErrorContains(t, err, `no ecosystem "build"`)
}
