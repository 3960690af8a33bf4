package disk_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/disk"
)

// noting is a disk that notes what its files are told to write to it.
type noting struct {
	disk.FS
	told *[]string
	fail error
}

type notingFile struct {
	disk.File
	on noting
}

func (n noting) Create(name string) (disk.File, error) {
	f, err := n.FS.Create(name)
	return notingFile{f, n}, err
}

func (f notingFile) WriteBack(from, bytes int64, wait bool) error {
	size, _ := f.Size()
	*f.on.told = append(*f.on.told, fmt.Sprintf("%d at %d, wait %t", from>>20, size>>20, wait))
	if bytes != 4<<20 {
		return syscall.EINVAL
	}
	return f.on.fail
}

// filled writes a file in pieces of this size, and requires what it has then.
func filled(t *testing.T, on disk.FS, name string, all []byte, piece int) {
	f, err := on.Create(name)
	require.NoError(t, err)
	for b := all; len(b) > 0; b = b[min(piece, len(b)):] {
		n, err := f.Write(b[:min(piece, len(b))])
		require.NoError(t, err)
		require.Equal(t, min(piece, len(b)), n)
	}
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.True(t, string(all) == read(t, on, name))
}

func TestASpreadFileIsWrittenWhileItGrows(t *testing.T) {
	all := bytes.Repeat([]byte("0123456789abcde"), 1<<20) // 15 MB
	both(t, func(t *testing.T, on disk.FS, dir string) {
		for i, piece := range []int{len(all), 4 << 20, 1_000_003} {
			var told []string
			filled(t, disk.Spread{FS: noting{on, &told, nil}}, filepath.Join(dir, fmt.Sprint("n", i)), all, piece)
			require.Equal(t, []string{
				"0 at 4, wait false",
				"4 at 8, wait false", "0 at 8, wait true",
				"8 at 12, wait false", "4 at 12, wait true",
			}, told)
			filled(t, disk.Spread{FS: on}, filepath.Join(dir, fmt.Sprint("f", i)), all, piece)
		}
	})
}

func TestASpreadFileReportsWhatTheDiskCannotWrite(t *testing.T) {
	var told []string
	f, err := disk.Spread{FS: noting{disk.NewSim(1), &told, syscall.EIO}}.Create("/a")
	require.NoError(t, err)
	n, err := f.Write(make([]byte, 5<<20))
	require.ErrorIs(t, err, syscall.EIO)
	require.Equal(t, 4<<20, n)
	_, err = disk.Spread{FS: disk.System{}}.Create(t.TempDir() + "/none/a")
	require.Error(t, err)
}
