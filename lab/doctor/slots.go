package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/topology"
)

// A cluster runs a command only if all its keys are in one slot. Two mistakes follow:
//
//	EVAL ... 2 lock:order queue:order      CROSSSLOT: nothing runs
//	redis.call('SPUBLISH', 'order:free')   an error in the middle: what the script did before stays
//
// A channel of PUBLISH has no slot, unless the script names it among its keys. A channel of SPUBLISH has one.

// slotAdvice is advice for the mistakes with slots.
func slotAdvice(p Pattern) (why, fix string) {
	if p == ChannelApart {
		return "a script has a lock and the channel of its release among its keys, and they are in different slots: " +
				"a cluster does not run it, so this release does nothing",
			"name the channel in an argument and not in KEYS, because PUBLISH reaches all nodes; " +
				"or give both names the same part in braces: {order}:lock and {order}:free"
	}
	return "the keys of one command are in several slots: a cluster refuses it, and nothing of it runs",
		"give all names the same part in braces, such as {order}:lock and {order}:queue: only that part decides the slot"
}

// stoppedAdvice returns the advice for a script that the cluster has stopped.
func stoppedAdvice(p Pattern) (why, fix string) {
	_, fix = slotAdvice(KeysApart)
	if p == ChannelApart {
		return "a script published to a shard channel in another slot than its lock: the cluster stopped it there, " +
				"so waiters heard nothing, and what the script had done before stays",
			"give both names the same part in braces: {order}:lock and {order}:free; or use PUBLISH, which has no slot"
	}
	return "a script used a key in another slot than the keys that it declares: the cluster stopped it there, " +
		"and what it had done before stays", fix
}

// apart judges a command that a cluster refused because of the slots of its keys.
func (d *Doctor) apart(o op) {
	if !strings.HasPrefix(o.reply.text, "CROSSSLOT ") {
		return
	}
	names, args := o.scriptArgs()
	var s script
	if !o.does.has(runs) {
		names = nil
		for _, k := range o.keys() {
			names = append(names, k.Name)
		}
	} else if known := d.scripts.Get(o.script); known != nil {
		s = *known
	}
	releases := (o.deletes || s.releases()) && slices.ContainsFunc(args, holders.LooksRandom)
	k, is := d.lockOf(o, names)
	if len(names) == 0 || !is && !releases {
		return
	}
	var others []string
	for i, name := range names {
		if !slices.Contains(o.tells, i+1) && !slices.Contains(s.tells, i+1) {
			others = append(others, name)
		}
	}
	p := KeysApart
	if len(others) > 0 && len(others) < len(names) && inOneSlot(others) {
		p = ChannelApart
	}
	d.report(p, k, o, o.step(), slotsOf(o, names))
}

// stopped judges a script in which the cluster refused a command.
func (d *Doctor) stopped(o op, ops []op, keys []string) {
	for _, inner := range ops {
		if !strings.HasPrefix(inner.reply.text, "ERR Script attempted to access") || len(inner.args) < 2 {
			continue
		}
		k, is := d.lockOf(o, keys)
		if !is {
			return
		}
		if topology.Slot(inner.args[1]) == topology.Slot(keys[0]) {
			continue // in the slot of the others, a key may be on its way to another node
		}
		p := KeysApart
		if inner.does.has(publishes) {
			p = ChannelApart
		}
		why, fix := stoppedAdvice(p)
		d.because(why, fix, p, k, o, o.step(), inner.step(), slotsOf(o, append(slices.Clone(keys), inner.args[1])))
		return
	}
}

// lockOf returns the first name that is a lock's, else the first one.
func (d *Doctor) lockOf(o op, names []string) (k holders.Key, is bool) {
	for _, name := range names {
		k := holders.Key{DB: o.db, Name: name}
		if d.grants.Get(k) != nil || d.locks.Get(holders.Class(name)) || holders.SoundsLikeLock(name) {
			return k, true
		}
	}
	if len(names) > 0 {
		k = holders.Key{DB: o.db, Name: names[0]}
	}
	return k, false
}

func inOneSlot(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return topology.Slot(name) != topology.Slot(names[0]) })
}

// slotsOf is a step that says in which slots keys and channels are.
func slotsOf(o op, names []string) holders.Step {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf("%s in slot %d", name, topology.Slot(name)))
	}
	return holders.Step{Time: o.time, Command: strings.Join(all, ", ")}
}

// published returns the keys of a script to which its text publishes: 2 for redis.call('publish', KEYS[2], ...).
func published(text string) (keys []int) {
	for _, after := range strings.Split(strings.ToLower(text), "publish")[1:] {
		after, is := strings.CutPrefix(strings.TrimLeft(after, "'\", \t\n"), "keys[")
		number, _, _ := strings.Cut(after, "]")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); is && err == nil {
			keys = append(keys, n)
		}
	}
	return keys
}
