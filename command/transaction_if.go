package command

import "github.com/miniredisd/miniredisd/store"

// This file decides whether EXEC runs its queue. In Valkey 9.2 EXEC has conditions, which need no WATCH before:
//
//	EXEC IFEQ key value     the string at key equals value
//	EXEC IFNE key value     it differs, or there is none
//	EXEC NX key             the key is missing
//	EXEC XX key             the key exists

const errConditions store.Error = "ERR invalid check condition syntax"

// mayExec reports whether EXEC runs the queue of t. Without an error and without running, it replies with null.
func (c *Call) mayExec(t *Transaction) (runs bool, err error) {
	switch {
	case len(c.Args) > 1 && conditionKeys(c.Args) == nil:
		return false, execAborted(errConditions)
	case t.aborted:
		return false, errExecAbort
	case t.Dirty || t.watchesOverdue(c.KS):
		return false, nil
	}
	for args := c.Args[1:]; len(args) > 0; {
		when, words := nextCondition(args)
		holds, err := when.holds(c.DB.Lookup(args[1], store.LookupNone), args[words-1])
		if err != nil || !holds {
			return false, err
		}
		args = args[words:]
	}
	return true, nil
}

// nextCondition returns the condition at the beginning of args and the number of its words, or noCondition if
// there is none.
func nextCondition(args [][]byte) (when condition, words int) {
	switch {
	case len(args) >= 2 && is(args[0], "nx"):
		return ifMissing, 2
	case len(args) >= 2 && is(args[0], "xx"):
		return ifExists, 2
	case len(args) >= 3 && is(args[0], "ifeq"):
		return ifEq, 3
	case len(args) >= 3 && is(args[0], "ifne"):
		return ifNe, 3
	}
	return noCondition, 0
}

// conditionKeys returns the places of the keys in the conditions of EXEC, or none if a condition is wrong.
func conditionKeys(args [][]byte) (places []int) {
	for i := 1; i < len(args); {
		when, words := nextCondition(args[i:])
		if when == noCondition {
			return nil
		}
		places = append(places, i+1)
		i += words
	}
	return places
}
