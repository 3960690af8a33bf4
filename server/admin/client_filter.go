package admin

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/server"
	"github.com/miniredisd/miniredisd/store"
)

// newerFilters are those of Valkey, for CLIENT LIST and CLIENT KILL. NOT-X lists the clients that X does not.
const newerFilters = " | [NAME name@,9.0.0] | [IDLE idle@,9.0.0:integer] | [FLAGS flags@,9.0.0] " +
	"| [LIB-NAME lib-name@,9.0.0] | [LIB-VER lib-ver@,9.0.0] | [DB db@,9.0.0:integer] | [CAPA capa@,9.0.0] " +
	"| [IP ip@,9.0.0] | [NOT-TYPE (not-client-type@,9.0.0: NORMAL | MASTER | REPLICA | PUBSUB)] " +
	"| [NOT-ID not-client-id@,9.0.0:integer ...] | [NOT-USER not-username@,9.0.0] " +
	"| [NOT-ADDR not-addr@,9.0.0/ip:port] | [NOT-LADDR not-laddr@,9.0.0/ip:port] | [NOT-NAME not-name@,9.0.0] " +
	"| [NOT-FLAGS not-flags@,9.0.0] | [NOT-LIB-NAME not-lib-name@,9.0.0] | [NOT-LIB-VER not-lib-ver@,9.0.0] " +
	"| [NOT-DB not-db@,9.0.0:integer] | [NOT-CAPA not-capa@,9.0.0] | [NOT-IP not-ip@,9.0.0]"

// filtersAreFree is since when CLIENT LIST takes any filters, and ID several numbers.
const filtersAreFree = ",8.1.0"

// clientFilter is what CLIENT LIST and CLIENT KILL look for: clients that pass all tests. Of two tests with one name
// the later one counts.
type clientFilter struct {
	c       *command.Call
	old     []string // the filters of Redis 7.2
	names   []string
	tests   []func(c *server.Client) bool
	ids     map[string][]int64 // of ID and NOT-ID
	spareMe bool
}

func (f *clientFilter) matches(c *server.Client) bool {
	if f.spareMe && c == server.ServerOf(f.c).Running {
		return false
	}
	for _, test := range f.tests {
		if !test(c) {
			return false
		}
	}
	return true
}

func (f *clientFilter) add(name string, test func(c *server.Client) bool) {
	if i := slices.Index(f.names, name); i >= 0 {
		f.tests[i] = test
		return
	}
	f.names, f.tests = append(f.names, name), append(f.tests, test)
}

// parse reads filters, of which each has a value.
func (f *clientFilter) parse(args [][]byte) error {
	for len(args) > 0 {
		name := ascii.ToLower(string(args[0]))
		if len(args) == 1 || !slices.Contains(f.old, name) && !f.c.Cmd.Offers(name) {
			return server.ErrSyntax
		}
		plain, negated := strings.CutPrefix(name, "not-")
		test, used, err := f.test(plain, name, args[1:])
		switch {
		case err != nil:
			return err
		case test == nil:
		case negated:
			f.add(name, func(c *server.Client) bool { return !test(c) })
		default:
			f.add(name, test)
		}
		args = args[1+used:]
	}
	return nil
}

// test returns the test of a filter, nil for SKIPME, and the number of its values. full is its name with NOT.
func (f *clientFilter) test(
	name, full string, values [][]byte,
) (test func(c *server.Client) bool, used int, err error) {
	text := string(values[0])
	same := func(of func(c *server.Client) string) (func(c *server.Client) bool, int, error) {
		return func(c *server.Client) bool { return text != "" && of(c) == text }, 1, nil
	}
	switch name {
	case "id":
		return f.parseIDs(full, values)
	case "type":
		class, err := f.class(values[0])
		return func(c *server.Client) bool { return c.Class() == class }, 1, err
	case "user":
		user := f.c.Ex.Users.Get(values[0])
		if user == nil {
			return nil, 0, store.Errorf("ERR No such user '%s'", text)
		}
		return func(c *server.Client) bool { return c.Sess.User == user }, 1, nil
	case "addr":
		return same(func(c *server.Client) string { return c.Sess.Addr })
	case "laddr":
		return same(func(c *server.Client) string { return c.LAddr })
	case "name":
		return same(func(c *server.Client) string { return c.Sess.Name })
	case "lib-name":
		return same(func(c *server.Client) string { return c.Sess.LibName })
	case "lib-ver":
		return same(func(c *server.Client) string { return c.Sess.LibVer })
	case "ip":
		return same(func(c *server.Client) string { return c.Sess.Addr[:max(strings.LastIndexByte(c.Sess.Addr, ':'), 0)] })
	case "skipme":
		return nil, 1, f.skip(values[0])
	case "maxage":
		age, err := f.seconds(name, values[0])
		return func(c *server.Client) bool { return server.ServerOf(f.c).Now-c.Created >= age }, 1, err
	case "idle":
		idle, err := f.seconds(name, values[0])
		return func(c *server.Client) bool { return server.ServerOf(f.c).Now-c.Active >= idle }, 1, err
	}
	return f.newTest(name, values[0])
}

