package node

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// chinese returns the translation of a text of the page of dialects.
func chinese(t *testing.T) func(text string) string {
	all := chineseDialects()
	return func(text string) string {
		require.Contains(t, all, text, "chineseDialects lacks this text")
		return all[text]
	}
}

// chineseDialects has all texts of the tables. What stands between backquotes stays.
func chineseDialects() map[string]string {
	return map[string]string{
		"where": "在哪里", "since": "从哪个版本起", "yes": "有", "behaviour": "行为", "command or option": "命令或选项",

		"What the server says of itself": "服务器怎样介绍自己",
		"How old commands behave":        "旧命令的行为",
		"Commands and options":           "命令和选项",
		"Refused by name":                "点名拒绝",
		"Directives":                     "配置项",
		refusedAre:                       "服务器有这些命令，miniredisd 没有。以点结尾的名字代表一个模块的全部命令。",
		directivesAre:                    "服务器有这些配置项。miniredisd 接受它们并给出警告，它们不起作用。",

		"`redis_version` in `INFO`, `redis.REDIS_VERSION`": "`INFO` 的 `redis_version`、`redis.REDIS_VERSION`",
		"`server_name` in `INFO`, `server.SERVER_NAME`":    "`INFO` 的 `server_name`、`server.SERVER_NAME`",
		"the field for standalone in `INFO`":               "`INFO` 里表示单机的字段",
		"`HELLO`":                                          "`HELLO`",
		"the version that `DUMP` writes":                   "`DUMP` 写的版本",
		"`server.call` in scripts":                         "脚本里的 `server.call`",

		"`MULTI` and `WATCH` inside `MULTI` are refused before they run, so `EXEC` fails": "" +
			"`MULTI` 里的 `MULTI` 和 `WATCH` 在执行之前就被拒绝，所以 `EXEC` 失败",
		"the refusal inside `MULTI` names the command with its subcommand": "`MULTI` 里的拒绝写出命令和子命令的全名",
		"`CLIENT REPLY` is refused inside `MULTI`":                         "`MULTI` 里拒绝 `CLIENT REPLY`",
		"a client without a user hears `NOAUTH` before anything about its request": "" +
			"没有登录的客户端先得到 `NOAUTH`，然后才谈得上请求本身的错误",
		"`BITCOUNT` and `BITPOS` check their arguments before the key": "`BITCOUNT` 和 `BITPOS` 先检查参数，再看键",
		"`XREAD` takes `+` for the last entry of a stream":             "`XREAD` 可以用 `+` 表示流的最后一条",
		"`BITCOUNT` needs no end":                                      "`BITCOUNT` 可以不写终点",
		"`GETEX` checks its expiry before the key":                     "`GETEX` 先检查过期时间，再看键",
		"`SET` with a time in the past stores nothing, and deletes the old value": "" +
			"`SET` 的过期时间已过时，什么也不存，只删掉旧值",
		"a key that gets a time in the past has expired: the event is `expired`, and `expired_keys` counts it": "" +
			"键得到已过的时间，就算过期：事件是 `expired`，`expired_keys` 也计数",
		"small integers are not shared, as `OBJECT REFCOUNT` shows": "小整数不共享，`OBJECT REFCOUNT` 看得出来",
		"`ZADD` chooses the encoding by all its members, even those that it does not add": "" +
			"`ZADD` 按它的全部成员选编码，没有加进去的成员也算",
		"a log of commands with a length of 0 is off, and keeps its entries": "命令日志的长度为 0 就是关闭，已有的条目保留",
		"the logs of commands name the client that runs a script":            "命令日志写出运行脚本的客户端",
		"scripts have `os.clock`":                                            "脚本有 `os.clock`",
		"errors of scripts say `Valkey` and `server.log()`, not `Redis` and `redis.log()`": "" +
			"脚本的错误写 `Valkey` 和 `server.log()`，而不是 `Redis` 和 `redis.log()`",
		"`FUNCTION LOAD` checks the names of functions when the text of the library has run": "" +
			"`FUNCTION LOAD` 等库的代码运行完才检查函数的名字",
		"errors of scripts do not name the script": "脚本的错误不写脚本的名字",
		"scripts hear `Unknown command`, not `Unknown Redis command`": "" +
			"脚本得到的是 `Unknown command`，而不是 `Unknown Redis command`",
		"`HELLO` lists Lua as a module, and scripts hear the usual error for an unknown subcommand": "" +
			"`HELLO` 把 Lua 列为模块；脚本调用未知的子命令时得到平常的错误",
		"`watch` in `CLIENT LIST`":     "`CLIENT LIST` 的 `watch`",
		"`capa` in `CLIENT LIST`":      "`CLIENT LIST` 的 `capa`",
		"`io-thread` in `CLIENT LIST`": "`CLIENT LIST` 的 `io-thread`",
		"`tot-net-in`, `tot-net-out` and `tot-cmds` in `CLIENT LIST`": "" +
			"`CLIENT LIST` 的 `tot-net-in`、`tot-net-out` 和 `tot-cmds`",
		"`availability_zone` in `INFO`":                        "`INFO` 的 `availability_zone`",
		"`valkey_release_stage` in `INFO`":                     "`INFO` 的 `valkey_release_stage`",
		"`clients_hz` in `INFO`":                               "`INFO` 的 `clients_hz`",
		"`io_threaded_freed_objects` and three more in `INFO`": "`INFO` 的 `io_threaded_freed_objects` 等四个字段",
	}
}
