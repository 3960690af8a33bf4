package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// zeros is a text without an end.
type zeros struct{ read int }

func (z *zeros) Read(b []byte) (int, error) {
	clear(b)
	z.read += len(b)
	return len(b), nil
}

func TestAConfigurationWithoutAnEndIsRefused(t *testing.T) {
	_, err := Parse([]string{"/dev/zero"}, strings.NewReader(""))
	var open *OpenError
	require.ErrorAs(t, err, &open)
	require.EqualError(t, err, "Fatal error, can't open config file '/dev/zero': File too large")
	z := &zeros{}
	_, err = Parse([]string{"-"}, z)
	require.ErrorIs(t, err, syscall.EFBIG)
	require.LessOrEqual(t, z.read, 2*MostText)
	c, err := Parse([]string{"-"}, strings.NewReader("include /dev/zero\n"))
	require.Nil(t, c)
	require.ErrorContains(t, err, "File too large")
}

func TestReadFileReadsRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	file, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	text, err := ReadFile(file, 5)
	require.NoError(t, err)
	require.Equal(t, "12345", string(text))
	_, err = ReadFile(file, 4)
	require.ErrorIs(t, err, syscall.EFBIG)
	for _, path := range []string{fifo, "/dev/zero"} {
		_, err = ReadFile(path, 5)
		require.EqualError(t, err, "not a regular file", path)
	}
	_, err = ReadFile(dir, 5)
	require.ErrorIs(t, err, syscall.EISDIR)
	_, err = ReadFile(filepath.Join(dir, "none"), 5)
	require.True(t, errors.Is(err, os.ErrNotExist))
}
