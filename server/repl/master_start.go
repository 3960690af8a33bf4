package repl

import (
	"github.com/miniredisd/miniredisd/internal/dialect"
	"github.com/miniredisd/miniredisd/persist/rdb"
	snapshots "github.com/miniredisd/miniredisd/persist/snapshot"
	"github.com/miniredisd/miniredisd/server"
)

// startWaiting begins a snapshot for the replicas that wait, if it is time (replication.c:
// shouldStartChildReplication). While DEBUG RELOAD loads, it would be one of half the keys.
func (r *replicas) startWaiting() {
	waiting, oldest := r.waiting(), r.s.Ex.Now.Mono
	for _, c := range waiting {
		oldest = min(oldest, ReplicaOf(c).asked)
	}
	cfg := r.s.Cfg
	enough := cfg.ReplDisklessMax > 0 && len(waiting) >= cfg.ReplDisklessMax
	late := (r.s.Ex.Now.Mono-oldest)/1e9 >= int64(cfg.ReplDisklessDelay)
	if len(waiting) > 0 && r.sync == nil && r.s.Persist.UnderWay() == nil && !r.s.IsLoading() &&
		(!cfg.ReplDisklessSync || enough || late) {
		r.start()
	}
}

// demand is what a replica wants to get. Replicas with the same demand get the same bytes (server.h: slave_req).
type demand struct {
	older             bool // see needsOlder
	filtered, library bool // rdb-filter-only
}

func (r *replicas) demandOf(c *server.Client) demand {
	return demand{r.needsOlder(c), ReplicaOf(c).filtered, ReplicaOf(c).wantsLibrary}
}

// waiting returns the replicas that wait for a snapshot and demand the same as the first of them. The others go on
// waiting.
func (r *replicas) waiting() (same []*server.Client) {
	for _, c := range r.All {
		if ReplicaOf(c).State == waitsForStart && !c.Closed && (len(same) == 0 || r.demandOf(c) == r.demandOf(same[0])) {
			same = append(same, c)
		}
	}
	return same
}

// start begins a snapshot for replicas that wait (replication.c: startBgsaveForReplication).
func (r *replicas) start() {
	y := &fullSync{offset: r.Stream.Offset}
	waiting := r.waiting()
	wants := r.demandOf(waiting[0])
	streamed, target := r.s.Cfg.ReplDisklessSync, "disk"
	for _, c := range waiting {
		streamed = streamed && ReplicaOf(c).takesEOF
	}
	if streamed || wants.older || wants.filtered {
		target, y.eofMark = "replicas sockets", server.NewRunID()
	}
	r.s.Log('*', "Starting BGSAVE for SYNC with target: %s", target)
	if wants.filtered {
		r.sendFiltered(y, waiting)
		return
	}
	if err := r.beginSnapshot(y, waiting); err != nil {
		r.s.Log('#', "BGSAVE for replication failed")
		for _, c := range waiting {
			r.refuse(c)
		}
		return
	}
	r.sync = y
	for _, c := range waiting {
		r.join(y, c)
	}
	y.joined = true
	if y.ended && !y.isStreamed() { // the file of a lab's disk
		r.fileEnded(y, y.err)
	}
}

// beginSnapshot begins to write the keys.
func (r *replicas) beginSnapshot(y *fullSync, waiting []*server.Client) error {
	p := r.s.Persist
	if !y.isStreamed() {
		r.leftFile = r.s.Cfg.RDBDelSyncFiles
		return p.BeginSave(func(err error) {
			p.SavedInBackground(err)
			r.fileEnded(y, err)
		})
	}
	p.Launch(func(err error) { r.streamEnded(y, err) }, func(wake, ended func()) *snapshots.Snapshot {
		y.snapshot = snapshots.Stream(r.s.KS, r.savingFor(waiting), wake, ended)
		return y.snapshot
	})
	return nil
}

// savingFor returns what a stream has for some replicas that need the same format.
func (r *replicas) savingFor(waiting []*server.Client) *rdb.Saving {
	saving := r.s.Persist.Saving()
	if len(waiting) > 0 && r.needsOlder(waiting[0]) {
		saving.Format, saving.Version = rdb.FormatRedis, r.s.Ex.Table.Dialect.RedisVersion
	}
	return saving
}

// needsOlder reports whether a replica gets a stream in the format of Redis from a server that plays Valkey 9. Redis,
// and Valkey before 9, read no other. A replica that takes no stream (capa eof) gets the file as
// it is.
func (r *replicas) needsOlder(c *server.Client) bool {
	return ReplicaOf(c).takesEOF && r.s.Persist.Format() == rdb.FormatValkey &&
		dialect.Compare(ReplicaOf(c).version, "9.0.0") < 0
}
