package command

import (
	"github.com/miniredisd/miniredisd/internal/acl"
	"github.com/miniredisd/miniredisd/pubsub"
	"github.com/miniredisd/miniredisd/store"
)

func pubsubRows() []Row {
	const (
		listen  = PubSub | NoScript | Loading | Stale | WhileSubscribed | AnswersByPush
		inspect = PubSub | Loading | Stale
	)
	return []Row{
		{"subscribe", "channel ...",
			-2, listen, channels(acl.EveryChannel), "pubsub", "2.0.0",
			"O(N) for N channels",
			"Subscribes to channels.", subscribe},
		{"unsubscribe", "[channel:string ...]",
			-1, listen, nil, "pubsub", "2.0.0",
			"O(N) for N channels",
			"Ends subscriptions to channels, or to all of them.", unsubscribe},
		{"psubscribe", "pattern ...",
			-2, listen, channels(acl.EveryPattern), "pubsub", "2.0.0",
			"O(N) for N patterns",
			"Subscribes to all channels that match a pattern.", psubscribe},
		{"punsubscribe", "[pattern ...]",
			-1, listen, nil, "pubsub", "2.0.0",
			"O(N) for N patterns",
			"Ends subscriptions to patterns, or to all of them.", punsubscribe},
		{"ssubscribe", "shardchannel ...",
			-2, listen, channels(acl.EveryChannel, span(1, -1, 1, NotKey)), "pubsub", "7.0.0",
			"O(N) for N channels",
			"Subscribes to shard channels.", ssubscribe},
		{"sunsubscribe", "[shardchannel:string ...]",
			-1, listen, keys(span(1, -1, 1, NotKey)), "pubsub", "7.0.0",
			"O(N) for N channels",
			"Ends subscriptions to shard channels, or to all of them.", sunsubscribe},
		{"publish", "channel:string message:string",
			3, inspect | Fast | MayReplicate, channels(acl.FirstChannel), "pubsub", "2.0.0",
			"O(N+M) for N subscribers and M patterns of all clients",
			"Sends a message to the subscribers of a channel.", publish},
		{"spublish", "shardchannel:string message:string",
			3, inspect | Fast | MayReplicate, channels(acl.FirstChannel, at(1, NotKey)), "pubsub", "7.0.0",
			"O(N) for N subscribers",
			"Sends a message to the subscribers of a shard channel.", spublish},
		{"pubsub", "",
			-2, 0, nil, "pubsub", "2.8.0",
			"See the subcommands.",
			"Reports channels, patterns and their subscribers.", nil},
		{"pubsub|channels", "[pattern]",
			-2, inspect, nil, "pubsub", "2.8.0",
			"O(N) for all N channels",
			"Lists the channels that have subscribers.", pubsubChannels},
		{"pubsub|numpat", "",
			2, inspect, nil, "pubsub", "2.8.0",
			"O(1)",
			"Counts the patterns that have subscribers.", pubsubNumPat},
		{"pubsub|numsub", "[channel:string ...]",
			-2, inspect, nil, "pubsub", "2.8.0",
			"O(N) for N channels",
			"Counts the subscribers of channels.", pubsubNumSub},
		{"pubsub|shardchannels", "[pattern]",
			-2, inspect, nil, "pubsub", "7.0.0",
			"O(N) for all N channels",
			"Lists the shard channels that have subscribers.", pubsubShardChannels},
		{"pubsub|shardnumsub", "[shardchannel:string ...]",
			-2, inspect, nil, "pubsub", "7.0.0",
			"O(N) for N channels",
			"Counts the subscribers of shard channels.", pubsubShardNumSub},
		{"pubsub|help", "",
			2, Loading | Stale, nil, "pubsub", "6.2.0",
			"O(1)",
			"Lists the subcommands.", Help},
	}
}

// SUBSCRIBE channel [channel ...] (pubsub.c: subscribeCommand)
func subscribe(c *Call) error { return c.listen(pubsub.Channel, "subscribe") }

// PSUBSCRIBE pattern [pattern ...] (pubsub.c: psubscribeCommand)
func psubscribe(c *Call) error { return c.listen(pubsub.Pattern, "psubscribe") }

// SSUBSCRIBE shardchannel [shardchannel ...] (pubsub.c: ssubscribeCommand)
func ssubscribe(c *Call) error { return c.listen(pubsub.Shard, "ssubscribe") }

// listen subscribes to each name and confirms each with a reply of its own.
func (c *Call) listen(kind pubsub.Kind, event string) error {
	for _, name := range c.Args[1:] {
		c.Ex.Subs.Subscribe(kind, c.Sess, name)
		c.confirm(kind, event, name)
	}
	c.Sess.Subscriber = true
	return nil
}

