package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/stvp/tempredis"
)

// serving calls work with the Unix socket of a server that tempredis starts.
func serving(work func(ctx context.Context, socket string) error) (err error) {
	server, err := tempredis.Start(tempredis.Config{"databases": "8", "save": ""})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Term()) }()
	return work(context.Background(), server.Socket())
}

func startAndUse() error {
	return serving(func(ctx context.Context, socket string) error {
		client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
		defer client.Close()
		if err := client.Set(ctx, "key", "value", 0).Err(); err != nil {
			return err
		}
		if value, err := client.Get(ctx, "key").Result(); err != nil || value != "value" {
			return fmt.Errorf("GET key is %q, %v", value, err)
		}
		config, err := client.ConfigGet(ctx, "databases").Result()
		if err == nil && config["databases"] != "8" {
			err = fmt.Errorf("CONFIG GET databases is %v", config)
		}
		return err
	})
}
