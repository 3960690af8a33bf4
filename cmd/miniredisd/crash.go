package main

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/rlog"
)

// crashSignals are the signals for which Redis writes a crash report (debug.c:
// setupDebugSigHandlers). They come from outside. A fault of the program itself is a panic, which
// the server logs.
func crashSignals() []os.Signal {
	return []os.Signal{syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL}
}

// reportCrash logs the stack of every goroutine. Then it ends the process by the same signal.
func reportCrash(log *rlog.Logger, sig syscall.Signal) {
	stacks := make([]byte, 1<<20)
	log.Log('#', "Redis %s crashed by signal: %d", config.RedisVersion, int(sig))
	log.Text("\n------ STACK TRACE ------\n" + string(stacks[:runtime.Stack(stacks, true)]) + "\n")
	signal.Reset(sig)
	_ = syscall.Kill(os.Getpid(), sig)
}
