package miniredistest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Keys returns the keys that match glob, sorted.
func (s *Server) Keys(glob string) []string {
	s.t.Helper()
	var keys []string
	for _, key := range s.Do("KEYS", glob).Elems {
		keys = append(keys, key.Str)
	}
	slices.Sort(keys)
	return keys
}

// TTL returns the remaining time of a key by the server's clock, or 0 if it has no TTL or does not
// exist.
func (s *Server) TTL(key string) time.Duration {
	s.t.Helper()
	return time.Duration(max(s.Do("PTTL", key).Int, 0)) * time.Millisecond
}

// AssertString fails the test unless key holds the string want.
func (s *Server) AssertString(key, want string) {
	s.t.Helper()
	switch v := s.Do("GET", key); {
	case v.Null:
		s.t.Errorf("%skey %s does not exist, want %q", s.name, key, want)
	case v.Str != want:
		s.t.Errorf("%skey %s is %q, want %q", s.name, key, v.Str, want)
	}
}

// AssertNone fails the test if a key matches glob: a lock that was not released.
func (s *Server) AssertNone(glob string) {
	s.t.Helper()
	if keys := s.Keys(glob); len(keys) > 0 {
		s.t.Errorf("%skeys that match %s are left:\n%s", s.name, glob, s.describe(keys))
	}
}

// AssertAllExpire fails the test if a key that matches glob has no TTL: a lock that nobody could
// take again if its owner died.
func (s *Server) AssertAllExpire(glob string) {
	s.t.Helper()
	forever := slices.DeleteFunc(s.Keys(glob), func(key string) bool { return s.Do("PTTL", key).Int != -1 })
	if len(forever) > 0 {
		s.t.Errorf("%skeys that match %s stay for ever:\n%s", s.name, glob, s.describe(forever))
	}
}

// AssertNone calls AssertNone of every master.
func (m Masters) AssertNone(glob string) {
	for _, s := range m {
		s.t.Helper()
		s.AssertNone(glob)
	}
}

// AssertAllExpire calls AssertAllExpire of every master.
func (m Masters) AssertAllExpire(glob string) {
	for _, s := range m {
		s.t.Helper()
		s.AssertAllExpire(glob)
	}
}

// Dump describes every key of the database in a line.
func (s *Server) Dump() string {
	s.t.Helper()
	return s.describe(s.Keys("*"))
}

func (s *Server) describe(keys []string) string {
	s.t.Helper()
	var b strings.Builder
	for _, key := range keys {
		typ := s.Do("TYPE", key).Str
		if typ == "none" {
			continue // expired a moment ago
		}
		fmt.Fprintf(&b, "%s  %s", key, s.content(key, typ))
		if ttl := s.TTL(key); ttl > 0 {
			fmt.Fprintf(&b, "  ttl %v", ttl)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *Server) content(key, typ string) string {
	s.t.Helper()
	switch typ {
	case "string":
		return s.Do("GET", key).String()
	case "list":
		return typ + " " + s.Do("LRANGE", key, "0", "-1").String()
	case "hash":
		return typ + " " + s.Do("HGETALL", key).String()
	case "set":
		return typ + " " + s.Do("SMEMBERS", key).String()
	case "zset":
		return typ + " " + s.Do("ZRANGE", key, "0", "-1", "WITHSCORES").String()
	}
	return typ + " " + s.Do("XRANGE", key, "-", "+").String()
}
