package reactor

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// overEach runs a test over each multiplexer, with a loop and its clock, which only the test moves.
func overEach(t *testing.T, test func(t *testing.T, l *Loop, now *int64)) {
	names := []string{"poll", "select"}
	if runtime.GOOS == "linux" {
		names = append(names, "epoll", "io_uring")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			now := new(int64)
			l, err := New(name, func() int64 { return *now })
			if name == "io_uring" && err != nil { // even in CI: the kernel or a container may forbid it
				t.Skip(err)
			}
			require.NoError(t, err)
			t.Cleanup(l.Close)
			test(t, l, now)
		})
	}
}

func socketPair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	require.NoError(t, errors.Join(unix.SetNonblock(fds[0], true), unix.SetNonblock(fds[1], true)))
	t.Cleanup(func() {
		_ = unix.Close(fds[0])
		_ = unix.Close(fds[1])
	})
	return fds[0], fds[1]
}

func TestAHandlerThatLeavesBytesIsCalledAgain(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, b := socketPair(t)
		_, err := unix.Write(b, []byte("xyz"))
		require.NoError(t, err)
		var got []byte
		require.NoError(t, l.Watch(a, Readable, func() {
			var one [1]byte
			_, err := unix.Read(a, one[:])
			require.NoError(t, err)
			if got = append(got, one[0]); len(got) == 3 {
				l.Stop()
			}
		}))
		require.NoError(t, l.Run())
		require.Equal(t, "xyz", string(got))
	})
}

func TestAnUnwatchedEventOfTheSamePassIsNotHandled(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, b := socketPair(t)
		calls := 0
		handler := func() {
			calls++
			l.Unwatch(a, Readable)
			l.Unwatch(b, Readable)
			l.Stop()
		}
		for _, fd := range []int{a, b} {
			_, err := unix.Write(fd, []byte("x"))
			require.NoError(t, err)
			require.NoError(t, l.Watch(fd, Readable, handler))
		}
		require.NoError(t, l.Run())
		require.Equal(t, 1, calls)
	})
}

func TestReadingComesBeforeWriting(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, b := socketPair(t)
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		var order []Mask
		require.NoError(t, l.Watch(a, Writable, func() { order = append(order, Writable) }))
		require.NoError(t, l.Watch(a, Readable, func() {
			order = append(order, Readable)
			l.Stop()
		}))
		require.NoError(t, l.Run())
		require.Equal(t, []Mask{Readable, Writable}, order)
	})
}

func TestAHangUpReachesTheReadHandler(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, b := socketPair(t)
		require.NoError(t, l.Watch(a, Readable, func() {
			var one [1]byte
			n, err := unix.Read(a, one[:])
			require.NoError(t, err)
			require.Zero(t, n)
			l.Stop()
		}))
		require.NoError(t, unix.Shutdown(b, unix.SHUT_RDWR))
		require.NoError(t, l.Run())
	})
}

func TestAHangUpIsNoticedBehindUnreadBytes(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, b := socketPair(t)
		calls := 0
		require.NoError(t, l.Watch(a, HangUp, func() {
			calls++
			l.Unwatch(a, HangUp)
			l.Stop()
		}))
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		l.BeforeSleep(func() time.Duration { return 0 })
		require.NoError(t, l.pass())
		require.Zero(t, calls)
		require.NoError(t, unix.Shutdown(b, unix.SHUT_WR))
		require.NoError(t, l.Run())
		require.Equal(t, 1, calls)
	})
}

func TestPostWakesALoopThatSleeps(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		done := make(chan error)
		go func() { done <- l.Run() }()
		order := []int{}
		for i := range 100 {
			l.Post(func() { order = append(order, i) })
		}
		l.Post(l.Stop)
		require.NoError(t, <-done)
		require.Len(t, order, 100)
		require.IsIncreasing(t, order)
	})
}

