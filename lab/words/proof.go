package words

import (
	"fmt"
	"regexp"
	"strconv"
)

// translation is a format of lab/proof and its Chinese text. $1 is the first argument of the format.
type translation struct{ english, chinese string }

// proofs has what lab/proof says about what happened to a key.
func proofs() []translation {
	return []translation{
		// What the log cannot tell.
		{"%s's %s at %s wrote %s; the judge does not know whether %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 写了 $4；无法知道 $1 是不是以为自己持有锁"},
		{"%s's %s at %s found its own token in %s; the judge does not know whether %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 发现 $4 里是自己的令牌；无法知道 $1 是不是以为自己持有锁"},
		{"%s's %s at %s belongs to a script whose reply does not say whether it took or gave up %s",
			"$1 在 $3 的 $2 属于一个脚本，从脚本的回复看不出它是取得还是放弃了 $4"},
		{"the reply to %s's %s at %s was lost; the judge does not know whether %[1]s knows what became of %[4]s",
			"$1 在 $3 的 $2 的回复丢失了；无法知道 $1 是否了解 $4 的情况"},
		{"%s's %s at %s counted the tokens of %s at another node than the one that has its own token; " +
			"the judge does not know whether %[1]s believes that it is one of the holders",
			"$1 在 $3 用 $2 数 $4 的令牌，所在的节点却不是它放令牌的节点；无法知道 $1 是不是以为自己也是持有者"},
		{"%s's %s at %s left an entry of %s that was made over an earlier connection; " +
			"the judge does not know whether %[1]s knows of it",
			"$1 在 $3 用 $2 留下了 $4 的一次重入，那是在更早的连接上进入的；无法知道 $1 是否知道它"},
		{"%s's %s at %s was a further try for %s, which %[1]s had already; " +
			"the judge does not know from which try %[1]s counts its lease",
			"$1 在 $3 的 $2 是对 $4 的又一次尝试，而 $1 已经持有它；无法知道 $1 从哪一次尝试开始计算租约"},
		{"the reply to %s's %s at %s came late; the judge does not know when %[1]s learned that it took %[4]s",
			"$1 在 $3 的 $2 的回复来得晚；无法知道 $1 何时得知自己取得了 $4"},
		{"%s's %s at %s tried for %s with another token than that of its connection; " +
			"the judge does not know whether %[1]s gave the lock up, or is another client",
			"$1 在 $3 用 $2 请求 $4，令牌却与这个连接持有的不同；无法知道 $1 是放弃了锁，还是另一个客户端"},
		{"%s's %s at %s watched %s, and no transaction behind it changed the lock; " +
			"the judge does not know whether %[1]s gave the lock up or learned that it was lost",
			"$1 在 $3 用 $2 监视 $4，之后没有事务改动锁；无法知道 $1 是放弃了锁，还是得知锁已失去"},
		{"%s's %s at %s carries no token of its own; the judge does not know which holder of %s sent it",
			"$1 在 $3 的 $2 没有带独一无二的令牌；无法知道它来自 $4 的哪个持有者"},
		{"%s's %s at %s took out of %s what another client had put there; " +
			"the judge does not know whether %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 从 $4 里取走了别的客户端放进去的东西；无法知道 $1 是不是以为自己持有锁"},
		{"%s's %s at %s gave %s a millisecond to live; the judge does not know whether %[1]s gave the lock up in this way",
			"$1 在 $3 用 $2 只让 $4 再活一毫秒；无法知道 $1 是不是这样放弃锁的"},
		{"%s's %s at %s deleted %s, because it set a time that was over; " +
			"the judge does not know whether %[1]s gave the lock up or believes that it renewed it",
			"$1 在 $3 的 $2 给出的时间已经过去，所以删除了 $4；无法知道 $1 是放弃了锁，还是以为续期成功"},
		{"before %s's %s at %s its connection released %s in vain and showed no token; " +
			"the judge does not know whether another client uses that connection",
			"$1 在 $3 的 $2 之前，它的连接释放 $4 落空，也没有带令牌；无法知道是不是另有客户端使用这个连接"},
		{"%s's %s at %s showed the token of another client of %s; " +
			"the judge does not know whether %[1]s believes in its renewal",
			"$1 在 $3 的 $2 读到的是 $4 另一个客户端的令牌；无法知道 $1 是不是相信续期成功"},
		{"%s's %s at %s gave a field of %s a lease of its own; " +
			"the judge does not know in which lease %[1]s believes",
			"$1 在 $3 用 $2 给 $4 的一个字段单独的租约；无法知道 $1 相信哪个租约"},
		{"%s's %s at %s deleted %s with all keys; " +
			"the judge does not know whether %[1]s gave the lock up in this way",
			"$1 在 $3 用 $2 把 $4 和所有键一起删除；无法知道 $1 是不是这样放弃锁的"},
		{"%s's %s at %s tries for %s, which %[1]s had lost; " +
			"the judge does not know whether it knew that, or another client uses its name",
			"$1 在 $3 用 $2 再次请求已经失去的 $4；无法知道它是不是知道这一点，还是另一个客户端用了同样的名字"},
		{"%s's %s at %s added a token to %s, which had as many holders as it may; " +
			"the judge does not know whether %[1]s believes that it is one of them",
			"$1 在 $3 用 $2 往已经满员的 $4 里加了令牌；无法知道 $1 是不是以为自己也是持有者"},
		{"%s's %s at %s gave %s to a client that waited; the judge does not know when that client learned it",
			"$1 在 $3 用 $2 把 $4 交给等待的客户端；无法知道那个客户端何时得知"},
		{"%s's %s at %s brought %s, and no other node shows that it left there; " +
			"the judge does not know who holds the lock",
			"$1 在 $3 的 $2 带来了 $4，但没有别的节点显示它从那里离开；评判程序不知道谁持有锁"},
		{"%s's %s at %s was not executed; the judge does not know whether %[1]s believes that it gave %[4]s up",
			"$1 在 $3 的 $2 没有执行；无法知道 $1 是不是以为自己放弃了 $4"},
		{"%s's %s at %s failed; the judge does not know whether %[1]s knows that it lost %[4]s",
			"$1 在 $3 的 $2 失败了；无法知道 $1 是否知道自己失去了 $4"},
		{"%s's %s at %s is the first entry about %s, and the key was there before; " +
			"the judge does not know who held it",
			"$1 在 $3 的 $2 是关于 $4 的第一条记录，而键早已存在；无法知道当时谁持有它"},
		{"%s's %s at %s took %s until a time that was over by the server's clock; " +
			"the judge does not know how long %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 请求 $4 得到 OK，可是按服务器的时钟时间已经过去；无法知道 $1 相信它多久"},
		{"%s's %s at %s took %s without the lease that other clients give it next; " +
			"the judge does not know how long %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 取得 $4，却没有像别的客户端那样接着给它租约；无法知道 $1 相信它多久"},
		{"%s's %s at %s left %s a longer lease than its script was asked for; " +
			"the judge does not know how long %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 给 $4 留下的租约比脚本要求的长；无法知道 $1 相信它多久"},
		{"%s's %s at %s gave %s an end by a client's clock; " +
			"the judge does not know how long %[1]s believes that it holds the lock",
			"$1 在 $3 用 $2 按客户端的时钟给 $4 定了到期时间；无法知道 $1 相信自己持有锁多久"},
		{"%s's %s at %s changed the lease of %s, which another client held; " +
			"the judge does not know whether that is meant",
			"$1 在 $3 用 $2 改动了 $4 的租约，而当时持有它的是另一个客户端；无法知道这是否有意"},
		{"%s's %s at %s takes or renews %s with the token of its holder over another connection; " +
			"the judge does not know whether both are one client",
			"$1 在 $3 用 $2、持有者的令牌、经另一个连接取得或续期 $4；无法知道两者是不是同一个客户端"},
		{"%s's %s at %s was executed while the clock was being moved; " +
			"the judge does not know when %[1]s learned that it took %[4]s",
			"$1 在 $3 的 $2 是在时钟正被拨动时执行的；无法知道 $1 何时得知自己取得了 $4"},
		{"%s's %s at %s found %s with another number of entries than its holder has made; the judge does " +
			"not know whether the holder believes that it still holds the lock",
			"$1 在 $3 的 $2 时 $4 的进入次数与持有者的不同；无法知道持有者是不是以为自己仍持有锁"},
		{"%s's %s at %s told of too few replicas that have %s; the judge does not know whether %[1]s " +
			"believes in its renewal",
			"$1 在 $3 的 $2 表明有 $4 的副本太少；无法知道 $1 是不是相信续期成功"},
		{"%s's %s at %s found another count in %s than the master had; the judge does not know who holds a " +
			"permit",
			"$1 在 $3 的 $2 时 $4 的计数与主节点的不同；无法知道谁持有许可"},
		{"%s's %s at %s wrote %s past the proxy; the judge does not know who holds the lock",
			"$1 在 $3 绕过代理写了 $4；无法知道谁持有锁"},
		{"%s's %s at %s changed a value of %s that the log does not have; the judge cannot tell who held it",
			"$1 在 $3 的 $2 改动了 $4 的值，而日志里没有这个值；看不出谁持有它"},
		{"nobody saw at %[3]s what became of %[4]s; the judge cannot tell who held it",
			"没有人看到 $4 在 $3 变成了什么；看不出谁持有它"},
		{"%d clients may have held %s at %s, and only %d may hold it; " +
			"the log does not show whether all of them believed in it",
			"在 $3 可能有 $1 个客户端持有 $2，只允许 $4 个；从日志里看不出它们是不是都相信自己持有"},

		// How a lock had two holders.
		{"%d clients held %s at %s, and only %d may hold it", "在 $3 有 $1 个客户端持有 $2，只允许 $4 个"},
		{"%s's lease of %s was over, and %s took it at %s; then %s's %s at %s renewed it without comparing the token",
			"$1 在 $2 上的租约已经到期，$3 在 $4 取得了它，$5 在 $7 又用 $6 续期，没有比较令牌"},
		{"%s took %s at %s with the token of %s", "$1 在 $3 用 $4 的令牌取得了 $2"},
		{"%s took %s at %s while %s held it %s", "$1 在 $3 取得了 $2，而 $4 $5持有它"},
		{"the server lost %s at %s, and %s believed in it %s", "服务器在 $2 丢失了 $1，而 $3 $4相信自己持有它"},
		{"the server evicted %s for memory at %s, and %s believed in it %s",
			"服务器因为内存不足在 $2 淘汰了 $1，而 $3 $4相信自己持有它"},
		{"%s expired at %s, and %s believed in it %s", "$1 在 $2 到期，而 $3 $4相信自己持有它"},
		{"%s's %s at %s deleted its own %s, because it set a time that was over",
			"$1 在 $3 的 $2 给出的时间已经过去，删除了自己的 $4"},
		{"%s's %s at %s replaced the token of %s in %s, in which %s believed %s",
			"$1 在 $3 用 $2 替换了 $4 在 $5 里的令牌，而 $6 $7相信自己持有它"},
		{"%s's %s of %s reached the server at %s, and took %s from %s, which believed in it %s",
			"$1 在 $3 发出的 $2 到 $4 才执行，夺走了 $6 的 $5，而 $6 $7相信自己持有它"},
		{"%s's %s at %s came again, because the first reply was lost, and took %s from %s, which believed in it %s",
			"$1 因为前一个回复丢失，在 $3 又发了一次 $2，夺走了 $5 的 $4，而 $5 $6相信自己持有它"},
		{"%s's %s at %s showed the token that %s has, too, and took %s, in which %[4]s believed %[6]s",
			"$1 在 $3 的 $2 带着 $4 也在用的令牌，夺走了 $5，而 $4 $6相信自己持有它"},
		{"%s's %s at %s came after its own lease, and took %s from %s, which believed in it %s",
			"$1 自己的租约已经过去，它在 $3 的 $2 夺走了 $5 的 $4，而 $5 $6相信自己持有它"},
		{"%s's %s at %s deleted %s with all keys, and %s believed in it %s",
			"$1 在 $3 用 $2 把 $4 和所有键一起删除了，而 $5 $6相信自己持有它"},
		{"somebody deleted %s past the proxy at %s, and %s believed in it %s",
			"有人在 $2 绕过代理删除了 $1，而 $3 $4相信自己持有它"},
		{"older keys came back at %s without %s, and %s believed in it %s",
			"在 $1 恢复了更旧的键，其中没有 $2，而 $3 $4相信自己持有它"},
		{"%s left its node at %s and arrived at no other one, and %s believed in it %s",
			"$1 在 $2 离开了它的节点，却没有到达别的节点，而 $3 $4相信自己持有它"},
		{"%s took %s at %s at node %s while %s held it at another node %s",
			"$1 在 $3 从节点 $4 取得了 $2，而 $5 $6还在另一个节点上持有它"},
		{"%s expired at %s after %s, and %s believed in it %s", "$1 在 $3 之后于 $2 到期，而 $4 $5相信自己持有它"},
		{"%s's %s at %s took %s from %s, which believed in it %s", "$1 在 $3 用 $2 夺走了 $5 的 $4，而 $5 $6相信自己持有它"},

		// What is not judged.
		{"%s is a queue, and no client holds it", "$1 是队列，没有客户端持有它"},
		{"%s is a list, and a list does not show who has taken what is not in it",
			"$1 是列表，从列表看不出谁拿走了不在里面的东西"},
		{"%s is a semaphore", "$1 是信号量"},
		{"%s has the tokens of several clients at one time, as a semaphore or a queue has",
			"$1 同时有多个客户端的令牌，像信号量或者队列那样"},
		{"%s is a counter that several clients change", "$1 是多个客户端改动的计数器"},
		{"%s is a queue: clients take what others have added", "$1 是队列：客户端取走别人放进去的东西"},
		{"%s was not watched: the log has only the requests that a rule struck", "没有观察 $1：日志里只有规则击中的请求"},
		{"%s has a type that no lock is made of", "$1 的类型不会用来做锁"},
		{"%s has values that clients write without asking whether it is free",
			"客户端写 $1 之前没有问过它是不是空闲"},
	}
}

