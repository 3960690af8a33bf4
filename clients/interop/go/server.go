package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// env is the environment that the runner passes: clients/interop/README.md describes the interface.
type env struct {
	addr    string   // REDIS_ADDR
	masters []string // REDIS_MASTERS, the first is addr
	binary  string   // REDIS_BINARY: that server's program, for suites that start servers themselves
	only    string   // ONLY
}

func environment() (*env, error) {
	e := &env{addr: os.Getenv("REDIS_ADDR"), binary: os.Getenv("REDIS_BINARY"), only: os.Getenv("ONLY")}
	if e.addr == "" {
		return nil, errors.New("REDIS_ADDR is not set")
	}
	if list := os.Getenv("REDIS_MASTERS"); list != "" {
		e.masters = strings.Split(list, ",")
	}
	return e, nil
}

func (e *env) wants(c cell) bool { return strings.Contains(c.client+"/"+c.scenario, e.only) }

// server is a connection of the scenario itself, to see and change what the client does not show.
type server struct{ conn redis.Conn }

func dial(ctx context.Context, addr string) (*server, error) {
	conn, err := redis.DialContext(ctx, "tcp", addr, redis.DialReadTimeout(5*time.Second),
		redis.DialClientName("interop"))
	if err != nil {
		return nil, err
	}
	return &server{conn}, nil
}

func (s *server) close() { s.conn.Close() }

func (s *server) do(command string, args ...any) error {
	_, err := s.conn.Do(command, args...)
	return err
}

// wantKey fails unless the key exists, or does not exist, as wanted.
func (s *server) wantKey(key string, there bool, when string) error {
	n, err := redis.Int(s.conn.Do("EXISTS", key))
	if err != nil {
		return err
	}
	if (n == 1) != there {
		return fmt.Errorf("%s EXISTS %s is %d", when, key, n)
	}
	return nil
}

// loseScripts empties the script cache, as a restart would.
func (s *server) loseScripts() error { return s.do("SCRIPT", "FLUSH", "SYNC") }

// killOthers closes every connection but this one.
func (s *server) killOthers() error {
	_, err := redis.Int(s.conn.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))
	return err
}

// increment reads, changes and writes a counter, which a lock has to protect. Two at the same time
// lose an update.
func (s *server) increment(key string) error {
	n, err := redis.Int(s.conn.Do("GET", key))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		return err
	}
	return s.do("SET", key, n+1)
}
