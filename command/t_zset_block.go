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
		{"bzmpop", "timeout:double numkeys key ... (MIN | MAX) [COUNT count]",
			-5, Write | Blocking | MovableKeys, keys(counted(2, RW|Access|Delete)), "sorted-set", "7.0.0",
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
	keys := c.Args[1 : len(c.Args)-1]
	ms, err := parseSeconds(c, c.Args[len(c.Args)-1])
	if err != nil {
		return err
	}
	for _, key := range keys {
		z, err := store.Write[*store.ZSet](c.DB, key)
		if err != nil {
			return err
		}
		if z != nil {
			c.Array(3)
			c.Bulk(key)
			zpopMembers(c, z, key, highest, 1, false)
			return nil
		}
	}
	c.nullOrBlock(store.TypeZSet, keys, ms)
	return nil
}

// BZMPOP timeout numkeys key ... (MIN | MAX) [COUNT count] (t_zset.c: bzmpopCommand)
func bzmpop(c *Call) error {
	p, err := parseZMPop(c.Args[2:])
	if err != nil {
		return err
	}
	ms, err := parseSeconds(c, c.Args[1]) // Redis checks the timeout last
	if err != nil {
		return err
	}
	if done, err := p.pop(c); done || err != nil {
		return err
	}
	c.nullOrBlock(store.TypeZSet, p.keys, ms)
	return nil
}
