package proxy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// rewriteOf returns what the reply to a request needs, nil for nothing. name is that of the command in lower case.
func rewriteOf(name []byte, args [][]byte) rewrite {
	switch string(name) {
	case "role":
		return (*renamer).role
	case "info":
		return (*renamer).info
	case "cluster", "sentinel":
		if len(args) > 1 {
			return rewriteOfSub(string(name) + "|" + string(ascii.AppendLower(nil, args[1])))
		}
	}
	return nil
}

func rewriteOfSub(name string) rewrite {
	switch name {
	case "cluster|nodes", "cluster|replicas", "cluster|slaves":
		return (*renamer).nodes
	case "cluster|slots":
		return (*renamer).slots
	case "cluster|shards":
		return (*renamer).fields
	case "sentinel|get-master-addr-by-name":
		return (*renamer).address
	case "sentinel|master", "sentinel|masters", "sentinel|replicas", "sentinel|slaves", "sentinel|sentinels":
		return (*renamer).fields
	case "sentinel|info-cache":
		return (*renamer).info
	}
	return nil
}

// execOf is for an EXEC: each reply in it is that of a command, and may also be an error that names a node.
func execOf(queued []rewrite) rewrite {
	return func(r *renamer, s span) {
		for i, e := range s.elems {
			r.redirect(e)
			if i < len(queued) && queued[i] != nil && e.kind != '-' {
				queued[i](r, e)
			}
		}
	}
}

// topic is what the first word of a message or of a confirmation says.
type topic uint8

const (
	noTopic   topic = iota // an ordinary reply
	confirms               // SUBSCRIBE and its like
	publishes              // a message
)

// topicOf looks at the first word of an array or of a push, of which the end may be missing.
func topicOf(reply []byte, s span) topic {
	if s.kind != '*' && s.kind != '>' || !s.at(0).isText() {
		return noTopic
	}
	switch word := string(reply[s.at(0).text:s.at(0).end]); {
	case word == "message", word == "pmessage", word == "smessage":
		return publishes
	case isSubscription(word):
		return confirms
	}
	return noTopic
}

func isSubscription(name string) bool {
	return slices.Contains([]string{"subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe",
		"sunsubscribe"}, name)
}

// message is for what a Sentinel publishes: its channel is the name of an event, and its text has addresses in it.
// That is: message channel text, or pmessage pattern channel text.
func (r *renamer) message(s span) {
	channel, text := s.at(len(s.elems)-2), s.at(len(s.elems)-1)
	if !channel.isText() || !text.isText() {
		return
	}
	switch name := r.text(channel); {
	case name == "__sentinel__:hello":
		r.set(text, r.hello(r.text(text)))
	case strings.HasPrefix(name, "+"), strings.HasPrefix(name, "-"):
		r.set(text, r.event(name, r.text(text)))
	}
}

// event renames the addresses in the text of an event (sentinel.c: sentinelEvent):
//
//	+switch-master    name host port host port
//	others            type name host port @ master host port ..., or type name host port ... ip host port port
func (r *renamer) event(channel, text string) string {
	words := strings.Split(text, " ")
	if channel == "+switch-master" {
		r.words(words, 1, 2)
		r.words(words, 3, 4)
		return strings.Join(words, " ")
	}
	if !slices.Contains([]string{"master", "slave", "sentinel"}, words[0]) {
		return text
	}
	if words[0] == "slave" && len(words) > 1 { // its name is its address
		words[1], _ = r.joined(words[1])
	}
	r.words(words, 2, 3)
	for i := 4; i < len(words); i++ {
		switch {
		case words[i] == "@":
			r.words(words, i+2, i+3)
		case words[i] == "ip" && i+2 < len(words) && words[i+2] == "port":
			r.words(words, i+1, i+3)
		}
	}
	return strings.Join(words, " ")
}

// hello renames the addresses of the Sentinel and of its master: host,port,id,epoch,name,host,port,epoch.
func (r *renamer) hello(text string) string {
	words := strings.Split(text, ",")
	r.words(words, 0, 1)
	r.words(words, 5, 6)
	return strings.Join(words, ",")
}

// words renames a host and a port among words.
func (r *renamer) words(words []string, host, port int) {
	if port >= len(words) || portIn(words[port]) == 0 {
		return
	}
	name, n := r.at(words[host], portIn(words[port]))
	words[host], words[port] = name, strconv.Itoa(n)
}
