// Command launchers prints a row for each launcher and application in Go: see ../main.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

// A row is a line of the table. work does what detail says.
type row struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`

	module string
	work   func() error
}

func rows() []row {
	return []row{
		{Kind: "launcher", Name: "tempredis", module: "github.com/stvp/tempredis", work: startAndUse,
			Detail: "`tempredis.Start`: configures it on standard input, uses its Unix socket, ends it"},
		{Kind: "application", Name: "asynq", module: "github.com/hibiken/asynq", work: asynqTasks,
			Detail: "a task, a scheduled task, a task that fails once, a unique task"},
		{Kind: "application", Name: "gocraft/work", module: "github.com/gocraft/work", work: workJobs,
			Detail: "a job, a scheduled job, a unique job, as in Sidekiq"},
	}
}

func main() {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version[1:]
		}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, r := range rows() {
		r.Version, r.OK = versions[r.module], true
		if err := r.work(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", r.Name, err)
			r.OK, r.Detail = false, err.Error()
		}
		if err := out.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
