package lab

import (
	"strconv"

	"github.com/miniredisd/miniredisd/command"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/labverdict"
	"github.com/miniredisd/miniredisd/store"
)

func doctorRows() []command.Row {
	return []command.Row{
		wordsRow("doctor", "[RESET]",
			-2, "O(N) where N is the number of locks and findings",
			"Lists the mistakes of lock clients, or forgets them.",
			labWord{"RESET", 0, 0, command.AllowBusy, (*State).doctorReset},
			labWord{"", 0, 0, command.AllowBusy, (*State).doctorFindings}),
	}
}

func (l *State) doctorReset(c *command.Call, _ [][]byte) error {
	l.doctor.Reset()
	c.OK()
	return nil
}

func (l *State) doctorFindings(c *command.Call, _ [][]byte) error {
	findings := l.doctor.Findings(c.Now)
	labverdict.Findings(c.Writer, findings)
	return nil
}

func (l *State) logFinding(f doctor.Finding) {
	l.Log('#', "Lock doctor: %s, key %q, client id=%d name=%s: %s. Fix: %s. LAB DOCTOR shows the commands.",
		f.Pattern, f.Key, f.Client, f.Name, f.Why, f.Fix)
}

// doctorSees shows the doctor a command that has run, or that was refused. by is "", or the script or EXEC that ran it.
// Requests without a connection are the lab's own, so its callers leave them out, and all that concern no lock.
// lost means that the client does not get the reply.
func (l *State) doctorSees(
	sess *command.Session, cmd *command.Command, args [][]byte, reply []byte, by string, ran, lost bool,
) {
	l.doctor.At(l.effect())
	l.doctor.Command(&doctor.Event{
		Time: l.KS.Now, Mono: l.Ex.Now.Mono, Client: sess.ID, Request: sess.Commands, Name: sess.Name, DB: sess.DB,
		Command: cmd.Name, Args: args, By: by, Reply: reply, Lost: lost, Held: !ran,
		Other: l.findsOther(sess, cmd, args, reply), Real: l.Ex.Clock.Real(l.Ex.Now.Mono) / 1e6, Evicts: l.evicts(),
		Script: l.Ex.Scripts.Ran(cmd),
	})
}

// evicts returns the policy by which keys are evicted, "" if none can be.
func (l *State) evicts() string {
	if l.KS.MaxMemory == 0 || l.KS.Policy.By == store.NoEviction {
		return ""
	}
	return l.Cfg.MaxMemoryPolicy
}

// findsOther reports whether a SET NX or SETNX was refused because the key has a value of another type.
func (l *State) findsOther(sess *command.Session, cmd *command.Command, args [][]byte, reply []byte) bool {
	refused := cmd.Name == "set" && (string(reply) == "$-1\r\n" || string(reply) == "_\r\n") ||
		cmd.Name == "setnx" && string(reply) == ":0\r\n"
	if !refused || len(args) < 2 {
		return false
	}
	key := l.KS.DBs[sess.DB].Lookup(args[1], store.LookupNoEffects)
	return key.Exists() && key.Type() != store.TypeString
}

func (l *State) doctorExpired(db *store.DB, key string) {
	l.doctor.At(l.effect())
	l.doctor.Expired(db.ID, key, l.KS.Now)
}

func (l *State) doctorEvicted(db *store.DB, key string) {
	l.doctor.At(l.effect())
	l.doctor.Evicted(db.ID, key, l.KS.Now)
}

// doctorLost tells the doctor that the keys are gone, or replaced, without a command.
func (l *State) doctorLost() {
	l.doctor.Lost(l.KS.Now)
}

// ShareLedger lets the doctors of several nodes look at their locks as one.
func ShareLedger(nodes []*State) {
	cfg := nodes[0].Cfg
	ledger := doctor.NewLedger(cfg.Masters, holders.KeepOnline)
	if cfg.Replicas > 0 {
		var groups []int
		var names []string
		for i, s := range nodes {
			groups, names = append(groups, cfg.MasterOf(i+1)-1), append(names, strconv.Itoa(s.PeerPort))
		}
		ledger.Replicated(groups, names)
	}
	for i, s := range nodes {
		s.doctor = doctor.New(s.logFinding, ledger, i)
		switch {
		case cfg.Replicas == 0:
		case cfg.MasterOf(i+1) == i+1:
			s.doctor.Leads()
		default:
			s.doctor.Follows()
		}
	}
}
