package command

import (
	"math"
	"math/big"
	"time"

	"github.com/miniredisd/miniredisd/resp"
	"github.com/miniredisd/miniredisd/store"
)

func waitRows() []Row {
	return []Row{
		{"wait", "numreplicas:integer timeout:integer",
			3, NotKeyspace | InConnection | RequestAllShards | ResponseMin, nil, "generic", "3.0.0",
			"O(1)",
			"Waits until replicas have what was written.", wait},
		{"waitaof", "numlocal:integer numreplicas:integer timeout:integer",
			4, NoScript | NotKeyspace | InConnection | RequestAllShards | ResponseMin, nil, "generic", "7.2.0",
			"O(1)",
			"Waits until what was written is on disk here and on replicas.", waitAOF},
	}
}

const (
	errTimeoutFloat    store.Error = "ERR timeout is not a float or out of range"
	errTimeoutInt      store.Error = "ERR timeout is not an integer or out of range"
	errTimeoutRange    store.Error = "ERR timeout is out of range"
	errTimeoutNegative store.Error = "ERR timeout is negative"

	errNumLocal store.Error = "ERR value is out of range, must be between 0 and 1"
	errNoAOF    store.Error = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
)

// parseSeconds reads how long to wait, 0 for any time, in milliseconds: a fraction of one
// counts as one (timeout.c: getTimeoutFromObjectOrReply).
func parseSeconds(c *Call, arg []byte) (ms int64, err error) {
	if n, ok := parseShort(arg); ok && n < 1e9 {
		return int64(n) * 1000, nil
	}
	v, err := parseLongDouble(arg)
	if err != nil {
		return 0, errTimeoutFloat
	}
	ms, accuracy := v.Mul(v, big.NewFloat(1000)).Int64()
	if accuracy == big.Below {
		if ms == math.MaxInt64 {
			return 0, errTimeoutRange
		}
		ms++
	}
	return checkTimeout(c, ms)
}

// ParseMillis is parseSeconds for an argument in milliseconds.
func ParseMillis(c *Call, arg []byte) (ms int64, err error) {
	ms, ok := store.ParseInt(arg)
	if !ok {
		return 0, errTimeoutInt
	}
	return checkTimeout(c, ms)
}

// farAway is longer than anybody will wait, in milliseconds, and short enough to be counted
// in nanoseconds.
const farAway = int64(100 * 365 * 24 * time.Hour / time.Millisecond)

func checkTimeout(c *Call, ms int64) (int64, error) {
	switch {
	case ms < 0:
		return 0, errTimeoutNegative
	case ms > math.MaxInt64-c.Now: // as a time, not a duration
		return 0, errTimeoutRange
	}
	return min(ms, farAway), nil
}

// WAIT numreplicas timeout (replication.c: waitCommand)
// wait has no replicas to wait for: it is the timeout that ends it.
func wait(c *Call) error {
	n, err := parseInt(c.Args[1])
	if err != nil {
		return err
	}
	ms, err := ParseMillis(c, c.Args[2])
	if err != nil {
		return err
	}
	if n <= 0 || !c.mayBlock() {
		noReplicas(c.Writer)
	} else {
		c.block(ms, noReplicas)
	}
	return nil
}

func noReplicas(w *resp.Writer) { w.Int(0) }

// WAITAOF numlocal numreplicas timeout (replication.c: waitaofCommand)
func waitAOF(c *Call) error {
	local, err := parseInt(c.Args[1])
	if err != nil {
		return err
	}
	if local < 0 || local > 1 {
		return errNumLocal
	}
	n, ok := store.ParseInt(c.Args[2])
	if !ok || n < 0 {
		return errPositive
	}
	ms, err := ParseMillis(c, c.Args[3])
	if err != nil {
		return err
	}
	if local > 0 {
		return errNoAOF
	}
	if n == 0 || !c.mayBlock() {
		nothingSynced(c.Writer)
	} else {
		c.block(ms, nothingSynced)
	}
	return nil
}

func nothingSynced(w *resp.Writer) {
	w.Array(2)
	w.Int(0)
	w.Int(0)
}
