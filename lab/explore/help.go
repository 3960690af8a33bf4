package explore

import (
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/holders"
	"github.com/miniredisd/miniredisd/lab/verdict"
	languages "github.com/miniredisd/miniredisd/lab/words"
)

// explain says why a finding happens, and what helps. A mistake that the doctor sees in the history counts only if it
// can do this harm: a program may make several.
func (f *Finding) explain() {
	f.Reason, f.Fix = help(f.Harm)
	all, _ := verdict.Diagnose(f.History) // without a diagnosis, the help of the harm has to do
	for _, pattern := range causes(f.Harm) {
		for _, d := range all {
			if d.Pattern == pattern && holders.Class(d.Key) == holders.Class(f.Lock) {
				f.Mistake, f.Reason, f.Fix = string(d.Pattern), d.Why, d.Fix
				return
			}
		}
	}
}

// causes returns the mistakes that can do a harm, the one that says most first.
func causes(h Harm) []doctor.Pattern {
	switch h {
	case ForEver:
		return []doctor.Pattern{doctor.SetnxExpire, doctor.RenewalDropsTTL, doctor.NoTTL, doctor.OwnerGone}
	case TwoHolders, NoLegalOrder:
		return []doctor.Pattern{doctor.GetDel, doctor.NotOwner, doctor.TokenNotUnique}
	}
	return nil
}

// help returns the reason and the fix of a harm. Those of two holders are the verdict's, and the reason of a check that
// fails is what it says.
func help(h Harm) (reason, fix string) {
	switch h {
	case ForEver:
		return "the key has no TTL, and nobody deletes it: no client can take the lock any more",
			"take the lock and set its TTL in one command: SET key token NX PX milliseconds"
	case NeverWakes:
		return "a client waits for a message that does not come, and its wait has no timeout",
			"give the wait a timeout that is no longer than the TTL of the lock, and try for the lock again after it"
	case NeverEnds:
		return "a reply or a message does not come, and a client waits for it without a timeout",
			"give each reply a timeout (the client's socket timeout), and each wait for a message one as well"
	case CheckFails:
		return "", "take an error or a lost reply for a lock that is not held, and end the work before the lease ends"
	case OtherHarm:
		return "a client took the lock and does not know it, or does not give it up after an error",
			"after an error send the release, too: a script that compares the token does no harm; and choose a short lease"
	}
	return "", ""
}

// title returns the title of a finding's picture, "" if that of the verdict says it.
func (f *Finding) title(in languages.Language) string {
	switch f.Harm {
	case ForEver:
		return in.Say("Nobody can ever take %s again", f.Lock)
	case NeverWakes:
		return in.Say("A client waits for %s for ever", f.Lock)
	case NeverEnds:
		return in.Say("The program does not end")
	case CheckFails:
		return in.Say("The check after the run fails")
	case OtherHarm:
		return in.Say("%s stays taken until its lease ends, and nobody holds it", f.Lock)
	}
	return ""
}
