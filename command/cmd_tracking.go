package command

import (
	"bytes"

	"github.com/miniredisd/miniredisd/store"
)

func trackingRows() []Row {
	const flags = NoScript | Loading | Stale
	return []Row{
		{"client|tracking",
			"(status: ON | OFF) [REDIRECT client-id:integer] [PREFIX+ prefix ...] [BCAST] [OPTIN] [OPTOUT] " +
				"[NOLOOP]",
			-3, flags, nil, "connection", "6.0.0",
			"O(1), with prefixes O(N) for N prefixes",
			"Switches invalidation messages for client-side caching on or off.", clientTracking},
		{"client|caching", "(mode: YES | NO)",
			3, flags, nil, "connection", "6.0.0",
			"O(1)",
			"Switches tracking of the next command's keys on or off.", clientCaching},
		{"client|trackinginfo", "",
			2, flags, nil, "connection", "6.2.0",
			"O(1)",
			"Describes how tracking is set up for this connection.", clientTrackingInfo},
		{"client|getredir", "",
			2, flags, nil, "connection", "6.0.0",
			"O(1)",
			"Returns the ID of the client that gets this connection's invalidation messages.", clientGetRedir},
	}
}

const (
	errRedirectTwice  store.Error = "ERR A client can only redirect to a single other client"
	errRedirectNobody store.Error = "ERR The client ID you want redirect to does not exist"
	errPrefixAlone    store.Error = "ERR PREFIX option requires BCAST mode to be enabled"
	errBcastSwitch    store.Error = "ERR You can't switch BCAST mode on/off before disabling tracking for this client, " +
		"and then re-enabling it with a different mode."
	errBcastOpt  store.Error = "ERR OPTIN and OPTOUT are not compatible with BCAST"
	errBothOpts  store.Error = "ERR You can't specify both OPTIN mode and OPTOUT mode"
	errOptSwitch store.Error = "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, " +
		"and then re-enabling it with a different mode."
	errCachingUntold store.Error = "ERR CLIENT CACHING can be called only when the client is in tracking mode " +
		"with OPTIN or OPTOUT mode enabled"
	errCachingNotOptIn store.Error = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
	errCachingNoOptOut store.Error = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
)

// CLIENT TRACKING (ON | OFF) [REDIRECT client-id] ... (networking.c: clientCommand)
func clientTracking(c *Call) error {
	t, prefixes, err := c.trackingOptions(c.Args[3:])
	if err != nil {
		return err
	}
	switch {
	case is(c.Args[2], "on"):
		if err := checkTracking(c.Sess, &t, prefixes); err != nil {
			return err
		}
		c.Ex.Tracking.start(c.Sess, t, prefixes)
	case is(c.Args[2], "off"):
		c.Ex.Tracking.stop(c.Sess)
	default:
		return errSyntax
	}
	c.OK()
	return nil
}

func (c *Call) trackingOptions(args [][]byte) (t Tracker, prefixes [][]byte, err error) {
	for ; len(args) > 0; args = args[1:] {
		switch opt, more := args[0], len(args) > 1; {
		case is(opt, "redirect") && more:
			if t.Redirect != 0 {
				return t, nil, errRedirectTwice
			}
			args = args[1:]
			if t.Redirect, err = parseInt(args[0]); err != nil {
				return t, nil, err
			}
			if c.Ex.Host.FindSession(t.Redirect) == nil {
				return t, nil, errRedirectNobody
			}
		case is(opt, "prefix") && more:
			args = args[1:]
			prefixes = append(prefixes, args[0])
		case is(opt, "bcast"):
			t.Bcast = true
		case is(opt, "optin"):
			t.optIn = true
		case is(opt, "optout"):
			t.optOut = true
		case is(opt, "noloop"):
			t.noLoop = true
		default:
			return t, nil, errSyntax
		}
	}
	return t, prefixes, nil
}

// checkTracking refuses options that conflict with each other, or with those that s has set before.
func checkTracking(s *Session, t *Tracker, prefixes [][]byte) error {
	var old Tracker
	if s.Tracker != nil {
		old = *s.Tracker
	}
	switch {
	case !t.Bcast && len(prefixes) > 0:
		return errPrefixAlone
	case old.On && old.Bcast != t.Bcast:
		return errBcastSwitch
	case t.Bcast && (t.optIn || t.optOut):
		return errBcastOpt
	case t.optIn && t.optOut:
		return errBothOpts
	case t.optIn && old.optOut || t.optOut && old.optIn:
		return errOptSwitch
	}
	return checkPrefixes(old.prefixes, prefixes)
}

// checkPrefixes refuses prefixes that overlap: a key must match at most one, so that the client
// gets one message.
func checkPrefixes(old []string, prefixes [][]byte) error {
	overlap := func(a, b []byte) bool { return bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a) }
	for i, p := range prefixes {
		for _, other := range old {
			if overlap(p, []byte(other)) {
				return errorf("ERR Prefix '%s' overlaps with an existing prefix '%s'. "+
					"Prefixes for a single client must not overlap.", p, other)
			}
		}
		for _, other := range prefixes[i+1:] {
			if overlap(p, other) {
				return errorf("ERR Prefix '%s' overlaps with another provided prefix '%s'. "+
					"Prefixes for a single client must not overlap.", p, other)
			}
		}
	}
	return nil
}

// CLIENT CACHING YES | NO (networking.c: clientCommand)
// The command changes tracking for the next command, or for the whole next transaction.
func clientCaching(c *Call) error {
	if !c.Sess.Tracks() {
		return errCachingUntold
	}
	t := c.Sess.Tracker
	switch {
	case is(c.Args[2], "yes") && !t.optIn:
		return errCachingNotOptIn
	case is(c.Args[2], "no") && !t.optOut:
		return errCachingNoOptOut
	case !is(c.Args[2], "yes") && !is(c.Args[2], "no"):
		return errSyntax
	}
	t.announced = true
	c.OK()
	return nil
}

// CLIENT GETREDIR (networking.c: clientCommand)
func clientGetRedir(c *Call) error {
	c.Int(c.Sess.RedirectsTo())
	return nil
}

// CLIENT TRACKINGINFO (networking.c: clientCommand)
func clientTrackingInfo(c *Call) error {
	t := Tracker{}
	if c.Sess.Tracker != nil {
		t = *c.Sess.Tracker
	}
	c.Map(3)
	c.BulkString("flags")
	m, n := c.Defer(), 0
	for _, flag := range [...]struct {
		set  bool
		name string
	}{
		{!t.On, "off"}, {t.On, "on"}, {t.Bcast, "bcast"},
		{t.optIn, "optin"}, {t.optIn && t.announced, "caching-yes"},
		{t.optOut, "optout"}, {t.optOut && t.announced, "caching-no"},
		{t.noLoop, "noloop"}, {t.Broken, "broken_redirect"},
	} {
		if flag.set {
			c.BulkString(flag.name)
			n++
		}
	}
	c.EndSet(m, n)
	c.BulkString("redirect")
	c.Int(c.Sess.RedirectsTo())
	c.BulkString("prefixes")
	c.Array(len(t.prefixes))
	for _, name := range t.prefixes {
		c.BulkString(name)
	}
	return nil
}
