// Package config is what redis-server calls its configuration: one table of
// every Redis 7.2 directive, and the Config it reads and writes.
//
// The table (table.go) says for each directive its name and alias, its kind and
// range, its default, whether CONFIG SET may touch it, and whether it does
// something here. Four states exist: implemented; inert, which is accepted,
// answered by CONFIG GET and reported once by Inert; refused, for what a user must
// not believe to have (cluster mode, TLS, replication); and withheld, which a file may
// ask for in vain, as many do (appendonly). files.go names what asks for files in vain.
// The same rows drive the configuration file, the command line, CONFIG GET,
// CONFIG SET and CONFIG REWRITE, so that these cannot disagree.
//
//	args, file, stdin --> Parse --> *Config --> plain fields, read by the server
//	                                  ^   |
//	               Set(pairs, apply) -+   +--> Get, Rewrite, Inert
//
// Hot code reads fields: cfg.MaxClients, cfg.Timeout. A row binds its directive
// to a field by an accessor; an inert directive has no field and keeps its text.
// A field may be assigned directly (the server stores the port it was given);
// CONFIG GET renders from the field.
//
// In a program: start from Default(), assign fields, hand it to server.New.
// In cmd/miniredisd: Parse(os.Args[1:], os.Stdin). For CONFIG SET the server
// calls Set with an apply function, which is called once per changed name after
// all values are stored; when it fails, every old value is put back and applied
// again. Error texts are Redis's, without the leading '-'.
//
// A Config belongs to the goroutine that executes commands once the server runs.
package config

import (
	"maps"
	"math"
	"slices"
)

// RedisVersion is the version of Redis whose behaviour is offered; Version is
// ours.
const (
	RedisVersion = "7.2.6"
	Version      = "0.1.0"
)

// OutputLimit bounds the replies waiting for one class of clients; 0 is no
// bound.
type OutputLimit struct{ Hard, Soft, SoftSeconds int64 }

// Rename is a rename-command line. The server applies it, for it knows the
// commands; Line and Text are for its complaint.
type Rename struct {
	From, To string // To is empty for a command that is to be gone
	Line     int
	Text     string
}

// User is a user line: a name and rules. The server makes users of them, for it
// knows the commands; Line and Text are for its complaint.
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

// Config is the state of every directive; enumerations are their lower-case
// word.
type Config struct {
	// File is the absolute path of the configuration file, "" without one.
	File string

	Bind           []string // a leading "-" marks an address that may be missing
	Port           int      // 0 picks a free one, -1 is no TCP at all
	PortFile       string
	Masters        int    // servers in this process, on ports from Port on
	Trace          string // where the recording goes; "" for none
	UnixSocket     string
	UnixSocketPerm int
	ProtectedMode  bool
	TCPBacklog     int
	TCPKeepAlive   int // seconds
	Timeout        int // seconds, 0 = never
	MaxClients     int
	RequirePass    string
	ACLFile        string // "" for none
	Users          []User // user lines; only without an ACLFile

	ACLLogMaxLen     int    // entries
	ACLPubSubDefault string // allchannels, resetchannels

	Databases        int
	Lab              bool   // LAB commands work: faults and a clock on request
	LabOpen          bool   // Lab may be reached by strangers, without a password
	LabHTTP          string // address of LAB over HTTP, the port filled in; "" for none
	LabHTTPFile      string
	Seed             uint64 // of hashing and chance; 0 has the server choose one
	Hz               int
	IOThreads        int // those that read and write sockets, the one that executes counted
	IOThreadsDoReads bool

	Dir            string // absolute; "" is the directory of the process
	LogLevel       string
	LogFile        string
	PIDFile        string
	Daemonize      bool
	Supervised     string
	AlwaysShowLogo bool

	OOMScoreAdj       string // no, yes (relative to the score at the start), absolute
	OOMScoreAdjValues [3]int // of a master, a replica, a child that saves

	EnableDebugCommand     string // no, yes, local
	EnableProtectedConfigs string // no, yes, local
	Renames                []Rename

	MaxMemory        int64
	MaxMemoryPolicy  string
	MaxMemorySamples int
	MaxMemoryClients int64 // negative: percent of MaxMemory

	MaxMemoryEvictionTenacity int
	LFULogFactor              int
	LFUDecayTime              int

	QueryBufferLimit int64
	OutputLimits     [3]OutputLimit
	ProtoMaxBulkLen  int64

	BusyReplyThreshold      int64 // milliseconds
	SlowlogSlowerThan       int64 // microseconds, -1 = off
	SlowlogMaxLen           int   // entries
	LatencyMonitorThreshold int64 // milliseconds, 0 = off
	LatencyTracking         bool
	LatencyPercentiles      []float64
	NotifyEvents            string // as CONFIG GET renders it: A or letters, then n, K, E, m
	TrackingTableMaxKeys    int
	ShutdownTimeout         int    // seconds
	ShutdownOnSigterm       string // words joined by a space
	ShutdownOnSigint        string

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

	// text holds the value of each inert directive that is not at its default,
	// by primary name.
	text map[string]string
	// noted are the inert directives that Inert has reported.
	noted map[string]bool
}

// Default returns the configuration of a server started without arguments.
func Default() *Config {
	c := &Config{text: map[string]string{}, noted: map[string]bool{}}
	for i := range table {
		if r := &table[i]; r.field != nil {
			c.store(r, r.def)
		}
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

// Inert returns the directives that were given a value without effect since the
// last call, for the log: each is returned once in the life of a Config.
func (c *Config) Inert() []string {
	var names []string
	for i := range table {
		r := &table[i]
		if r.flags&inert != 0 && !c.noted[r.name] && c.given(r) != r.def {
			c.noted[r.name] = true
			names = append(names, r.name)
		}
	}
	return names
}

// Sensitive tells whether the values of a directive must not reach a log.
func Sensitive(name string) bool {
	r, _ := lookup(name)
	return r != nil && r.flags&sensitive != 0
}

const (
	maxInt  = math.MaxInt32
	minInt  = math.MinInt32
	maxUint = math.MaxUint32
	maxLong = math.MaxInt64
)
