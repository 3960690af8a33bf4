// Package config holds Redis 7.2's configuration: one table with every directive, and the Config that
// the directives read and write.
//
//	command line, file, stdin ──> Parse ──> *Config ──> plain fields, which the server reads
//	                                         ^   │
//	              CONFIG SET: Set(pairs) ────┘   └──> Get, Rewrite, Inert
//
// A row of the table (rows.go) has a directive's name and alias, kind, flags, default, range, and field.
// Parse, CONFIG GET, CONFIG SET and CONFIG REWRITE all use the same rows, so they agree.
//
// A directive is in one of four states:
//
//   - implemented: it has an effect.
//   - inert: a file and CONFIG SET may set it, and CONFIG GET shows the value. It has no effect, which
//     [Config.Inert] reports once for the log.
//   - refused: any value but the default is an error. Otherwise users would rely on a feature that does
//     not exist, such as modules.
//   - withheld: CONFIG SET refuses it. A file may set it without effect, because many files do
//     (activedefrag).
//
// files.go finds an append only file that nobody loads, because appendonly is off.
//
// The server reads fields: cfg.MaxClients, cfg.Timeout. A row finds its field by a function. An inert
// directive has no field; the Config keeps its text. A program may assign a field directly, and CONFIG
// GET then shows the new value.
//
// A Go program starts from [Default], assigns fields and passes the Config to server.New.
// cmd/miniredisd calls [Parse]. Error texts are Redis's, without the leading '-'.
//
// What Redis does differently: each kind of directive has its own functions in a table of C structs
// (config.c: standardConfig), and the values are fields of the global server.
//
// A Config has no lock. Once the server runs, it belongs to the goroutine that executes commands.
package config

import (
	"crypto/tls"
	"maps"
	"math"
	"slices"
)

// RedisVersion is the version of Redis that the server behaves like.
const RedisVersion = "7.2.6"

// OutputLimit bounds the output that waits for each client of a class, in bytes and seconds. 0 means no
// bound.
type OutputLimit struct{ Hard, Soft, SoftSeconds int64 }

// Rename is a rename-command line. The server applies it, because it knows the commands. Line and Text
// are for its error message.
type Rename struct {
	From, To string // an empty To removes the command
	Line     int
	Text     string
}

// User is a user line: a name and rules. The server makes the user, because it knows the commands. Line
// and Text are for its error message.
type User struct {
	Name  string
	Rules []string
	Line  int
	Text  string
}

// The classes of client-output-buffer-limit, indexes of Config.OutputLimits.
const (
	ClassNormal = iota
	ClassReplica
	ClassPubSub
)

