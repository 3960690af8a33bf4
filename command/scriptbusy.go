package command

import "github.com/miniredisd/miniredisd/store"

const errNotBusy store.Error = "NOTBUSY No scripts in execution right now."

func scriptKill(*Call) error { return errNotBusy }
