package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/lab/glass"
	"github.com/miniredisd/miniredisd/lab/glass/glasshttp"
	"github.com/miniredisd/miniredisd/lab/labhttp"
)

// watchFile is the subcommand watch: it serves the page with a recording, until SIGINT or SIGTERM.
func watchFile(args []string, out, errs io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(errs, "usage: miniredisd watch FILE.loop.gz   (LAB RECORD SAVE writes such a file)")
		return exitNoInput
	}
	recording, err := readRecording(args[0])
	if err != nil {
		fmt.Fprintf(errs, "watch: %s: %v\n", args[0], err)
		return exitNoInput
	}
	l, err := labhttp.Access{}.Listen("watch", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".loop.gz")
	s := http.Server{Handler: glasshttp.Player(name, recording), ReadHeaderTimeout: headerLimit}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = s.Close() })
	fmt.Fprintf(out, "The recording is at http://%s/?recording=%s (Ctrl-C ends this)\n", l.Addr(), url.QueryEscape(name))
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(errs, "watch:", err)
		return 1
	}
	return 0
}

// readRecording returns the bytes of a recording. A damaged file is an error.
func readRecording(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	return glass.CheckRecording(f)
}
