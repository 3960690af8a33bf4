package miniredis_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest/miniredis"
)

func TestInABubbleTimeIsTheBubbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		m.ClockTTL(true)
		conn, err := m.Dial()
		require.NoError(t, err)
		c := redistest.Wrap(t, conn)
		begin := time.Now()
		require.Equal(t, "OK", c.Do("SET", "k", "v", "EX", "100").Str)
		time.Sleep(30 * time.Second)
		require.Equal(t, int64(70), c.Do("TTL", "k").Int)
		require.True(t, c.Do("BLPOP", "q", "10").Null)
		require.Equal(t, 40*time.Second, time.Since(begin).Truncate(time.Second))
		m.FastForward(61 * time.Second)
		require.False(t, m.Exists("k"))
		s := m.NewSubscriber()
		s.Subscribe("news")
		m.Publish("news", "hello")
		require.Equal(t, "hello", (<-s.Messages()).Message)
		s.Close()
	})
}

func TestInABubbleRestartKeepsTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := miniredis.RunT(t)
		addr := m.Addr()
		require.Equal(t, "127.0.0.1", m.Host())
		require.NoError(t, m.Set("k", "v"))
		m.Close()
		require.NoError(t, m.Restart())
		require.Equal(t, addr, m.Addr())
		m.CheckGet(t, "k", "v")
		m.Close()
		require.NoError(t, m.StartAddr("localhost:6379"), "no resolver is asked")
		require.Equal(t, "127.0.0.1:6379", m.Addr())
	})
}
