package config

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// MostText is how many bytes a configuration or a file of users may have.
const MostText = 16 << 20

// ReadFile reads a regular file of at most that many bytes. It never waits: not for the writer of a FIFO, and
// not for the end of a device. So the loop may call it with a name that CONFIG SET has set.
func ReadFile(path string, most int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, syscall.EISDIR
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	return readAll(f, most)
}

// readAll reads r to its end, which has to come after at most that many bytes.
func readAll(r io.Reader, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		err = syscall.EFBIG
	}
	return text, err
}
