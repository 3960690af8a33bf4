package report

import (
	"regexp"
	"strings"

	"github.com/miniredisd/miniredisd/lab/words"
)

// name is what a failure is called.
type name struct{ title, sentence string }

// faultsOf has the failures of lab/explore in Chinese, by their names.
func faultsOf() map[string]name {
	all := map[string]name{
		"request-lost":  {"请求丢失", "请求没有到达服务器，连接断开。"},
		"reply-lost":    {"回复丢失", "服务器执行了请求，但是回复丢失。"},
		"paused":        {"长时间停顿", "请求一直等到它的客户端租约到期、其他客户端都已经继续运行：就像客户端停顿了很久，或者网络很慢。"},
		"lease-over":    {"租约刚到期", "服务器执行请求之前，客户端的租约刚好到期。"},
		"silent":        {"没有回应", "服务器执行了请求，连接还在，却再也没有回复。"},
		"restart":       {"服务器重启", "服务器在执行请求之前重启，键都还在。"},
		"keys-lost":     {"键全部丢失", "服务器在执行请求之前重启，键全部丢失。"},
		"evicted":       {"锁被淘汰", "服务器在执行请求之前淘汰了锁，就像内存不足时那样。"},
		"clock-jump":    {"时钟跳跃", "请求之前，服务器的时钟跳到所有租约都到期之后。"},
		"master-gone":   {"主节点停机", "从这个请求起，主节点停机。"},
		"power-cut":     {"断电", "服务器在执行请求之前崩溃，重启之后只有已经 fsync 的数据。"},
		"fsync-fails":   {"fsync 失败", "从这个请求起，下一次 fsync 失败，服务器拒绝写命令，直到文件重新完整。"},
		"disk-full":     {"磁盘写满", "从这个请求起磁盘写满：在它之后，服务器拒绝写命令。"},
		"failover":      {"故障切换", "请求之前，从节点接替主节点，然后又把数据交还。主节点最后半秒所做的都丢失。"},
		"promotion":     {"从节点提升", "请求之前，拥有全部数据的从节点成为主节点，并且一直是主节点。"},
		"sentinel-late": {"Sentinel 迟到", "请求之前，拥有全部数据的从节点成为主节点，而第一个 Sentinel 没有听说。"},
		"slot-moves":    {"槽搬走", "请求之前，锁所在的槽连同它的键搬到另一个节点。"},
		"slot-half":     {"槽搬了一半", "请求之前，槽里的键搬到另一个节点，旧节点在这次运行结束之前一直回复 ASK。"},
		"old-map":       {"旧的槽表", "请求之前，锁所在的槽搬走，而第三个节点留着旧的槽表。"},
		"message-lost":  {"消息丢失", "消息没有送到接收者。"},
		"message-late":  {"消息迟到", "消息晚到半秒。"},
		"reset-before":  {"执行前重置", "服务器执行请求之前，连接被重置。"},
		"reset-after":   {"执行后重置", "服务器执行了请求，然后连接被重置。"},
	}
	for _, word := range []string{"LOADING", "READONLY", "MISCONF", "OOM", "NOSCRIPT", "BUSY"} {
		all["error-"+strings.ToLower(word)] = name{word, "服务器没有执行请求，回复 " + word + "。"}
		all["executed-"+strings.ToLower(word)] = name{"执行后 " + word, "服务器执行了请求，代理却回复 " + word + "。"}
	}
	return all
}

// pattern translates sentences that have a part of their own.
type pattern struct {
	english *regexp.Regexp
	chinese string
}

