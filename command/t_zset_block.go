package command

import "github.com/miniredisd/miniredisd/store"

func zsetBlockRows() []Row {
	return []Row{
		{"bzpopmin", "key ... timeout:double",
			-3, Write | Blocking | Fast, keys(span(1, -2, 1, RW|Access|Delete)), "sorted-set", "5.0.0",
			"O(log(N)) for a sorted set of N members",
			"Removes and returns a member with the lowest score. Waits until a sorted set has members.", bzpopmin},
		{"bzpopmax", "key ... timeout:double",
			-3, Write | Blocking | Fast, keys(span(1, -2, 1, RW|Access|Delete)), "sorted-set", "5.0.0",
			"O(log(N)) for a sorted set of N members",
			"Removes and returns a member with the highest score. Waits until a sorted set has members.", bzpopmax},
		{"bzmpop", "timeout:double numkeys key ... (where: MIN | MAX) [COUNT count]",
			-5, Write | Blocking, keys(counted(2, RW|Access|Delete)), "sorted-set", "7.0.0",
			"O(K+M*log(N)) to look at K keys and remove M of N members",
			"Removes and returns members of the first sorted set that has any. Waits until one has.", bzmpop},
	}
}

// BZPOPMIN key ... timeout (t_zset.c: bzpopminCommand)
func bzpopmin(c *Call) error { return zpopOrBlock(c, false) }

// BZPOPMAX key ... timeout (t_zset.c: bzpopmaxCommand)
func bzpopmax(c *Call) error { return zpopOrBlock(c, true) }

// zpopOrBlock replies with key, member and score in one flat array. It pops one member, so unlike
// ZPOPMIN it needs no pairs.
func zpopOrBlock(c *Call, highest bool) error {
	return blockingPop(c, store.TypeZSet, store.Write[*store.ZSet], func(z *store.ZSet, key []byte) {
		c.Array(3)
		c.Bulk(key)
		zpopMembers(c, z, key, highest, 1, false)
		c.Propagate(zpopName(highest), key)
	})
}

// zpopName is the command that pops from an end of a sorted set.
func zpopName(highest bool) []byte {
	if highest {
		return []byte("ZPOPMAX")
	}
	return []byte("ZPOPMIN")
}

// BZMPOP timeout numkeys key ... (MIN | MAX) [COUNT count] (t_zset.c: bzmpopCommand)
func bzmpop(c *Call) error { return bmpop(c, "min", "max", zmpopFirst, store.TypeZSet) }
