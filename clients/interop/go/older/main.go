// Command older plays the scene of shard channels with a go-redis that loses them, for clients/interop/topology. It is
// a module of its own, because redsync asks for a newer one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	cuts     = 8 // after each of them, a subscription that is lost may be at the right node by chance
	patience = 2 * time.Second
)

func main() {
	saw := "ok"
	if err := shard(context.Background(), bufio.NewReader(os.Stdin)); err != nil {
		saw = "error: " + err.Error()
	}
	say(map[string]string{"client": "go-redis " + redis.Version(), "scene": "shard", "saw": saw})
}

func say(line map[string]string) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func shard(ctx context.Context, answers *bufio.Reader) error {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(os.Getenv("ADDRESSES"), ",")})
	sub := client.SSubscribe(ctx, "shard")
	if _, err := sub.Receive(ctx); err != nil {
		return err
	}
	for n := range cuts {
		say(map[string]string{"ask": "cut", "key": "shard"})
		if _, err := answers.ReadString('\n'); err != nil {
			return err
		}
		if err := hear(ctx, client, sub); err != nil {
			return fmt.Errorf("after cut %d: %w", n+1, err)
		}
	}
	return nil
}

// hear publishes until the subscription has a message.
func hear(ctx context.Context, client *redis.ClusterClient, sub *redis.PubSub) error {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if err := client.SPublish(ctx, "shard", "free").Err(); err != nil {
			return err
		}
		got, _ := sub.ReceiveTimeout(ctx, 20*time.Millisecond) // it may have to connect again
		if _, isMessage := got.(*redis.Message); isMessage {
			return nil
		}
	}
	return errors.New("there is no message")
}
