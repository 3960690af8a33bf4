package miniredis_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/miniredistest/miniredis"
)

// fakeT keeps the text of its error.
type fakeT struct{ text string }

func (f *fakeT) Helper()                           {}
func (f *fakeT) Errorf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

func TestASubscriberGetsMessages(t *testing.T) {
	m := miniredis.RunT(t)
	m.RequireAuth("secret")
	s := m.NewSubscriber()
	require.Equal(t, 1, s.Subscribe("news"))
	require.Equal(t, 2, s.Psubscribe("lock:*"))
	require.Equal(t, []string{"news"}, s.Channels())
	require.Equal(t, []string{"lock:*"}, s.Patterns())
	c := redistest.Dial(t, m.Addr())
	c.Do("AUTH", "secret")
	require.Equal(t, int64(1), c.Do("PUBLISH", "news", "hello").Int)
	require.Equal(t, 1, m.Publish("lock:a", "free"))
	require.Equal(t, miniredis.PubsubMessage{Channel: "news", Message: "hello"}, <-s.Messages())
	require.Equal(t, miniredis.PubsubPmessage{Pattern: "lock:*", Channel: "lock:a", Message: "free"}, <-s.Pmessages())
	require.Equal(t, []string{"news"}, m.PubSubChannels(""))
	require.Empty(t, m.PubSubChannels("x*"))
	require.Equal(t, map[string]int{"news": 1, "none": 0}, m.PubSubNumSub("news", "none"))
	require.Equal(t, 1, m.PubSubNumPat())
	require.Equal(t, 1, s.Unsubscribe("news"))
	require.Equal(t, 0, s.Punsubscribe("lock:*"))
	require.Zero(t, s.Count())
	s.Close()
	_, open := <-s.Messages()
	require.False(t, open)
}