// newTest is test for filters whose values are not compared as texts.
func (f *clientFilter) newTest(name string, value []byte) (test func(c *server.Client) bool, used int, err error) {
	const allFlags, allCapa = "ABEIMNOPRSTUbcdeirtux", "r"
	hasAll := func(of func(c *server.Client) string, known string) (func(c *server.Client) bool, int, error) {
		if strings.Trim(string(value), known) != "" {
			return nil, 0, store.Errorf("ERR Unknown %s found in the provided filter: %s", name, value)
		}
		return func(c *server.Client) bool {
			has := of(c)
			return !slices.ContainsFunc(value, func(flag byte) bool { return strings.IndexByte(has, flag) < 0 })
		}, 1, nil
	}
	switch name {
	case "flags":
		return hasAll(server.Flags, allFlags)
	case "capa":
		return hasAll(server.Capabilities, allCapa)
	}
	db, ok := ascii.ParseInt(value)
	last := int64(len(f.c.KS.DBs) - 1)
	switch {
	case !ok:
		return nil, 0, store.Error("ERR DB is not an integer or out of range")
	case db < 0 || db > last:
		return nil, 0, store.Errorf("ERR DB number should be between 0 and %d", last)
	}
	return func(c *server.Client) bool { return int64(c.Sess.DB) == db }, 1, nil
}

const errClientID store.Error = "ERR client-id should be greater than 0"

// parseIDs parses one number, or all that follow. In newer servers it adds to those that came before.
func (f *clientFilter) parseIDs(name string, values [][]byte) (test func(c *server.Client) bool, used int, err error) {
	several := f.c.Ex.Table.Dialect.Has(filtersAreFree)
	var ids []int64
	for _, value := range values {
		id, ok := ascii.ParseInt(value)
		if several && !ok {
			break
		}
		if !ok || id < 1 {
			return nil, 0, errClientID
		}
		if ids = append(ids, id); !several {
			break
		}
	}
	if ids == nil {
		return nil, 0, server.ErrSyntax
	}
	if f.ids == nil {
		f.ids = map[string][]int64{}
	}
	all := ids
	if several {
		all = append(f.ids[name], ids...)
	}
	f.ids[name] = all
	return func(c *server.Client) bool { return slices.Contains(all, c.Sess.ID) }, len(ids), nil
}

func (f *clientFilter) class(value []byte) (int, error) {
	if f.c.Ex.Table.Dialect.Has(",8.0.0") && ascii.EqualFold(value, "primary") {
		return server.ClassMaster, nil
	}
	return server.ParseClass(value)
}

func (f *clientFilter) skip(value []byte) error {
	f.spareMe = ascii.EqualFold(value, "yes")
	if !f.spareMe && !ascii.EqualFold(value, "no") {
		return server.ErrSyntax
	}
	return nil
}

// seconds parses a number of seconds and returns it in ns.
func (f *clientFilter) seconds(name string, value []byte) (int64, error) {
	n, ok := ascii.ParseInt(value)
	switch {
	case !ok:
		return 0, store.Errorf("ERR %s is not an integer or out of range", name)
	case n <= 0:
		return 0, store.Errorf("ERR %s should be greater than 0", name)
	}
	return min(n, math.MaxInt64/int64(time.Second)) * int64(time.Second), nil
}
