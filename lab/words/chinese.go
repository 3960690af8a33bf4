package words

// texts has the texts of lab/picture and lab/verdict in Chinese, by the English ones.
func texts() map[string]string {
	return map[string]string{
		// The titles of a picture.
		"Two clients held one lock at the same time":               "两个客户端同时持有一把锁",
		"The operations on a lock have no legal order":             "一把锁上的操作怎样排序都不合法",
		"The log is incomplete":                                    "日志不完整",
		"Whether the locks were safe is undecided":                 "锁是否安全，无法判定",
		"Not every watched key is a lock that can be judged":       "有的键不是能判定的锁",
		"Nobody took a lock":                                       "没有人加过锁",
		"The locks were safe":                                      "锁是安全的",
		"Nobody can ever take %s again":                            "再也没有人能拿到 %s",
		"A client waits for %s for ever":                           "有个客户端永远在等 %s",
		"The program does not end":                                 "程序不会结束",
		"The check after the run fails":                            "运行之后的检查没有通过",
		"%s stays taken until its lease ends, and nobody holds it": "%s 一直被占着，直到租约到期，其间没有人持有它",
		"TWO HOLDERS of %s":                                        "两个持有者：%s",
		"NOT LINEARIZABLE: %s":                                     "不可线性化：%s",
		"UNDECIDED: %s":                                            "无法判定：%s",
		"One holder at a time: %s":                                 "任何时刻都只有一个持有者：%s",
		"Why: %s.":                                                 "原因：%s。",
		"Undecided, because %s.":                                   "为什么无法判定：%s。",
		"%s, %s, %s, %s. Left to right: the order of the events.":  "%s，%s，%s，%s。从左到右是事件的顺序。",
		" Times are those of each master's clock; 0 s is %d.":      "时间取自各个主节点自己的时钟，0 秒是 %d。",
		"The log had dropped the first %d entries.":                "日志丢弃了最早的 %d 条记录。",
		"Only the events %d to %d of %d are drawn.":                "只画出第 %d 到第 %d 个事件，共 %d 个。",
		"%s more are not drawn.":                                   "还有 %s没有画出。",
		"%d masters":                                               "%d 个主节点", "%d entries": "%d 条记录",
		"%d locks": "%d 把锁", "%d grants": "加锁成功 %d 次",

		// The rows and the bars.
		"majority": "多数派", "master %d": "主节点 %d", "server": "服务器", "client %d": "客户端 %d",
		"node %s": "节点 %s", "promoted": "升为主节点", "replica of %s": "成为 %s 的从节点", "all keys from %s": "从 %s 得到全部键",
		"follows %s": "跟随 %s", "link late by %s": "链路延迟 %s", "link held": "链路停住", "link released": "链路放行",
		"link down": "链路断开", "link up": "链路连上", "another server": "另一台服务器", "lost in a failover": "在故障切换中丢失",
		"another role, or its link": "角色变化，或者链路变化",
		"%d of %d masters":          "%[2]d 个主节点里的 %[1]d 个", "%s s": "%s 秒", "no TTL": "没有过期时间",
		"%s held the lock on %s, and could believe in it until %s.": "%s 持有%s的锁，到 %s 为止可以认为自己持有它。",
		"%s took the lock at %s (lease %s): %s.":                    "%s 在 %s 加锁（租约 %s）：%s。",
		" The client believes in it until %s.":                      "到 %s 为止，客户端都认为自己持有它。",
		" Another client held the lock at the same time.":           "同一时间，另一个客户端也持有这把锁。",
		"the end of the history":                                    "记录结束",
		"%d more sentences are left out.":                           "还有 %d 句没有列出。",
		"%s: %s":                                                    "%s：%s",

		// How a lease ended.
		"not over": "还没有结束", "released": "已释放", "ended by the clock": "到期", "overwritten": "被覆盖",
		"taken away by another client": "被另一个客户端夺走", "lost with all keys": "和所有键一起丢失",
		"deleted, by whom is unclear": "被删除，不知道是谁删的",

		// The marks.
		"clock %s": "时钟 %s", "restart": "重启", "crash": "崩溃", "restored": "恢复", "expired": "到期",
		"%s held": "%s 被扣住", "%s reply late": "%s 回复迟到", "message late": "消息迟到", "%s reply lost": "%s 回复丢失",
		"message lost": "消息丢失", "%s dropped": "%s 被丢弃", "%s error": "%s 出错",

		// The legend.
		"command": "命令", "refused": "被拒绝", "released by its holder": "持有者自己释放", "lease ended": "租约到期",
		"held back": "被扣住", "reply or message lost": "回复或消息丢失", "dropped, or error": "被丢弃，或者出错",
		"clock moved": "时钟被拨动", "keys lost or replaced": "键丢失，或者被替换",
		"lease on the server":                       "服务器上的租约",
		"ended there, and the client does not know": "服务器上已经结束，客户端不知道",
		"two clients hold the lock":                 "两个客户端同时持有锁",

		// The log, as a pointer shows it.
		"demoted": "降为从节点", "synced": "已同步", "link": "链路", "full": "全量", "partial": "部分",
		"clock": "时钟", "restore": "恢复", "keys kept": "键都还在", "keys on disk": "只剩磁盘上的", "disk": "磁盘",
		"it was never on disk": "没有写到过磁盘", "only an older value was on disk": "磁盘上只有更旧的值",
		"only another expiry was on disk": "磁盘上只有另一个过期时间", "it is back: its deletion was never on disk": "它回来了：删除没有写到磁盘",
		"executed": "已执行", "error": "出错", "not executed": "未执行", "reply lost": "回复丢失", "reply late": "回复迟到",
		"reply cut": "回复被截断", "held": "被扣住", "delayed": "被推迟", "push skipped": "消息丢失", "push late": "消息迟到",

		// The order of the operations.
		"acquire %s: refused": "加锁 %s：被拒绝", "acquire %s by %s": "%[2]s 加锁 %[1]s",
		"release %s by %s": "%[2]s 释放 %[1]s", "lease over %s by %s": "%[2]s 在 %[1]s 上的租约到期",
		"client %s": "客户端 %s", "free": "空闲", "held by %s": "持有者：%s", " and ": " 和 ",
		"clock moved by %d ms": "时钟拨动 %d 毫秒", "lost its keys": "键全部丢失",
		"keys replaced by LAB SNAPSHOT RESTORE": "LAB SNAPSHOT RESTORE 替换了所有键", "expired %s": "%s 到期",
	}
}

