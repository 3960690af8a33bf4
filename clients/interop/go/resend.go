package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// resendArg is the first argument of this program if it sends single requests for clients/interop/resend.
const resendArg = "resend"

const (
	patience = time.Second // how long a client waits for a reply
	lease    = 30 * time.Second
)

// sender is a client with its defaults, or with the setting after which it sends a request only once.
type sender struct {
	client, setting string
	set             func(addr, key string) (taken bool, err error)
}

// resend sends one SET for each sender and each fault, when clients/interop/resend has prepared the fault: as
// clients/interop/README.md describes.
func resend() error {
	goredis.SetLogger(noLog{})
	addr, orders := os.Getenv("REDIS_ADDR"), bufio.NewScanner(os.Stdin)
	for _, s := range senders() {
		for _, fault := range []string{"lost", "late"} {
			fmt.Println(ask(s, fault, ""))
			if !orders.Scan() {
				return errors.New("nobody said go")
			}
			taken, err := s.set(addr, orders.Text())
			fmt.Println(ask(s, fault, saw(taken, err)))
		}
	}
	return nil
}

// ask is the line before a request, when saw is empty, and after it.
func ask(s sender, fault, saw string) string {
	line, _ := json.Marshal(map[string]string{"client": s.client, "setting": s.setting, "fault": fault, "saw": saw})
	return string(line)
}

func saw(taken bool, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case taken:
		return "OK"
	}
	return "nil"
}

func senders() []sender {
	goRedis, redigo := "go-redis "+version("github.com/redis/go-redis/v9"), "redigo "+version("github.com/gomodule/redigo")
	rueidisName := "rueidis " + version("github.com/redis/rueidis")
	return []sender{
		{goRedis, "", func(addr, key string) (bool, error) { return setByGoRedis(addr, key, 0) }},
		{goRedis, "MaxRetries: -1", func(addr, key string) (bool, error) { return setByGoRedis(addr, key, -1) }},
		{redigo, "", setByRedigo},
		{rueidisName, "", func(addr, key string) (bool, error) { return setByRueidis(addr, key, false) }},
		{rueidisName, "DisableRetry: true", func(addr, key string) (bool, error) { return setByRueidis(addr, key, true) }},
	}
}

func setByGoRedis(addr, key string, retries int) (bool, error) {
	c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: retries, ReadTimeout: patience})
	defer c.Close()
	err := c.SetArgs(context.Background(), key, "token", goredis.SetArgs{Mode: "NX", TTL: lease}).Err()
	if errors.Is(err, goredis.Nil) {
		return false, nil
	}
	return err == nil, err
}

func setByRedigo(addr, key string) (bool, error) {
	pool := &redis.Pool{Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", addr, redis.DialReadTimeout(patience))
	}}
	defer pool.Close()
	c := pool.Get()
	defer c.Close()
	reply, err := c.Do("SET", key, "token", "NX", "PX", lease.Milliseconds())
	return reply != nil, err
}

func setByRueidis(addr, key string, once bool) (bool, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, DisableRetry: once, DisableCache: true, ConnWriteTimeout: patience,
	})
	if err != nil {
		return false, err
	}
	defer c.Close()
	err = c.Do(context.Background(), c.B().Set().Key(key).Value("token").Nx().Px(lease).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	return err == nil, err
}
