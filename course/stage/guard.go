package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/respclient"
)

// judge is the user of the stage's own connection. Its password is new for each stage.
const judge = "judge"

// guestRules are for the user default. Guests have all that clients of Redis ask for, and nothing that changes the
// server or its lab: no LAB, no SHUTDOWN, no CONFIG SET. They may read its configuration, as client libraries do
// when they connect.
const guestRules = "default on nopass ~* &* +@all -@admin -@dangerous -lab " +
	"+client|list +client|unblock +config|get +info +role " +
	"+keys +sort +sort_ro +restore +swapdb +flushall +flushdb"

// guestLimits leave memory and descriptors for the process that judges. They are far more than a lock client needs.
// DEBUG is on so that it is the user's rules that refuse it, which ACL LOG shows.
const guestLimits = " --maxclients 1000 --maxmemory 256mb --maxmemory-clients 256mb --enable-debug-command yes"

// NewForGuests is New for clients that are judged, and that may not touch what judges them.
func NewForGuests(seed uint64, more ...string) (*Stage, error) {
	secret := rand.Text()
	args := strings.Fields("--user " + guestRules + " --user " + judge + " on >" + secret + " +@all" + guestLimits)
	s, err := New(seed, append(args, more...)...)
	if err == nil {
		s.secret = secret
	}
	return s, err
}

// Enter connects the stage to the first master, for Ask. A story does so before its guests come: they may take all
// other connections.
func (s *Stage) Enter() (err error) {
	if s.own, err = respclient.Dial(s.Addrs[0]); err != nil {
		return err
	}
	v, err := s.own.Do("AUTH", judge, s.secret)
	if err == nil && v.Kind == '-' {
		err = errors.New(v.Str)
	}
	return err
}

// Refused returns the commands that guests have sent to any master and may not use, each once: LAB FAULT, SHUTDOWN.
// A crash of a master forgets them.
func (s *Stage) Refused(ctx context.Context) (names []string, err error) {
	for n := range s.Addrs {
		v, err := s.Do(ctx, n+1, "ACL", "LOG", "128") // all that it keeps
		if err != nil {
			return nil, err
		}
		for _, e := range v.Elems {
			name := strings.ToUpper(strings.ReplaceAll(Field(e, "object").Str, "|", " "))
			if Field(e, "reason").Str == "command" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