func TestTimersRunInOrderAndRepeat(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, now *int64) {
		l.BeforeSleep(func() time.Duration {
			*now += int64(time.Millisecond) // every pass takes a millisecond
			return 0
		})
		var ran []string
		l.After(3*time.Millisecond, func() time.Duration {
			ran = append(ran, "once")
			return 0
		})
		l.After(2*time.Millisecond, func() time.Duration {
			ran = append(ran, "every 2")
			if len(ran) == 4 {
				l.Stop()
			}
			return 2 * time.Millisecond
		})
		cancelled := l.After(time.Millisecond, func() time.Duration { panic("cancelled") })
		l.Cancel(cancelled)
		l.Cancel(cancelled)
		require.NoError(t, l.Run())
		require.Equal(t, []string{"every 2", "once", "every 2", "every 2"}, ran)
	})
}

func TestTheLoopSleepsNoLongerThanToTheNextTimer(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, now *int64) {
		l.After(7*time.Millisecond, func() time.Duration { return 0 })
		*now = int64(2 * time.Millisecond)
		require.Equal(t, 5*time.Millisecond, l.Timeout(-1))
		require.Equal(t, time.Millisecond, l.Timeout(time.Millisecond))
		*now = int64(time.Second)
		require.Equal(t, time.Duration(0), l.Timeout(-1))
	})
}

func TestRewatchReplacesOneMaskByAnother(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, b := socketPair(t)
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		ends := 0
		require.NoError(t, l.Watch(a, Readable, func() { t.Error("called although it was replaced") }))
		require.NoError(t, l.Rewatch(a, Readable, HangUp, func() {
			ends++
			require.NoError(t, l.Rewatch(a, HangUp, Readable, l.Stop))
		}))
		require.Equal(t, HangUp, l.Watched(a))
		require.NoError(t, unix.Shutdown(b, unix.SHUT_WR))
		require.NoError(t, l.Run())
		require.Equal(t, 1, ends)
		require.Equal(t, Readable, l.Watched(a))
	})
}

func TestTimersDueAtOneTimeRunInTheOrderTheyWereMade(t *testing.T) {
	var ts Timers
	var ran []int
	var timers []*Timer
	for i := range 100 {
		timers = append(timers, ts.At(int64(10*(i%3)), func() time.Duration {
			ran = append(ran, 100*(i%3)+i)
			return 0
		}))
	}
	for i := 0; i < 100; i += 7 {
		ts.Cancel(timers[i])
	}
	ts.Run(9)
	at, more := ts.Next()
	require.True(t, more)
	require.Equal(t, int64(10), at)
	ts.Run(20)
	require.True(t, slices.IsSorted(ran))
	require.Len(t, ran, 100-15)
	_, more = ts.Next()
	require.False(t, more)
}

// A set that forgets a descriptor must still know the others.
func TestEachWatchedDescriptorIsReportedWhenOthersLeave(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		l.BeforeSleep(func() time.Duration { return 0 })
		var got []int
		var ends [5][2]int
		for i := range ends {
			ends[i][0], ends[i][1] = socketPair(t)
			require.NoError(t, l.Watch(ends[i][0], Readable, func() { got = append(got, i) }))
			_, err := unix.Write(ends[i][1], []byte("x"))
			require.NoError(t, err)
		}
		for _, left := range [][]int{{0, 1, 2, 3, 4}, {1, 2, 3, 4}, {1, 3, 4}, {1, 3}, {}} {
			for i := range ends {
				if !slices.Contains(left, i) {
					l.Unwatch(ends[i][0], Readable)
				}
			}
			got = nil
			require.NoError(t, l.pass())
			require.ElementsMatch(t, left, got)
		}
	})
}

func TestEpollAndIOUringLookAtReadyDescriptorsAlone(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		const idle = 20
		for range idle {
			a, _ := socketPair(t)
			require.NoError(t, l.Watch(a, Readable, func() {}))
		}
		a, b := socketPair(t)
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		looked := 0
		require.NoError(t, l.Watch(a, Readable, func() {
			looked = l.Looked()
			l.Stop()
		}))
		require.NoError(t, l.Run())
		if strings.HasSuffix(t.Name(), "/epoll") || strings.HasSuffix(t.Name(), "/io_uring") {
			require.Equal(t, 1, looked)
			return
		}
		require.Greater(t, looked, idle)
	})
}

