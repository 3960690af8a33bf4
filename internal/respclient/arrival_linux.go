package respclient

import "golang.org/x/sys/unix"

// unacknowledged returns the bytes that the other side has not acknowledged yet.
func unacknowledged(fd uintptr) (int, error) { return unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }
