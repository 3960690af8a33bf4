package admin

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

func debugProtocol(c *command.Call, args [][]byte) error {
	three := func() {
		for i := range 3 {
			c.Int(int64(i))
		}
	}
	switch kind := ascii.ToLower(string(args[0])); kind {
	case "string":
		c.BulkString("Hello World")
	case "integer":
		c.Int(12345)
	case "double":
		c.Double(3.141)
	case "null":
		c.Null()
	case "array":
		c.Array(3)
		three()
	case "set":
		c.Set(3)
		three()
	case "map":
		c.Map(3)
		for i := range 3 {
			c.Int(int64(i))
			c.Bool(i == 1)
		}
	case "attrib":
		if c.Sess.Proto > 2 {
			c.Attribute(1)
			c.BulkString("key-popularity")
			c.Array(2)
			c.BulkString("key:123")
			c.Int(90)
		}
		c.BulkString("Some real reply following the attribute")
	case "push":
		if c.Sess.Proto < 3 {
			return store.Error("ERR RESP2 is not supported by this command")
		}
		c.BulkString("Some real reply following the push reply")
		c.Push(2)
		c.BulkString("server-cpu-usage")
		c.Int(42)
	case "bignum":
		c.BigNumber("1234567999999999999999999999999999999")
	case "verbatim":
		c.Verbatim("txt", "This is a verbatim\nstring")
	case "true", "false":
		c.Bool(kind == "true")
	default:
		return store.Error("ERR Wrong protocol type name. Please use one of the following: " +
			"string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
	}
	return nil
}
