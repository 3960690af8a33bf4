package miniredis

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// FastForward moves the clock on by whole milliseconds. Keys expire, and blocked clients time out.
func (m *Miniredis) FastForward(duration time.Duration) {
	m.server().Clock().Advance(duration.Truncate(time.Millisecond))
}

// SetTime moves the clock to t. Keys expire if t is later.
func (m *Miniredis) SetTime(t time.Time) { m.server().Clock().Set(t) }

// ClockTTL lets the clock run, or stops it. In a bubble of testing/synctest it runs from the start.
func (m *Miniredis) ClockTTL(enabled bool) {
	m.runs = enabled
	switch {
	case m.srv == nil: // start does it
	case enabled:
		m.server().Clock().Run()
	default:
		m.server().Clock().Freeze()
	}
}

// Seed makes chance repeatable from the next Start on. Without it chance is repeatable as well: the
// seed is 1.
func (m *Miniredis) Seed(seed int) { m.seed = seed }

// SetError makes the server answer every command of a client with an error. "" ends that.
func (m *Miniredis) SetError(msg string) {
	m.message = msg
	if m.srv == nil {
		return
	}
	if m.down != nil {
		m.asked.Add(1)
		m.down.Remove()
		m.down = nil
	}
	if msg != "" {
		m.down = m.server().Fault("SetError").Error(msg)
	}
}

// RequireAuth makes every client send a password. "" ends that.
func (m *Miniredis) RequireAuth(pw string) { m.RequireUserAuth("default", pw) }

// RequireUserAuth makes every client send the name and the password of a user. "" deletes the user.
func (m *Miniredis) RequireUserAuth(username, pw string) {
	if pw == "" {
		delete(m.passwords, username)
	} else {
		m.passwords[username] = pw
	}
	if m.srv != nil {
		m.applyPasswords()
	}
}

// applyPasswords makes the users of the server those of m.
func (m *Miniredis) applyPasswords() {
	for _, user := range stringsOf(m.must("ACL", "USERS")) {
		if user != "default" && m.passwords[user] == "" {
			m.must("ACL", "DELUSER", user)
		}
	}
	if len(m.passwords) == 0 {
		m.must("ACL", "SETUSER", "default", "on", "nopass")
		return
	}
	if m.passwords["default"] == "" {
		m.must("ACL", "SETUSER", "default", "resetpass", "off")
	}
	for user, pw := range m.passwords {
		m.must("ACL", "SETUSER", user, "on", "resetpass", ">"+pw, "~*", "&*", "+@all")
	}
}

// fact returns a number of INFO.
func (m *Miniredis) fact(section, name string) int64 {
	for line := range strings.SplitSeq(m.must("INFO", section).Str, "\r\n") {
		if text, found := strings.CutPrefix(line, name+":"); found {
			n, _ := strconv.ParseInt(text, 10, 64)
			return n
		}
	}
	return 0
}

// CommandCount returns how many commands were executed, without those of this package's methods. It
// includes those of Server.
func (m *Miniredis) CommandCount() int {
	own := m.asked.Load()
	return int(m.fact("stats", "total_commands_processed") - own)
}

// CurrentConnectionCount returns how many clients are connected.
func (m *Miniredis) CurrentConnectionCount() int { return int(m.fact("clients", "connected_clients")) }

// TotalConnectionCount returns how many clients have connected since the start.
func (m *Miniredis) TotalConnectionCount() int {
	return int(m.fact("stats", "total_connections_received"))
}

// IsReadOnlyCommand reports whether a command only reads.
func (m *Miniredis) IsReadOnlyCommand(cmd string) bool {
	infos := m.must("COMMAND", "INFO", cmd).Elems
	return len(infos) == 1 && !infos[0].Null && slices.Contains(stringsOf(infos[0].Elems[2]), "readonly")
}