func TestSelectRefusesADescriptorAboveItsLimit(t *testing.T) {
	l, err := New("select", func() int64 { return 0 })
	require.NoError(t, err)
	t.Cleanup(l.Close)
	require.EqualError(t, l.Watch(1024, Readable, func() {}),
		"select cannot watch descriptor 1024: its limit is 1023")
	_, err = New("kqueue", nil)
	require.EqualError(t, err, `no multiplexer has the name "kqueue"`)
}

// Epoll changes its set by a call of its own. The others tell the kernel with the next wait.
func TestCallsAreCounted(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		l.BeforeSleep(func() time.Duration { return 0 })
		require.Zero(t, l.Calls())
		l.CountCalls()
		l.CountCalls()
		for range 3 {
			a, _ := socketPair(t)
			require.NoError(t, l.Watch(a, Readable, func() {}))
		}
		require.NoError(t, l.pass())
		want := int64(1)
		if strings.HasSuffix(t.Name(), "/epoll") {
			want += 3
		}
		require.Equal(t, want, l.Calls())
		a, _ := socketPair(t)
		require.NoError(t, l.Watch(a, HangUp, func() {}))
		before := l.Calls()
		require.NoError(t, l.pass())
		want = 1
		if strings.HasSuffix(t.Name(), "/select") { // it asks poll for hang-ups
			want++
		}
		require.Equal(t, want, l.Calls()-before)
	})
}

// A request of io_uring keeps its file open. So it has to be taken back before the descriptor is closed.
func TestAClosedDescriptorIsClosedForTheOtherSideAtOnce(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		l.BeforeSleep(func() time.Duration { return 0 })
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = unix.Close(fds[1]) })
		require.NoError(t, l.Watch(fds[0], Readable, func() {}))
		require.NoError(t, l.pass())
		l.Unwatch(fds[0], Readable)
		require.NoError(t, unix.Close(fds[0]))
		n, err := unix.Read(fds[1], make([]byte, 1))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestAWaitEndsAfterItsTimeWithoutAnEvent(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		a, _ := socketPair(t)
		for _, hidden := range []bool{false, true} {
			require.NoError(t, l.Rewatch(a, Readable, HangUp, func() {}))
			require.NoError(t, l.poll(0, hidden))
			require.NoError(t, l.Rewatch(a, HangUp, Readable, func() {})) // leaves io_uring a result that says nothing
			require.NoError(t, l.poll(time.Millisecond, hidden))
			require.Empty(t, l.fired)
		}
	})
}

// There are more descriptors than places in the queues of io_uring.
func TestManyDescriptorsAreReportedInOnePassOrTwo(t *testing.T) {
	overEach(t, func(t *testing.T, l *Loop, _ *int64) {
		if strings.HasSuffix(t.Name(), "/select") {
			t.Skip("select watches 1024 descriptors at most")
		}
		l.BeforeSleep(func() time.Duration { return 0 })
		const many = 4500
		a, b := socketPair(t)
		_, err := unix.Write(b, []byte("x"))
		require.NoError(t, err)
		var fds []int
		t.Cleanup(func() {
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
		})
		seen := map[int]int{}
		for range many {
			fd, err := unix.Dup(a)
			if errors.Is(err, unix.EMFILE) {
				t.Skipf("this process may have no more than %d open files", len(fds))
			}
			require.NoError(t, err)
			fds = append(fds, fd)
			require.NoError(t, l.Watch(fd, Readable, func() { seen[fd]++ }))
		}
		for pass := 0; len(seen) < many; pass++ {
			require.Less(t, pass, 10)
			require.NoError(t, l.pass())
		}
		for _, fd := range fds {
			l.Unwatch(fd, Readable)
		}
		clear(seen)
		require.NoError(t, l.pass())
		require.Empty(t, seen)
	})
}
