package main

import (
	"context"
	"errors"
	"time"
)

// The errors that a library reports as expected results. Any other error is a failure: a lock that
// fails because the server does not know SET must not count as held by another owner.
var (
	errTaken   = errors.New("another one holds the lock")
	errNotHeld = errors.New("we do not hold the lock")
)

// library opens lockers. Two lockers share nothing, like two processes.
type library struct {
	client string
	open   func(env *env, o opening) (locker, error)
	// renews reports whether the library renews a held lock by itself.
	renews bool
	// wakes reports whether a waiter gets a message at the release instead of polling.
	wakes bool
	// protocols are the protocol versions that the client can be set to.
	protocols []int
}

// opening holds the options of a locker.
type opening struct {
	lease    time.Duration // what a lock lasts without being renewed; 0 means longer than any cell
	protocol int           // 2 or 3, or 0 for the client's own choice
}

type locker struct {
	// take waits for the lock until ctx ends. try does not wait. Both return errTaken if another
	// owner holds it.
	take, try func(ctx context.Context, name string) (*held, error)
	// key returns the key of a lock on the server.
	key func(name string) string
	// resp returns the protocol in use. It is nil if the client cannot choose.
	resp func(ctx context.Context) (int, error)
	// vanish ends the locker as a crash would: it neither renews nor releases.
	vanish func()
	close  func()
}

type held struct {
	release func(ctx context.Context) error // errNotHeld when it was lost
	extend  func(ctx context.Context) error // nil when the library renews by itself
}