func patterns() []pattern {
	all := []pattern{
		{regexp.MustCompile(`^it is the same as (.*): the request changes nothing$`), "和“$1”一样：这个请求什么也没有改变"},
		{regexp.MustCompile(`^(.*); and (.*) is free again when its lease ends$`), "$1；而且 $2 要等租约到期才又可以拿到"},
		{regexp.MustCompile(`^(.*) is free again when its lease ends$`), "租约到期以后，$1 又可以拿到"},
		{regexp.MustCompile(`^it breaks by itself, (\d+) of (\d+)$`), "不加故障也会坏，$2 次里坏了 $1 次"},
		{regexp.MustCompile(`^it happened again in only (\d+) of (\d+) runs with the fault, and in none without: (.*)$`),
			"加故障再运行 $2 次，只出现了 $1 次，不加故障一次也没有：$3"},
		{regexp.MustCompile(`^it happened again in only (\d+) of (\d+) runs with the fault, and in none without$`),
			"加故障再运行 $2 次，只出现了 $1 次，不加故障一次也没有"},
		{regexp.MustCompile(`^nothing comes after (.*)$`), "$1 之后什么也没有来"},
		{regexp.MustCompile(`^no lease of (.*) ended by itself: it is (\S+ s) long, nobody renewed it, and the work ` +
			`was shorter; the lab's clock does not run with the work, so work that takes longer than the lease was not tried$`),
			"$1 的租约没有一次自己到期：租约长 $2，没有人续期，而工作更短；实验室的时钟不随工作走，所以没有试过比租约更长的工作"},
		{regexp.MustCompile(`^(.*) was not taken for a lock: it is a list$`), "没有把 $1 当作锁：它是一个列表"},
		{regexp.MustCompile(`^(.*) was not taken for a lock: scripts write it while they give a lock up$`),
			"没有把 $1 当作锁：脚本在放弃一把锁时写它"},
		{regexp.MustCompile(`^(.*) ends with another value than without the failure$`), "$1 最后的值和不加故障时不同"},
		{regexp.MustCompile(`^nobody took the lock while these requests waited, only afterwards, so a client that asks ` +
			`earlier was not tried: (.*)$`), "这些请求等待期间没有人拿锁，之后才有人拿，所以没有试过更早来问的客户端：$1"},
		{regexp.MustCompile(`^left out, because only miniredisd itself has them: (.*)$`), "没有试，因为只有 miniredisd 自己有：$1"},
		{regexp.MustCompile(`^exit status (\d+)$`), "程序以退出码 $1 结束"},
	}
	for _, p := range words.Patterns() {
		all = append(all, pattern{p.English, p.Chinese})
	}
	return all
}

