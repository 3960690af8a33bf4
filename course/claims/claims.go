package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// Verdict is what the events say about a claim.
type Verdict string

// The verdicts. History means that no experiment can decide, and Redis's own history does.
const (
	False   Verdict = "false"
	True    Verdict = "true"
	Partly  Verdict = "partly"
	History Verdict = "history"
)

// Finding is what an experiment has found out.
type Finding struct {
	Verdict  Verdict        `json:"verdict"`
	Facts    map[string]any `json:"facts"`    // numbers and short texts; the page has a label for each name
	Evidence []int64        `json:"evidence"` // numbers of the events in Recording that decide

	others map[int][]int64 // the same of the acts that Recording does not show, by their index
}

// Result is a Finding and the recording of the story. Its first line is the header.
type Result struct {
	Finding
	Recording []json.RawMessage `json:"recording"`
	Beside    []Beside          `json:"beside,omitempty"`
}

// Beside has the events of another act that decide, and nothing else of it.
type Beside struct {
	Act       string            `json:"act"` // such as "--multiplexer poll", or a word of the story
	Evidence  []int64           `json:"evidence"`
	Recording []json.RawMessage `json:"recording"` // the header, and a line for each event
}

// Claim is a sentence that is often said about Redis, and its experiment.
type Claim struct {
	N    int    `json:"n"`
	Name string `json:"name"`

	acts  []act
	shown int // the act whose recording the page shows
	judge func(acts []*Record) Finding
}

// act is a story on a server of its own.
type act struct {
	name   string   // of an act beside others
	config []string // further words of the command line
	play   func(s *story)
}

// one is a story of one act.
func one(play func(*story), config ...string) []act { return []act{{config: config, play: play}} }

// List returns the claims in order. The page has their sentences under the same numbers.
func List() []Claim {
	masters := []string{"--masters", "5"}
	return []Claim{
		{N: 1, Name: "one queue of commands", acts: one(playTogether), judge: judgeQueue},
		{N: 2, Name: "a queue of events", acts: one(playReady), judge: judgeEvents},
		{N: 3, Name: "MULTI blocks", acts: one(playMulti), judge: judgeMulti},
		{N: 4, Name: "no lock by transactions", acts: one(playWatch), judge: judgeWatch},
		{N: 5, Name: "SET NX EX since 6.0", judge: judgeHistory},
		{N: 6, Name: "threads read, parse and write", judge: judgeThreads, acts: []act{
			{"io-threads-do-reads no", []string{"--io-threads", "3"}, playThreads},
			{"io-threads-do-reads yes", threadsThatRead("3"), playThreads}}},
		{N: 7, Name: "more threads, more speed", judge: judgeLoad, acts: []act{
			{play: playLoad}, {config: threadsThatRead("2"), play: playLoad},
			{config: threadsThatRead("4"), play: playLoad}}, shown: 2},
		{N: 8, Name: "no races", acts: one(playCounter), judge: judgeCounter},
		{N: 9, Name: "SETNX and EXPIRE", acts: one(playExpire), judge: judgeExpire},
		{N: 10, Name: "DEL releases", acts: one(playDelete), judge: judgeDelete},
		{N: 11, Name: "a friendly unlock", acts: one(playUnlock), judge: judgeUnlock},
		{N: 12, Name: "Redlock is safe", judge: judgeRedlock, acts: []act{
			{"crash", masters, playCrash}, {"clock", masters, playJump}, {"pause", masters, playPause}}, shown: 1},
		{N: 13, Name: "the watchdog", acts: one(playWatchdog), judge: judgeWatchdog},
		{N: 14, Name: "scripts are atomic and free", judge: judgeScript,
			acts: one(playScript, "--busy-reply-threshold", "50")},
		{N: 15, Name: "a pipeline is a transaction", acts: one(playPipeline), judge: judgePipeline},
		{N: 16, Name: "epoll looks at every socket", judge: judgeMultiplexers, acts: []act{
			multiplexer("epoll"), multiplexer("poll"), multiplexer("select")}},
		{N: 17, Name: "a wheel walks over all timers", acts: one(playWheel), judge: judgeWheel},
		{N: 18, Name: "transactions roll back", acts: one(playErrors), judge: judgeErrors},
		{N: 19, Name: "single-threaded in 8", acts: one(playThreads, threadsThatRead("3")...), judge: judgeEight},
		{N: 20, Name: "a benchmark shows the latency", acts: one(playStall), judge: judgeStall},
		{N: 21, Name: "pipelining and threads", judge: judgeGains, acts: []act{
			{"16 clients", nil, playSixteen}, {"pipeline 16", nil, playOnePacket},
			{"16 clients, io-threads 3", threadsThatRead("3"), playSixteen}}, shown: 1},
		{N: 22, Name: "epoll is the fastest", judge: judgeWays, acts: ways()},
		{N: 23, Name: "compare and delete needs a script", judge: judgeCompare, shown: 1, acts: []act{
			playing("redis-7.2", playScriptOnly), playing("redis-8.4", releasing("DELEX", "lock:a", "IFEQ", "token-A")),
			playing("valkey-9.1", releasing("DELIFEQ", "lock:a", "token-A"))}},
		{N: 24, Name: "always loses nothing", judge: judgeAlways, acts: []act{
			onDisk("appendfsync always", "always", playPowerCut), onDisk("appendfsync everysec", "everysec", playPowerCut),
			onDisk("a bit of the file changes", "always", playFlippedBit)}},
		{N: 25, Name: "everysec loses a second", judge: judgeEverySec, shown: 1, acts: []act{
			onDisk("LAB DISK SLOW FSYNC 0", "everysec", playLastSeconds(0, 999)),
			onDisk("LAB DISK SLOW FSYNC 1000", "everysec", playLastSeconds(1000, 1999)),
			onDisk("LAB DISK SLOW FSYNC 3000", "everysec", playLastSeconds(3000, 2999))}},
		{N: 26, Name: "a released lock stays released", judge: judgeBack, acts: []act{
			onDisk("appendfsync everysec", "everysec", playLockBack), onDisk("appendfsync always", "always", playLockBack)}},
		{N: 27, Name: "WAIT makes it safe", judge: judgeWait, acts: []act{
			withReplicas("the master", 1, playWait), withReplicas("the new master", 3, playWait),
			withReplicas("the new master, after WAIT 2", 3, playWaitForAll)}},
		{N: 28, Name: "an old master stops at once", judge: judgeOldMaster, acts: []act{
			oldMaster("the old master", 1), oldMaster("the new master", 2)}},
		{N: 29, Name: "a replica's read is as good", judge: judgeStaleRead, acts: []act{
			withReplicas("the replica", 2, playStaleRead), withReplicas("the master", 1, playStaleRead)}},
	}
}