// Config has the value of every directive. An enumeration is its lower-case word.
type Config struct {
	// File is the absolute path of the configuration file, "" without one.
	File string

	Bind           []string // a leading "-" marks an address that the machine may lack
	Port           int      // 0 chooses a free port, -1 means no TCP
	PortFile       string
	Masters        int    // the number of masters in this process, on the ports from Port on
	Replicas       int    // the number of replicas that each of them has in this process, on the ports after theirs
	Cluster        bool   // the masters are one cluster that serves all slots; it implies ClusterEnabled
	Sentinels      int    // the number of Sentinels in this process, on the ports after all others
	SentinelName   string // of the first master, for Sentinels
	Dialect        string // the name of the server that this one plays, or a list for the masters: see package dialect
	Trace          string // the file of the recording; "" means none
	UnixSocket     string
	UnixSocketPerm int
	ProtectedMode  bool
	TCPBacklog     int
	TCPKeepAlive   int // seconds
	Timeout        int // seconds, 0 means never
	MaxClients     int
	RequirePass    string
	ACLFile        string // "" means none
	Users          []User // the user lines; only without an ACLFile

	TLSPort           int    // 0 means no TLS, -1 chooses a free port
	TLSCertFile       string // with the certificates between it and the CA
	TLSKeyFile        string
	TLSCACertFile     string // "" means none; the CAs of clients
	TLSCACertDir      string // the same, every file of a folder
	TLSAuthClients    string // no, yes, optional
	TLSProtocols      string // TLSv1 to TLSv1.3, separated by spaces; "" means TLSv1.2 TLSv1.3
	TLSCiphers        string // for TLSv1.2 and older: names separated by colons; "" means the usual ones
	TLSSessionCaching bool   // clients may resume a session
	RDBDelSyncFiles   bool   // no file of a full synchronization stays
	TLSReplication    bool   // the link to the master is one of TLS
	TLSClientCertFile string // of this server for its master; "" means TLSCertFile
	TLSClientKeyFile  string
	LabTLS            string // a folder for the files of a new CA, which the server uses; "" means none

	// TLS, if set, is used instead of the files. Only a Go program can set it.
	TLS *tls.Config

	// Bubble makes a server live in the bubble of testing/synctest in which it is made. Only a Go program
	// can set it.
	Bubble bool

	ACLLogMaxLen     int    // entries
	ACLPubSubDefault string // allchannels, resetchannels

	Databases        int
	Lab              bool   // the LAB command works
	LabOpen          bool   // other machines may reach the lab without a password
	LabDisk          bool   // the files are on a simulated disk
	LabMaint         bool   // clients may ask for messages of LAB PUSH
	LabHTTP          string // the address of LAB over HTTP, with its port; "" means none
	LabHTTPFile      string
	LabToken         string // that requests over HTTP have to show; "" means none
	Watch            string // the address of the page that shows the loop; "" means none
	Seed             uint64 // for hashing and random choices; with 0 the server chooses a seed
	Hz               int
	Multiplexer      string // how the loop waits
	Exec             string // which goroutine executes: the loop's, or one behind a queue
	IOThreads        int    // the threads that read and write sockets, main included
	IOThreadsDoReads bool

	// SystemFiles says that the data are kept in Dir. Otherwise the files of the server are in its memory, and a Go
	// program that runs one finds nothing new in its folder. cmd/miniredisd sets it.
	SystemFiles     bool
	Dir             string // absolute; "" means the working directory of the process
	DBFilename      string // of the RDB file in Dir; "" means none
	RDBCompression  bool
	RDBChecksum     bool
	RDBKeySaveDelay int // microseconds
	KeyLoadDelay    int // microseconds
	LoadingInterval int // bytes of a file, after which a server that loads it looks after clients

	RDBSaveIncrementalFsync    bool // a file is written to the disk while it grows
	AOFRewriteIncrementalFsync bool // so is a base of the append only file

	AppendOnly        bool   // what changes the data goes to an append only file
	AppendFsync       string // when that is fsynced: always, everysec, no
	AppendFilename    string // what the names of its parts begin with
	AppendDirname     string // their folder, in Dir
	AOFUseRDBPreamble bool   // the base is an RDB file, not commands
	AOFLoadTruncated  bool   // half a command at its end is cut off

	AOFTimestampEnabled      bool  // it has the time of what was appended
	NoAppendFsyncOnRewrite   bool  // nothing is fsynced while keys are saved or the file is written anew
	AOFDisableAutoGC         bool  // parts that are not needed stay
	AutoAOFRewritePercentage int   // growth since the last rewrite that begins one; 0 for none
	AutoAOFRewriteMinSize    int64 // bytes from which on it does

	Save           string // save points: pairs of seconds and changes, separated by spaces; "" means none
	LogLevel       string
	LogFile        string
	PIDFile        string
	Daemonize      bool
	Supervised     string
	AlwaysShowLogo bool

	StopWritesOnBgsaveError bool

	MinReplicas             int   // that a write needs
	MinReplicasMaxLag       int   // seconds
	ReplBacklogSize         int64 // bytes
	ReplBacklogTTL          int   // seconds, 0 means that it stays
	ReplDisableNoDelay      bool
	ReplDisklessSync        bool   // a replica gets the keys through its socket, not from a file
	ReplDisklessDelay       int    // seconds
	ReplDisklessMax         int    // replicas that wait, 0 for no limit
	ReplPingPeriod          int    // seconds
	ReplicaOf               string // the master's host and port, separated by a space; "" for a master
	MasterAuth              string // the password at the master
	MasterUser              string
	ReplDisklessLoad        string // disabled, on-empty-db, swapdb
	ReplTimeout             int    // seconds
	ReplicaAnnounceIP       string // "" for the address of the connection
	ReplicaAnnouncePort     int    // 0 for Port
	ReplicaAnnounced        bool
	ReplicaIgnoreDiskErrors bool // go on although changes of the master are not on the disk
	ReplicaIgnoreMaxMemory  bool
	ReplicaPriority         int
	ReplicaReadOnly         bool
	ReplicaServeStaleData   bool

	OOMScoreAdj       string // no, yes (relative to the score at the start), absolute
	OOMScoreAdjValues [3]int // for a master, a replica, and a child that saves

	EnableDebugCommand     string // no, yes, local
	EnableModuleCommand    string // no, yes, local
	EnableProtectedConfigs string // no, yes, local
	Renames                []Rename

	MaxMemory        int64
	MaxMemoryPolicy  string
	MaxMemorySamples int
	MaxMemoryClients int64 // negative: percent of MaxMemory

	// Redis frees large values in another thread then. Here they choose between DEL and UNLINK in files and for
	// replicas.
	LazyEviction, LazyExpire, LazyServerDel bool
	LazyUserDel, LazyUserFlush              bool // only INFO knows

	MaxMemoryEvictionTenacity int
	LFULogFactor              int
	LFUDecayTime              int

	QueryBufferLimit int64
	OutputLimits     [3]OutputLimit
	ProtoMaxBulkLen  int64

	BusyReplyThreshold int64 // milliseconds
	SlowlogSlowerThan  int64 // microseconds, -1 means off
	SlowlogMaxLen      int   // entries

	// Of Valkey alone: its logs of large requests and replies.
	CommandlogRequestLargerThan  int64 // bytes, -1 means off
	CommandlogLargeRequestMaxLen int   // entries
	CommandlogReplyLargerThan    int64 // bytes, -1 means off
	CommandlogLargeReplyMaxLen   int   // entries

	LatencyMonitorThreshold int64 // milliseconds, 0 means off
	LatencyTracking         bool
	LatencyPercentiles      []float64
	NotifyEvents            string // as CONFIG GET shows it: A or letters, then n, K, E, m
	TrackingTableMaxKeys    int
	ShutdownTimeout         int    // seconds
	ShutdownOnSigterm       string // words separated by spaces
	ShutdownOnSigint        string

	ClusterEnabled           bool
	ClusterNodeTimeout       int    // milliseconds
	ClusterPort              int    // 0 means 10000 above Port; nobody listens there
	ClusterAnnounceIP        string // "" means 127.0.0.1
	ClusterAnnouncePort      int    // 0 means Port, as for the next two
	ClusterAnnounceTLSPort   int
	ClusterAnnounceBusPort   int
	ClusterAnnounceHostname  string
	ClusterEndpointType      string // ip, hostname, unknown-endpoint
	ClusterReplicaNoFailover bool
	ClusterPubSubWhenDown    bool // shard channels are served although slots are not
	ClusterReadsWhenDown     bool
	ClusterReplicaMigration  bool // a master without slots becomes a replica of who has them
	ClusterFullCoverage      bool // nothing is served unless all slots are

	HashMaxListpackEntries int
	HashMaxListpackValue   int
	SetMaxIntsetEntries    int
	SetMaxListpackEntries  int
	SetMaxListpackValue    int
	ZSetMaxListpackEntries int
	ZSetMaxListpackValue   int
	ListMaxListpackSize    int
	ListCompressDepth      int
	StreamNodeMaxBytes     int
	StreamNodeMaxEntries   int
	HLLSparseMaxBytes      int

	// text has the inert directives that differ from their default: name to value.
	text map[string]string
	// noted has the inert directives that Inert has reported.
	noted map[string]bool
}