const compareAndDelete = `if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// chineseOf translates the sentences of lab/doctor, lab/holders, lab/verdict and lab/explore that a report shows.
func chineseOf() map[string]string {
	const byScript = "release with a script that compares and deletes in one step: " + compareAndDelete
	const byScriptZH = "用一个脚本在一步里完成比对和删除：" + compareAndDelete
	all := words.Reasons() // why a lock is broken
	for _, pair := range [][2]string{
		// The doctor: what is wrong, and what helps.
		{
			"one command took the lock and another one set its TTL: a client that dies between them leaves a lock" +
				" that nobody can ever take",
			"加锁和设置过期时间是两条命令：客户端如果死在两条命令之间，就会留下一把谁也拿不到的锁",
		},
		{
			"take the lock and set its TTL in one command: SET key token NX PX milliseconds",
			"用一条命令加锁并设置过期时间：SET key token NX PX milliseconds",
		},
		{
			"the lock has no TTL: if its owner dies before it releases the lock, the lock stays for ever",
			"锁没有过期时间：持有者如果在释放之前死掉，锁就永远留在那里",
		},
		{
			"take it with a TTL: SET key token NX PX milliseconds, and renew it while the work goes on",
			"加锁时设置过期时间：SET key token NX PX milliseconds，工作期间不断续期",
		},
		{
			"the lock has no TTL, and the connection that took it is closed: unless the same process comes back " +
				"to release it, the lock stays for ever",
			"锁没有过期时间，加锁的连接又已经断开：除非同一个进程回来释放，否则锁永远留在那里",
		},
		{
			"take it with a TTL: SET key token NX PX milliseconds; delete the left-over lock by hand",
			"加锁时设置过期时间：SET key token NX PX milliseconds；留下的锁要手工删除",
		},
		{
			"GET compared the token and another command deleted the lock: if the lease ends between them, the DEL" +
				" removes another client's lock",
			"GET 比对令牌，另一条命令删除锁：租约如果在两者之间到期，DEL 删掉的就是别人的锁",
		},
		{
			byScript +
				"; or WATCH the key before GET and delete it in MULTI",
			byScriptZH +
				"；或者在 GET 之前先 WATCH，再在 MULTI 里删除",
		},
		{
			"a connection changed the lock without comparing the token, and neither took the lock nor ever sent " +
				"its token: two clients may now believe that they hold it",
			"有个连接没有比对令牌就改了锁，它既没有加过锁，也从没有发过锁的令牌：现在可能有两个客户端都以为自己持有锁",
		},
		{
			byScript +
				"; renew in the same way",
			byScriptZH +
				"；续期也用同样的办法",
		},
		{
			"the lease had ended before the release: since then nothing protected the work, and another client " +
				"may have held the lock",
			"释放之前租约已经到期：从那时起工作就没有锁保护，别的客户端可能已经持有过锁",
		},
		{
			"renew the lease while the work goes on, or use a longer one; treat a release that finds nothing as " +
				"an error, and protect the data by a fencing token",
			"工作期间不断续期，或者用更长的租约；释放时发现锁已经不在，要当成错误处理；数据用隔离令牌保护",
		},
		{
			"one connection sends the text of the same script again and again: that costs bytes and hashing for " +
				"each lock",
			"一个连接反复发送同一个脚本的全文：每次加锁都要多传字节、多算一次哈希",
		},
		{
			"send EVALSHA with the script's SHA1, and EVAL only after NOSCRIPT",
			"用脚本的 SHA1 发 EVALSHA，收到 NOSCRIPT 以后才发 EVAL",
		},
		{
			"a waiter tries again and again for a lock whose release publishes a message, and does not subscribe " +
				"to it: needless load, and late by half an interval",
			"锁释放时会发布消息，等待者却不订阅，而是一再轮询：白白增加负载，还要平均晚半个间隔",
		},
		{
			"SUBSCRIBE to the channel of the release, try once more after subscribing, then wait for the message," +
				" but no longer than the TTL",
			"SUBSCRIBE 释放消息的频道，订阅之后再试一次，然后等消息，但最多等到过期时间",
		},
		{"a waiter tries for a lock again and again without a pause", "等待者不停地抢锁，中间没有停顿"},
		{
			"pause between attempts for some milliseconds plus a random part, or let the release PUBLISH a " +
				"message and wait for it",
			"两次尝试之间停几毫秒再加一段随机时间，或者在释放时 PUBLISH 一条消息，等待这条消息",
		},
		{
			"many waiters try for one lock again and again: each of them may pause, but together they make more than " +
				"50 requests a second, and chance decides who gets the lock",
			"许多等待者反复抢同一把锁：每一个都可能有停顿，加起来却超过每秒 50 个请求，而且谁拿到锁全凭运气",
		},
		{
			"let the release wake one waiter: LPUSH and BLPOP, or a message to which the waiters subscribe; " +
				"or make the pause of a waiter longer with each attempt",
			"让释放唤醒一个等待者：LPUSH 和 BLPOP，或者让等待者订阅消息；也可以让等待者的停顿逐次加长",
		},
		{
			"two clients use the same token for one lock: a script that compares the token cannot tell them " +
				"apart, so a late release by one of them removes the lock of the other",
			"两个客户端对同一把锁用了同一个令牌：比对令牌的脚本分不清它们，一方迟到的释放会删掉另一方的锁",
		},
		{"give each attempt to take the lock a token of its own, such as 16 random bytes", "每次加锁都用新的令牌，例如 16 个随机字节"},
		{
			"a SET without an expiry renewed the lock, and SET removes the TTL of its key: from then on the lock has " +
				"none, and if its owner dies, it stays for ever",
			"续期用的 SET 没有写过期时间，而 SET 会去掉键的过期时间：锁从此没有过期时间，持有者一死，它就永远留着",
		},
		{
			"give the renewal its lease: SET key token IFEQ token PX milliseconds; without IFEQ use a script that " +
				"compares the token and calls PEXPIRE",
			"续期时写上租约：SET key token IFEQ token PX 毫秒数；没有 IFEQ 就用脚本，先比对令牌，再 PEXPIRE",
		},
		{
			"a command that changes the TTL had a time that is not in the future: it deletes the lock, and its reply " +
				"looks like success, so a holder that meant to renew goes on without a lock",
			"设置过期时间的命令用了不在将来的时间：它会删掉锁，回复看上去却是成功，想续期的持有者就在没有锁的情况下继续工作",
		},
		{
			"send a lease above 0, and a time in the future; release with a script that compares and deletes",
			"续期的租约要大于 0，时间要在将来；释放用脚本，先比对再删除",
		},
		{
			"the renewals come at intervals of more than half of the lease: if one of them is late or lost, the lock is " +
				"gone before the next one",
			"续期的间隔超过租约的一半：只要有一次迟到或丢失，下一次续期之前锁就已经没了",
		},
		{
			"renew after a third of the lease, or make the lease three times the interval",
			"租约过了三分之一就续期，或者把租约设成间隔的三倍",
		},
		{
			"a renewal came after the lease had ended: since then nothing protected the work, and another client may " +
				"have held the lock",
			"续期到达时租约已经结束：从那时起工作不再受保护，别的客户端可能已经持有过锁",
		},
		{
			"renew after a third of the lease; stop the work when a renewal fails, and protect the data by a fencing token",
			"租约过了三分之一就续期；续期失败就停止工作；数据用隔离令牌保护",
		},
		{
			"a renewal came after its holder had released the lock: a watchdog that nobody stops may keep the lock of " +
				"the next holder",
			"持有者已经释放了锁，续期才到：没人停下的看门狗可能会一直占着下一个持有者的锁",
		},
		{
			"stop the watchdog before the release and wait for its last reply; renew with a script that compares the token",
			"释放之前先停下看门狗，等到它最后一个回复；续期用比对令牌的脚本",
		},
		{
			"a connection changed the lock of another client without comparing the token: it held the lock before, and " +
				"that hold was over: two clients may now believe that they hold it",
			"有个连接没有比对令牌就改了别人的锁，它以前持有过这把锁，但那一次早已结束：现在可能有两个客户端都以为自己持有锁",
		},
		{
			"renew with a script that compares the token and calls PEXPIRE in one step",
			"续期用脚本，在一步里比对令牌并 PEXPIRE",
		},
		{
			"let the clock of the server not jump (slew, do not step), and check a fencing token where the data is",
			"不要让服务器的时钟跳跃（慢慢调，不要一下子改）；在存数据的地方检查隔离令牌",
		},
		{
			"maxmemory is set, and its policy evicts keys like this lock: when memory is short, the lock is gone " +
				"while a client holds it",
			"设了 maxmemory，它的策略会淘汰这样的键：内存不够时，锁还有人持有就没了",
		},
		{
			"the server evicted the lock while a client held it: another client may have taken it since",
			"服务器淘汰了还有人持有的锁：别的客户端可能已经拿到了它",
		},
		{
			"the end of the lease is a time by the client's clock, and the server's clock shows another time: " +
				"the lease is not as long as the client believes",
			"租约的终点是按客户端时钟算的时间，而服务器的时钟显示的是另一个时间：租约不像客户端以为的那么长",
		},
		{
			"the end of the lease is a time by the client's clock, and by the server's clock it was over: the " +
				"reply is OK, and there is no lock",
			"租约的终点是按客户端时钟算的时间，按服务器的时钟它已经过去：回复是 OK，锁却不存在",
		},
		{
			"the scores are times by the clients' clocks, and a test has moved the server's clock: what is due " +
				"by the one is not due by the other",
			"分数是按客户端时钟算的时间，而测试拨动了服务器的时钟：按一个时钟到期的，按另一个时钟还没有到期",
		},
		{
			"keep locks on a server of their own, with maxmemory-policy noeviction: no policy spares only locks",
			"锁放在单独的服务器上，maxmemory-policy 用 noeviction：没有哪个策略只放过锁",
		},
		{
			"give a lease as a number of milliseconds: SET key token NX PX milliseconds, PEXPIRE key milliseconds",
			"租约写成毫秒数：SET key token NX PX 毫秒数，PEXPIRE key 毫秒数",
		},
		{
			"let a script read the TIME of the server; or leave the server's clock alone in tests of this client",
			"用脚本读服务器的 TIME；或者在测试这个客户端时不要动服务器的时钟",
		},
		{
			"let no clock of a master jump (slew, do not step), keep a master that lost its keys away for longer " +
				"than the longest lease, and check a fencing token where the data is",
			"不要让主节点的时钟跳跃（慢慢调，不要一下子改）；丢了键的主节点，要等到最长的租约过去以后再上线；在存数据的地方检查隔离令牌",
		},
		{byScript, byScriptZH},
		{
			"keep a server that lost its keys away for longer than the longest lease; check a fencing token where" +
				" the data is",
			"丢了键的服务器，要等到最长的租约过去以后再上线；在存数据的地方检查隔离令牌",
		},
		{
			"make appendfsync always, or keep a server that lost its keys away for longer than the longest lease; check a " +
				"fencing token where the data is",
			"把 appendfsync 设为 always，或者让丢了键的服务器等到最长的租约过去以后再上线；在存数据的地方检查隔离令牌",
		},
		{
			"after the grant WAIT for the replicas, and give the lock back if too few answer; or take it on a majority of " +
				"independent masters; check a fencing token where the data is",
			"加锁之后用 WAIT 等待从节点，应答的太少就把锁还回去；或者在多数派的独立主节点上加锁；在存数据的地方检查隔离令牌",
		},
		// What helps against a harm that the doctor does not know.
		{"the key has no TTL, and nobody deletes it: no client can take the lock any more", "键没有过期时间，也没有人删除它：再没有客户端能拿到锁"},
		{
			"a client waits for a message that does not come, and its wait has no timeout",
			"有个客户端在等一条不会来的消息，等待又没有超时",
		},
		{
			"give the wait a timeout that is no longer than the TTL of the lock, and try for the lock again after it",
			"给等待设一个不超过锁的过期时间的超时，时间到了就再试一次加锁",
		},
		{"a reply or a message does not come, and a client waits for it without a timeout", "回复或者消息没有来，客户端还在等，又没有超时"},
		{
			"give each reply a timeout (the client's socket timeout), and each wait for a message one as well",
			"等每个回复都要有超时（客户端的 socket timeout），等消息也一样",
		},
		{
			"take an error or a lost reply for a lock that is not held, and end the work before the lease ends",
			"收到错误或者没有收到回复，就当作没有拿到锁；在租约到期之前结束工作",
		},
		{
			"a client took the lock and does not know it, or does not give it up after an error",
			"有个客户端拿到了锁自己却不知道，或者出错以后没有释放",
		},
		{
			"after an error send the release, too: a script that compares the token does no harm; and choose a short lease",
			"出错以后也要发送释放：比对令牌的脚本不会误伤别人；租约要选得短一些",
		},
		// The verdict.
		{
			"look at the picture for the first operation that fits nowhere: it often releases a lock that its " +
				"client does not hold",
			"在图上找第一个放在哪里都不对的操作：它往往是在释放一把自己并不持有的锁",
		},
		// Why a cell has its mark.
		{"a message is not a request", "消息不是请求"},
		{"a request is not a message", "请求不是消息"},
		{"it needs several masters", "需要多个主节点"},
		{"the masters of a cluster do not vote", "集群的主节点不投票"},
		{"the request names no key", "请求没有指明键"},
		{"just before the request database 0 did not have the lock: there was nothing to evict",
			"就在请求之前，数据库 0 里没有这把锁，没有什么可淘汰的"},
		{"no client of a single server can stand it; --strict tries it", "只有一台服务器时，没有客户端受得了它；加上 --strict 才会试"},
		{"only EVALSHA gets this error", "只有 EVALSHA 会收到这个错误"},
		{"servers refuse only writes with this error", "服务器只会用这个错误拒绝写命令"},
		{"with appendfsync always the server ends when its file fails", "appendfsync 为 always 时，文件一出故障服务器就会结束"},
		{"with appendfsync no the server leaves the fsync to the system", "appendfsync 为 no 时，服务器把 fsync 交给操作系统"},
		{"nobody asked for it", "没有人要求试它"},
		{"the program breaks without a fault", "不加故障，程序也会坏"},
		{"nothing comes at all", "什么请求也没有来"},
		{"it repeats the two requests before it, and nobody has changed the key between them",
			"它重复前两个请求，其间没有人改过这个键"},
		{"the request did not come: the program did something else", "这个请求没有出现：程序做了别的事"},
		{"the log had no room for all commands", "记录里放不下所有命令"},
		{"the program went on when the leases ended", "租约到期以后，程序才继续运行"},
		{"a client still waits for a message", "还有一个客户端在等消息"},
		{
			"another connection renews the lock of the client that was held: it has not paused as a whole",
			"被停住的客户端还有另一个连接在续期：它并没有整个停下来",
		},
		// The failures that others are the same as.
		{"request lost", "请求丢失"},
		{"reset before", "执行前重置"},
	} {
		all[pair[0]] = pair[1]
	}
	return all
}
