package command

// stopsWrites reports whether a command with these flags is refused after SaveFailed (server.c:
// writeCommandsDeniedByDiskError).
func (ex *Executor) stopsWrites(flags Flag) bool {
	return flags&Write != 0 && ex.Cfg.StopWritesOnBgsaveError && ex.Cfg.Save != ""
}

// CannotKeep reports whether writes are refused because the disk fails. Those of the master are executed all the same.
func (ex *Executor) CannotKeep() bool {
	return ex.DiskError != nil || ex.SaveFailed && ex.stopsWrites(Write)
}

// pings is the flag Write for PING, which is refused like a command that writes: so a program that watches the server
// hears of it (server.c: processCommand).
func (cmd *Command) pings() Flag {
	if cmd.Name == "ping" {
		return Write
	}
	return 0
}

// misconf is the error for such a command.
func (ex *Executor) misconf() error {
	return errorf("MISCONF %[1]s is configured to save RDB snapshots, but it's currently unable to persist to disk. "+
		"Commands that may modify the data set are disabled, because this instance is configured to report errors during "+
		"writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the %[1]s logs for details "+
		"about the RDB error.", ex.Table.Dialect.Family)
}