// Default returns the configuration of a server without arguments.
func Default() *Config {
	c := &Config{text: map[string]string{}, noted: map[string]bool{}}
	for i := range table {
		if r := &table[i]; r.field != nil {
			c.store(r, r.def)
		}
	}
	for _, r := range working() {
		c.store(&r.row, r.def)
	}
	return c
}

// Clone returns a Config that shares nothing with c.
func (c *Config) Clone() *Config {
	d := *c
	d.Bind, d.Users, d.Renames = slices.Clone(c.Bind), slices.Clone(c.Users), slices.Clone(c.Renames)
	d.LatencyPercentiles = slices.Clone(c.LatencyPercentiles)
	d.text, d.noted = maps.Clone(c.text), maps.Clone(c.noted)
	return &d
}

// Inert returns the inert directives that are not at their default, for the log. It returns each
// directive only once in the life of a Config.
func (c *Config) Inert() []string {
	var names []string
	for r := range c.rows() {
		if r.flags&inert != 0 && !c.noted[r.name] && c.given(r) != r.def {
			c.noted[r.name] = true
			names = append(names, r.name)
		}
	}
	return names
}

// Sensitive reports whether the values of a directive must not reach a log.
func Sensitive(name string) bool {
	r, _ := lookup(name)
	return r != nil && r.flags&sensitive != 0
}

// Settled reports whether CONFIG SET must not change a directive while data are loaded.
func Settled(name string) bool {
	r, _ := lookup(name)
	return r != nil && r.flags&settled != 0
}

const (
	maxInt  = math.MaxInt32
	minInt  = math.MinInt32
	maxUint = math.MaxUint32
	maxLong = math.MaxInt64
)
