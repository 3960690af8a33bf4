//go:build linux

package main

import (
	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/store"
)

// host is the command.Host of the models. They close a client that subscribes, blocks or monitors
// (gone), so a message has nobody to go to.
type host struct{}

func (host) Deliver(*command.Session, []byte)                {}
func (host) Resume(*command.Session, []byte)                 {}
func (host) FindSession(int64) *command.Session              { return nil }
func (host) Describe(*command.Session) string                { return "" }
func (host) Log(byte, string, ...any)                        {}
func (host) Waits(*command.Session)                          {}
func (host) ProcessEventsWhileBlocked() (stop bool)          { return false }
func (host) CloseIfOverLimit(*command.Session) bool          { return false }
func (host) EvictLater()                                     {}
func (host) Flushed()                                        {}
func (host) Transfer(*command.Transfer, func(key int)) error { return errNoTransfer }
func (host) FeedMonitors(*command.Session, [][]byte)         {}

const errNoTransfer store.Error = "ERR MIGRATE is not for models"
