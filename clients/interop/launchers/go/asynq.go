package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

const patience = 20 * time.Second

// asynqTasks runs tasks of Asynq, and waits until each has ended.
func asynqTasks() error {
	return serving(func(_ context.Context, socket string) error {
		at := asynq.RedisClientOpt{Network: "unix", Addr: socket}
		client := asynq.NewClient(at)
		defer client.Close()
		done, failed := make(chan string, 10), false
		server := asynq.NewServer(at, asynq.Config{
			Concurrency:              1,
			LogLevel:                 asynq.FatalLevel,
			TaskCheckInterval:        50 * time.Millisecond,
			DelayedTaskCheckInterval: 50 * time.Millisecond,
			RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
		})
		err := server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
			if t.Type() == "flaky" && !failed {
				failed = true
				return errors.New("the first attempt")
			}
			done <- t.Type()
			return nil
		}))
		if err != nil {
			return err
		}
		defer server.Shutdown()
		for _, t := range []*asynq.Task{
			asynq.NewTask("plain", nil),
			asynq.NewTask("scheduled", nil, asynq.ProcessIn(50*time.Millisecond)),
			asynq.NewTask("flaky", nil, asynq.MaxRetry(1)),
			asynq.NewTask("unique", nil, asynq.Unique(time.Minute), asynq.ProcessIn(time.Hour)),
		} {
			if _, err := client.Enqueue(t); err != nil {
				return fmt.Errorf("%s: %w", t.Type(), err)
			}
		}
		again := asynq.NewTask("unique", nil, asynq.Unique(time.Minute))
		if _, err := client.Enqueue(again); !errors.Is(err, asynq.ErrDuplicateTask) {
			return fmt.Errorf("a second unique task: %v", err)
		}
		return allOf(done, "plain", "scheduled", "flaky")
	})
}

// allOf waits for each of the names, in any order.
func allOf(done <-chan string, names ...string) error {
	missing := map[string]bool{}
	for _, name := range names {
		missing[name] = true
	}
	deadline := time.After(patience)
	for len(missing) > 0 {
		select {
		case name := <-done:
			if !missing[name] {
				return fmt.Errorf("%s ran twice", name)
			}
			delete(missing, name)
		case <-deadline:
			return fmt.Errorf("not done after %v: %v", patience, missing)
		}
	}
	return nil
}