// Reasons has the sentences of lab/doctor, lab/holders and lab/verdict that say why a lock is broken, or why that is
// undecided.
// They are in Chinese, by the English ones.
func Reasons() map[string]string {
	return map[string]string{
		"a majority of the masters granted the lock to a second client before the first client's lease was over: " +
			"both clients believe that they hold it": "第一个客户端的租约还没有到期，多数派的主节点就把锁给了第二个客户端：两个客户端都以为自己持有锁",
		"a command of another client took the lock from its first holder, and a second client got it: " +
			"both believe that they hold it": "别的客户端的一条命令夺走了第一个持有者的锁，第二个客户端又拿到了它：两者都以为自己持有锁",
		"the server lost the lock before the first holder's lease was over, and granted it again: " +
			"both clients believe that they hold it": "第一个持有者的租约还没有到期，服务器就丢了锁，又把它给了别人：两个客户端都以为自己持有锁",
		"two clients use one token, so the release by one of them removed the lock of the other, " +
			"and a third client got it: " +
			"two clients believe that they hold it": "两个客户端用同一个令牌，一方的释放删掉了另一方的锁，第三个客户端又拿到了它：有两个客户端都以为自己持有锁",
		"a client whose hold was over renewed the lock of another client: " +
			"both believe that they hold it": "一个客户端的持有已经结束，却给别人的锁续了期：两者都以为自己持有锁",
		"the server granted the lock to a second client before the first client's lease was over: " +
			"both clients believe that they hold it": "第一个客户端的租约还没有到期，服务器就把锁给了第二个客户端：两个客户端都以为自己持有锁",
		"the server evicted the lock of the first holder, and granted it again: " +
			"both clients believe that they hold it": "服务器淘汰了第一个持有者的锁，又把它给了别人：两个客户端都以为自己持有锁",
		"no order of the operations makes each of them legal": "这些操作怎样排序都不合法",
		"too many operations were open at once to try all their orders. A lost " +
			"reply leaves one open": "同时未完成的操作太多，无法试遍所有顺序。丢失的回复会让一个操作一直未完成",
		"the log shortens a command of more than 32 words, so it does not show " +
			"all its keys": "日志会截短超过 32 个词的命令，所以看不到它的全部键",
		"a server of this lock has no history here, and may have granted the lock, " +
			"too": "这里没有这把锁的某台服务器的日志，它可能也授予过这把锁",
		"a server of this lock was a replica of a server outside of the process, which may have granted the lock, " +
			"too": "这把锁的某台服务器做过进程之外的服务器的从节点，对方可能也授予过这把锁",
		"several masters of a cluster had the lock, and these logs do not show how it " +
			"moved": "集群里有几个主节点先后有过这把锁，而这些日志没有显示它是怎么搬的",
		"a server of this lock has been a replica, and a proxy does not see which grants of its master it had " +
			"then": "这把锁的某台服务器做过从节点，代理看不到它当时有主节点授予的哪些锁",
		"the hash still had an older count of its holder: " +
			"its client may believe that this release has given the lock up": "哈希里还有持有者以前的计数：它的客户端可能以为这次释放已经交出了锁",
		"its holder took the lock at another node, too: it may believe in that lease alone": "持有者在另一个节点上也取得了这把锁：它可能只相信那一个租约",
		"the holder had entered the re-entrant lock again, and that was never replicated: " +
			"it may believe that it still holds the lock": "持有者又进入了一次可重入锁，而这一次没有复制过去：它可能以为自己仍然持有锁",
		"clients found the key absent and set it without NX: if they believe that they hold a lock now, " +
			"nothing keeps two of them apart": "客户端发现键不存在，就不带 NX 写入它：如果它们以为自己加了锁，那么没有什么能阻止两个客户端同时这样做",

		// Whether two grants have one holder.
		"clients with one name took the lock with one token, the second before the first gave it up: " +
			"that may be one client, or two": "名字相同的客户端用同一个令牌加锁，第一次还没有释放，第二次就成功了：这可能是一个客户端，也可能是两个",
		"one connection took the lock with one token, twice before it gave it up: " +
			"that may be one client, or two clients that share " +
			"the connection": "一个连接用同一个令牌加锁，还没有释放又加了一次：这可能是一个客户端，也可能是共用连接的两个客户端",
		"several clients write their own field into the hash of the lock: it " +
			"may have several holders by design": "多个客户端各自往锁的哈希里写自己的字段：这把锁可能本来就允许多个持有者",
		"a field of the lock's hash has a lease of its own, or is deleted by a command for such fields: " +
			"it may have several holders, and the key does not " +
			"tell until when": "锁的哈希里有个字段带着自己的租约，或者被针对这种字段的命令删除：锁可能有多个持有者，从键上看不出各自到什么时候",
		"the log does not show how much time passed between the events of two nodes: " +
			"the lease may have been over": "从日志里看不出两个节点的事件之间过了多久：租约可能已经到期",
		"connections without names use one token on several masters: that may " +
			"be one client, or several": "几个没有名字的连接在多个主节点上用同一个令牌：这可能是一个客户端，也可能是几个",
		"the votes of the masters came so slowly that it matters whether the client looked at its clock: " +
			"the log does not show that": "各主节点的票来得太慢，客户端有没有看自己的时钟就成了关键，而日志里看不出来",
		"a renewal reached less than a majority of the masters: " +
			"its client may have stopped, or gone on": "续期没有达到多数主节点：客户端可能停了下来，也可能继续工作",

		// What a command did to the lock.
		"the command carries no token that is unique, and several holders of the lock use its connection " +
			"or the name of its client: it may come from each of them": "命令里没有独一无二的令牌，而锁的几个持有者都用过它的连接或者客户端名：它可能来自其中任何一个",
		"the command carries no token that is unique, and comes from another connection than the grant: " +
			"that may be a pool of one client, or another client": "命令里没有独一无二的令牌，又来自加锁以外的连接：这可能是同一个客户端的连接池，也可能是另一个客户端",
		"the connection that took the lock has another name now: that may be another client": "加锁的连接现在换了名字：这可能已经是另一个客户端",
		"the script reads the lock, and its arguments do not have the holder's token: " +
			"the log does not show which owner it looked for": "脚本读了锁，参数里却没有持有者的令牌：从日志里看不出它在找哪个持有者",
		"the reply was lost, so the client may not know what the command did": "回复丢失了，客户端可能不知道这条命令的结果",
		"the server has not executed the release, or not yet: " +
			"its client may believe that it has given the lock up": "服务器没有执行、或者还没有执行这次释放：客户端可能以为自己已经释放了锁",
		"the server refused the release: its client may believe that it has given the lock up": "" +
			"服务器拒绝了这次释放，客户端可能以为自己已经放弃了锁",
		"the client tried for two locks before its WAIT: " +
			"whether it believed in the first one before the reply, the log does not show": "客户端在 WAIT 之前尝试取得两把锁：" +
			"在收到回复之前它是否已经相信自己持有第一把，日志看不出来",
		"the reply to WAIT behind the grant was late: from when on its client believes in the lock, " +
			"the log does not show": "加锁之后的 WAIT 的回复晚到了：客户端从何时起相信自己持有锁，日志看不出来",
		"WAIT behind the grant did not tell of enough replicas: its client must take the lock for not acquired, " +
			"and the log does not show whether it does": "加锁之后的 WAIT 没有说出足够多的从节点：客户端必须当作没有拿到锁，从日志里看不出它是不是这样做的",
		"the command failed, so its client may know that it lost the lock": "命令失败了，客户端可能知道自己已经失去了锁",
		"a command without NX replaced the lock's value: its client may be the holder, or may believe " +
			"that it holds the lock now": "一条不带 NX 的命令替换了锁的值：它的客户端可能就是持有者，也可能以为自己现在持有锁",
		"the key was created in a way that takes no lock as the verdict knows it: " +
			"its client may believe that it holds the lock": "这个键不是用裁决认识的加锁方式建立的：它的客户端可能以为自己持有锁",
		"the holder itself deleted all keys, and may have given the lock up in this way": "持有者自己删除了所有键，它可能就是这样释放锁的",
		"the release before this command found nothing and carried no token: " +
			"it may have come from another worker on the connection": "这条命令之前的那次释放什么也没有找到，也没有带令牌：它可能来自共用这个连接的另一个工作者",
		"the log begins while somebody holds the lock: it does not show who, " +
			"and for how long": "日志开始的时候，锁已经有人持有：看不出是谁，也看不出持有到什么时候",
		"another client changed the count of the re-entrant lock": "别的客户端改动了可重入锁的计数",
	}
}
