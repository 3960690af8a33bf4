package topology_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/lab/topology"
)

// The numbers are those of CLUSTER KEYSLOT of redis-server 7.2.6.
func TestKeysHaveTheSlotsThatRedisGivesThem(t *testing.T) {
	for key, slot := range map[string]int{
		"": 0, "foo": 12182, "bar": 5061, "123456789": 12739, "{user1000}.following": 3443, "{user1000}.followers": 3443,
		"foo{}{bar}": 8363, "foo{{bar}}zap": 4015, "foo{bar}{zap}": 5061, "a{b": 13340, "}{a}": 15495, "{}": 15257,
		"\x00\xff{\x80}": 4488,
	} {
		require.Equal(t, slot, topology.Slot(key), "%q", key)
	}
}
