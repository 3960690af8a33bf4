package reactor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Docker's default profile answers EPERM, and so does the sysctl kernel.io_uring_disabled.
func TestARefusedCallIsNamedWithItsErrno(t *testing.T) {
	require.EqualError(t, refused("io_uring_setup", unix.EPERM), "io_uring_setup: EPERM: operation not permitted")
	require.EqualError(t, refused("io_uring_setup", unix.ENOSYS), "io_uring_setup: ENOSYS: function not implemented")
	require.NoError(t, refused("io_uring_enter", unix.EINTR))
}

func TestAnErrorOfAPollIsEveryEvent(t *testing.T) {
	for events, want := range map[int32]Mask{
		unix.POLLIN: Readable, unix.POLLOUT: Writable, unix.POLLRDHUP: HangUp,
		unix.POLLIN | unix.POLLRDHUP: Readable | HangUp,
		unix.POLLHUP:                 everything, unix.POLLIN | unix.POLLERR: everything, -int32(unix.EINVAL): everything,
	} {
		require.Equal(t, want, pollMask(events), "%#x", events)
	}
}
