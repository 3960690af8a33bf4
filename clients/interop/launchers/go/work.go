package main

import (
	"context"
	"errors"

	"github.com/gocraft/work"
	"github.com/gomodule/redigo/redis"
)

type noContext struct{}

// workJobs runs jobs of gocraft/work, which keeps them as Sidekiq does.
func workJobs() error {
	return serving(func(_ context.Context, socket string) error {
		pool := &redis.Pool{Dial: func() (redis.Conn, error) { return redis.Dial("unix", socket) }}
		defer pool.Close()
		done := make(chan string, 10)
		workers := work.NewWorkerPool(noContext{}, 2, "jobs", pool)
		for _, name := range []string{"plain", "scheduled", "unique"} {
			workers.Job(name, func(job *work.Job) error {
				done <- job.Name
				return nil
			})
		}
		client := work.NewEnqueuer("jobs", pool)
		_, plain := client.Enqueue("plain", work.Q{"n": 1})
		_, scheduled := client.EnqueueIn("scheduled", 0, nil)
		_, unique := client.EnqueueUnique("unique", nil)
		if err := errors.Join(plain, scheduled, unique); err != nil {
			return err
		}
		if job, err := client.EnqueueUnique("unique", nil); err != nil || job != nil {
			return errors.Join(err, errors.New("a second unique job was accepted"))
		}
		workers.Start()
		defer workers.Stop()
		return allOf(done, "plain", "scheduled", "unique")
	})
}
