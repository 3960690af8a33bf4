package words

import (
	"regexp"
	"strings"
)

// Pattern translates sentences that have a part of their own.
type Pattern struct {
	English *regexp.Regexp
	Chinese string // $1 is the first part
}

// Patterns has the sentences of lab/doctor about restarts and failovers, which name times and nodes, and those of
// lab/proof.
func Patterns() []Pattern {
	const (
		restart = `a restart made the lock of the first holder end (\d+) ms after its grant: `
		granted = `then it was granted again`
		both    = `: both clients believe that they hold it`
		bothZH  = `：两个客户端都以为自己持有锁`
	)
	var all []Pattern
	add := func(english, chinese string) {
		// AT is a time, and NODE the name of a node.
		english = strings.NewReplacer("AT", `([+-]\S+ s)`, "NODE", `([^,;]+?)`).Replace(english)
		all = append(all, Pattern{regexp.MustCompile("^" + english + both + "$"), chinese + bothZH})
	}
	add(restart+`it was never on disk; `+granted,
		"第一个持有者拿到锁 $1 毫秒后，服务器重启，锁没有写到磁盘上，又被给了别人")
	add(restart+`only an older value was on disk; `+granted,
		"第一个持有者拿到锁 $1 毫秒后，服务器重启，磁盘上只有更旧的值，锁又被给了别人")
	add(restart+`only another expiry was on disk; `+granted,
		"服务器重启后，磁盘上只有另一个过期时间，第一个持有者的锁在拿到后 $1 毫秒就结束了，又被给了别人")

	const by = `granted by NODE at AT`
	add(by+`, never replicated; NODE was promoted at AT and granted it again at AT`,
		"$1 在 $2 给出锁，从来没有复制出去；$3 在 $4 升为主节点，又在 $5 把锁给了别人")
	add(by+`, never replicated; NODE was promoted at AT, and NODE granted it again at AT`,
		"$1 在 $2 给出锁，从来没有复制出去；$3 在 $4 升为主节点，$5 又在 $6 把锁给了别人")
	add(by+`, never replicated; NODE became a replica of NODE at AT, and NODE granted it again at AT`,
		"$1 在 $2 给出锁，从来没有复制出去；$3 在 $5 成为 $4 的从节点，$6 又在 $7 把锁给了别人")
	add(by+`, and a renewal never replicated; NODE was promoted at AT and granted it again at AT`,
		"$1 在 $2 给出锁，后来的续期从来没有复制出去；$3 在 $4 升为主节点，又在 $5 把锁给了别人")
	add(by+`, and a renewal never replicated; NODE was promoted at AT, and NODE granted it again at AT`,
		"$1 在 $2 给出锁，后来的续期从来没有复制出去；$3 在 $4 升为主节点，$5 又在 $6 把锁给了别人")
	add(by+`; NODE is a replica that takes writes, and granted it again at AT`,
		"$1 在 $2 给出锁；$3 是可写的从节点，又在 $4 把锁给了别人")
	add(by+`; NODE did not know that NODE had been promoted at AT, and granted it again at AT`,
		"$1 在 $2 给出锁；$3 不知道 $4 已经在 $5 升为主节点，又在 $6 把锁给了别人")
	add(by+`, which did not know that NODE had been promoted at AT; NODE granted it again at AT`,
		"$1 在 $2 给出锁，它不知道 $3 已经在 $4 升为主节点；$5 又在 $6 把锁给了别人")
	add(by+`; by the clock of NODE the lease was over at AT, and NODE granted it again at AT`,
		"$1 在 $2 给出锁；按 $3 的时钟，租约在 $4 已经到期，$5 又在 $6 把锁给了别人")
	for _, t := range proofs() {
		all = append(all, t.patterns()...)
	}
	return all
}
