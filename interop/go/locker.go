package main

import (
	"context"
	"errors"
	"time"
)

// What a library says in its own words, in ours. Anything else it says is a failure: a lock that
// is not got because the server knows no SET must not pass for one that is held.
var (
	errTaken   = errors.New("another one holds the lock")
	errNotHeld = errors.New("we do not hold the lock")
)

// library opens lockers; two of them share nothing, like two processes.
type library struct {
	client string
	open   func(env *env, o opening) (locker, error)
	// renews says that a lock which is held is renewed without being asked.
	renews bool
	// wakes says that a waiter hears of the release and does not poll.
	wakes bool
	// protocols that the client can be told to speak.
	protocols []int
}

// opening is what a scenario asks of a locker.
type opening struct {
	lease    time.Duration // what a lock lasts without being renewed; 0 means longer than any cell
	protocol int           // 2 or 3, or 0 for the client's own choice
}

type locker struct {
	// take waits for the lock until ctx ends, try does not wait. Both say errTaken.
	take, try func(ctx context.Context, name string) (*held, error)
	// key is where the lock of that name is kept on the server.
	key func(name string) string
	// resp is the protocol in use; nil when the client cannot choose.
	resp func(ctx context.Context) (int, error)
	// vanish ends the locker as a crash would: it can neither renew nor release.
	vanish func()
	close  func()
}

type held struct {
	release func(ctx context.Context) error // errNotHeld when it was lost
	extend  func(ctx context.Context) error // nil when the library renews by itself
}