// inChinese translates how long a client believed in a lock.
func inChinese(sentence string) string {
	sentence = regexp.MustCompile(`until (\d\d:\d\d:\d\d\.\d{3})`).ReplaceAllString(sentence, "到 $1 为止")
	return regexp.MustCompile("without end").ReplaceAllString(sentence, "一直")
}

// patterns returns a translation as patterns: alone, and with what two holders have behind it.
func (t translation) patterns() []Pattern {
	const both = ": both believe that they hold it"
	verbs := regexp.MustCompile(`%(\[(\d+)\])?[sd]`)
	groups := map[string]int{} // of the arguments
	n, next := 0, 0
	english := ""
	rest := t.english
	for {
		at := verbs.FindStringSubmatchIndex(rest)
		if at == nil {
			english += regexp.QuoteMeta(rest)
			break
		}
		english += regexp.QuoteMeta(rest[:at[0]])
		arg := ""
		if at[4] >= 0 {
			arg = rest[at[4]:at[5]]
		} else {
			next++
			arg = strconv.Itoa(next)
		}
		if groups[arg] == 0 {
			n++
			groups[arg] = n
			english += "(.+?)"
		} else {
			english += ".+?"
		}
		rest = rest[at[1]:]
	}
	chinese := regexp.MustCompile(`\$(\d)`).ReplaceAllStringFunc(t.chinese, func(s string) string {
		return fmt.Sprintf("${%d}", groups[s[1:]])
	})
	again := regexp.MustCompile("^" + english + "; (.+?) took it at (.+?)" + regexp.QuoteMeta(both) + "$")
	return []Pattern{
		{again, fmt.Sprintf("%s；%s 在 %s 又取得了它：两者都以为自己持有锁", chinese, fmt.Sprintf("${%d}", n+1),
			fmt.Sprintf("${%d}", n+2))},
		{regexp.MustCompile("^" + english + regexp.QuoteMeta(both) + "$"), chinese + "：两者都以为自己持有锁"},
		{regexp.MustCompile("^" + english + "$"), chinese},
	}
}