func threadsThatRead(n string) []string {
	return []string{"--io-threads", n, "--io-threads-do-reads", "yes"}
}

// playing is a story on a server that plays another one.
func playing(dialect string, play func(*story)) act {
	words := []string{"--dialect", dialect}
	return act{strings.Join(words, " "), words, play}
}

func multiplexer(name string) act { return act{name, []string{"--multiplexer", name}, playIdle} }

// theWays are the ways to wait, in the order of the acts of claim 22.
func theWays() []string { return []string{"epoll", "poll", "select", ioUring} }

func ways() (acts []act) {
	for _, name := range theWays() {
		acts = append(acts, act{name, []string{"--multiplexer", name}, playArrivals})
	}
	return acts
}

const ioUring = "io_uring"

// forbidden reports whether the kernel or a container forbids what the act is about.
func (a act) forbidden(err error) bool {
	var errno syscall.Errno
	return a.name == ioUring && errors.As(err, &errno)
}

// Run plays the story of claim n and judges it. Each act has a server of its own, which is gone when Run
// returns.
func Run(ctx context.Context, n int) (*Result, error) {
	for _, c := range List() {
		if c.N == n {
			return c.run(ctx)
		}
	}
	return nil, fmt.Errorf("there is no claim %d", n)
}

// run is Run of a claim. more are further words of the command line, for tests.
func (c Claim) run(ctx context.Context, more ...string) (*Result, error) {
	var records []*Record
	for _, a := range c.acts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := perform(a, more)
		if a.forbidden(err) {
			r, err = &Record{Forbidden: err.Error()}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("claim %d, %s: %w", c.N, c.Name, err)
		}
		records = append(records, r)
	}
	result := &Result{Finding: c.judge(records), Recording: []json.RawMessage{}}
	slices.Sort(result.Evidence)
	result.Evidence = slices.Compact(result.Evidence)
	if len(records) > 0 {
		result.Recording = newest(records[c.shown].Lines)
	}
	for i, r := range records {
		if numbers := result.others[i]; len(numbers) > 0 {
			result.Beside = append(result.Beside, r.beside(c.acts[i].name, numbers))
		}
	}
	return result, nil
}

// beside returns the header and the lines of the numbered events, and of those that name a client.
func (r *Record) beside(act string, numbers []int64) Beside {
	b := Beside{Act: act, Evidence: numbers, Recording: slices.Clone(r.Lines[:1])}
	for i, e := range r.Events {
		if slices.Contains(numbers, e.Seq) || e.is("x") && strings.HasPrefix(e.Text, "CLIENT SETNAME") {
			b.Recording = append(b.Recording, r.Lines[i+1])
		}
	}
	return b
}

// mostLines bounds the recording of a result. A picture of more events helps nobody.
const mostLines = 1000

// newest returns the header and the last lines of a recording.
func newest(lines []json.RawMessage) []json.RawMessage {
	if len(lines) <= mostLines {
		return lines
	}
	return append(slices.Clone(lines[:1]), lines[len(lines)-mostLines+1:]...)
}