// UNSUBSCRIBE [channel ...] (pubsub.c: unsubscribeCommand)
func unsubscribe(c *Call) error { return c.unlisten(pubsub.Channel, "unsubscribe") }

// PUNSUBSCRIBE [pattern ...] (pubsub.c: punsubscribeCommand)
func punsubscribe(c *Call) error { return c.unlisten(pubsub.Pattern, "punsubscribe") }

// SUNSUBSCRIBE [shardchannel ...] (pubsub.c: sunsubscribeCommand)
func sunsubscribe(c *Call) error { return c.unlisten(pubsub.Shard, "sunsubscribe") }

func (c *Call) unlisten(kind pubsub.Kind, event string) error {
	names := c.Args[1:]
	if len(names) == 0 {
		for _, name := range c.Ex.Subs.Names(kind, c.Sess) {
			names = append(names, []byte(name))
		}
	}
	for _, name := range names {
		c.Ex.Subs.Unsubscribe(kind, c.Sess, name)
		c.confirm(kind, event, name)
	}
	if len(names) == 0 {
		c.confirm(kind, event, nil)
	}
	c.Sess.Subscriber = c.Ex.Subs.Listens(c.Sess)
	return nil
}

// confirm replies with a name and the number of subscriptions left. Channels and patterns are
// counted together, shard channels on their own.
func (c *Call) confirm(kind pubsub.Kind, event string, name []byte) {
	subs := c.Ex.Subs
	n := subs.Count(pubsub.Shard, c.Sess)
	if kind != pubsub.Shard {
		n = subs.Count(pubsub.Channel, c.Sess) + subs.Count(pubsub.Pattern, c.Sess)
	}
	c.Push(3)
	c.BulkString(event)
	if name == nil {
		c.Null()
	} else {
		c.Bulk(name)
	}
	c.Int(int64(n))
}

// PUBLISH channel message (pubsub.c: publishCommand)
func publish(c *Call) error {
	c.Int(int64(c.Ex.messages.publish(c.Args[1], c.Args[2])))
	c.spreadMessage(pubsub.Channel)
	return nil
}

// Publish sends a message that no command asks for.
func (ex *Executor) Publish(channel, message string) {
	ex.messages.publish([]byte(channel), []byte(message))
}

// SPUBLISH shardchannel message (pubsub.c: spublishCommand)
func spublish(c *Call) error {
	c.Int(int64(c.Ex.messages.publishTo(pubsub.Shard, "smessage", c.Args[1], c.Args[2])))
	c.spreadMessage(pubsub.Shard)
	return nil
}

// spreadMessage gives a message to other nodes of the cluster, or else to replicas (pubsub.c:
// pubsubPublishMessageAndPropagateToCluster).
func (c *Call) spreadMessage(kind pubsub.Kind) {
	if cl := c.Ex.Cluster; cl != nil {
		cl.Publish(kind, c.Args[1], c.Args[2])
		return
	}
	c.propagateMessage()
}

// PUBSUB CHANNELS [pattern] (pubsub.c: pubsubCommand)
func pubsubChannels(c *Call) error { return c.topics(pubsub.Channel) }

// PUBSUB SHARDCHANNELS [pattern] (pubsub.c: pubsubCommand)
func pubsubShardChannels(c *Call) error { return c.topics(pubsub.Shard) }

func (c *Call) topics(kind pubsub.Kind) error {
	if len(c.Args) > 3 {
		return errSubcommandUse(c)
	}
	m, n := c.Defer(), 0
	for _, t := range c.Ex.Subs.Topics(kind) {
		if len(c.Args) == 2 || store.MatchString(c.Args[2], t.Name) {
			c.BulkString(t.Name)
			n++
		}
	}
	c.EndArray(m, n)
	return nil
}

// PUBSUB NUMPAT (pubsub.c: pubsubCommand)
func pubsubNumPat(c *Call) error {
	c.Int(int64(c.Ex.Subs.Len(pubsub.Pattern)))
	return nil
}

// PUBSUB NUMSUB [channel ...] (pubsub.c: pubsubCommand)
func pubsubNumSub(c *Call) error { return c.listeners(pubsub.Channel) }

// PUBSUB SHARDNUMSUB [shardchannel ...] (pubsub.c: pubsubCommand)
func pubsubShardNumSub(c *Call) error { return c.listeners(pubsub.Shard) }

func (c *Call) listeners(kind pubsub.Kind) error {
	names := c.Args[2:]
	c.Array(2 * len(names))
	for _, name := range names {
		c.Bulk(name)
		c.Int(int64(len(c.Ex.Subs.To(kind, name))))
	}
	return nil
}
