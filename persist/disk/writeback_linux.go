package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// WriteBack ignores a file system that cannot do it: the fsync at the end does all of it then.
func (f systemFile) WriteBack(from, bytes int64, wait bool) error {
	flags := unix.SYNC_FILE_RANGE_WRITE
	if wait {
		flags |= unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	}
	err := unix.SyncFileRange(int(f.Fd()), from, bytes, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
