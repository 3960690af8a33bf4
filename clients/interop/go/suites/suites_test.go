// Package suites pins the versions of the lock libraries whose own tests are run, and of
// everything that those tests alone import. It is a module of its own because some of that has to
// be replaced: the newest releases of two test dependencies are not on the module proxy.
package suites

import (
	_ "github.com/bsm/redislock"
	_ "github.com/go-redsync/redsync/v4"
	_ "github.com/redis/rueidis/rueidislock"
)
