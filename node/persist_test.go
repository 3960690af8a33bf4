package node_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/config"
	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/node"
	"github.com/miniredisd/miniredisd/server"
)

// life is a server on the system's files, from its start to its end.
type life struct {
	t       *testing.T
	masters node.Nodes
	addr    string
	ended   chan error
	loaded  chan bool // gets a value from each master

	mu  sync.Mutex
	log strings.Builder
}

func configOf(t *testing.T, dir string, args ...string) *config.Config {
	t.Helper()
	cfg, err := config.Parse(append([]string{"--port", "0", "--bind", "127.0.0.1", "--enable-debug-command", "yes",
		"--enable-protected-configs", "yes", "--dir", dir}, args...), nil)
	require.NoError(t, err)
	cfg.SystemFiles = true
	return cfg
}

// born starts a server that keeps its data in dir, and waits until these are loaded.
func born(t *testing.T, dir string, args ...string) *life {
	t.Helper()
	l := bornLoading(t, dir, args...)
	for range l.masters {
		select {
		case <-l.loaded:
		case err := <-l.ended:
			l.ended <- nil // for kill
			require.NoError(t, err)
		}
	}
	return l
}

func bornLoading(t *testing.T, dir string, args ...string) *life {
	t.Helper()
	l := &life{t: t, ended: make(chan error, 1)}
	var err error
	l.masters, err = node.NewNodes(configOf(t, dir, args...), func(int) server.Log { return l.note })
	require.NoError(t, err)
	l.addr, l.loaded = l.masters.Addrs()[0], make(chan bool, len(l.masters))
	for _, s := range l.masters {
		s.Loaded = func() { l.loaded <- true }
	}
	go func() { l.ended <- l.masters.Run() }()
	t.Cleanup(l.kill)
	return l
}

func (l *life) note(_ byte, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.log, format+"\n", args...)
}

func (l *life) logged() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

func (l *life) dial() *redistest.Conn { return redistest.Dial(l.t, l.addr) }

// kill ends the server without a save.
func (l *life) kill() {
	l.masters.Stop()
	l.wait()
}

func (l *life) wait() {
	err := <-l.ended
	l.ended <- nil
	require.NoError(l.t, err)
}

func filesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

func TestASaveIsThereAfterARestart(t *testing.T) {
	for _, exec := range []string{"inline", "queue"} {
		dir := t.TempDir()
		first := born(t, dir, "--exec", exec)
		c := first.dial()
		started := c.Do("LASTSAVE").Int
		require.Empty(t, filesIn(t, dir))
		storeAll(c, 1, 300)
		c.Do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('one', function() return 1 end)")
		digest := c.Do("DEBUG", "DIGEST").Str
		c.Do("DEBUG", "SET-ACTIVE-EXPIRE", "0")
		c.Do("SET", "soon", "v", "PX", "1")
		require.NotEqual(t, "0", infoField(c, "rdb_changes_since_last_save"))
		require.Equal(t, "OK", c.Do("SAVE").Str)
		require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir))
		require.Equal(t, "0", infoField(c, "rdb_changes_since_last_save"))
		require.Equal(t, "1", infoField(c, "rdb_saves"))
		require.GreaterOrEqual(t, c.Do("LASTSAVE").Int, started)
		require.Equal(t, fmt.Sprint(c.Do("LASTSAVE").Int), infoField(c, "rdb_last_save_time"))
		c.Do("SET", "unsaved", "v")
		first.kill()

		second := born(t, dir, "--exec", exec)
		c = second.dial()
		require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
		require.Equal(t, int64(1), c.Do("FCALL", "one", "0").Int)
		require.Equal(t, "300", infoField(c, "rdb_last_load_keys_loaded"))
		require.Equal(t, "1", infoField(c, "rdb_last_load_keys_expired"))
		require.Contains(t, second.logged(), "Loading RDB produced by version 7.2.6")
		require.Contains(t, second.logged(), "Done loading RDB, keys loaded: 300, keys expired: 1.")
		require.Contains(t, second.logged(), "DB loaded from disk: ")
		second.kill()
	}
}

func TestAServerInAGoProgramLeavesItsFolderAlone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dump.rdb"), []byte("not read"), 0o600))
	c := redistest.Dial(t, start(t, []string{"--enable-debug-command", "yes", "--dir", dir}))
	storeAll(c, 2, 50)
	digest := c.Do("DEBUG", "DIGEST").Str
	require.Equal(t, "OK", c.Do("SAVE").Str)
	require.Equal(t, "OK", c.Do("DEBUG", "RELOAD").Str)
	require.Equal(t, digest, c.Do("DEBUG", "DIGEST").Str)
	text, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	require.NoError(t, err)
	require.Equal(t, "not read", string(text))
	require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir))
}

// SHUTDOWN saves if it is asked to, and with save points unless it is asked not to.
func TestShutdownSavesWhenItHasTo(t *testing.T) {
	for _, end := range []struct {
		points  string
		words   []string
		isSaved bool
	}{
		{"", []string{"SHUTDOWN"}, false},
		{"", []string{"SHUTDOWN", "SAVE"}, true},
		{"", []string{"SHUTDOWN", "SAVE", "NOW"}, true},
		{"3600 1", []string{"SHUTDOWN"}, true},
		{"3600 1", []string{"SHUTDOWN", "NOSAVE"}, false},
	} {
		dir := t.TempDir()
		l := born(t, dir, "--save", end.points)
		c := l.dial()
		c.Do("SET", "k", "v")
		_, err := c.Conn.Do(end.words...)
		require.Error(t, err, "the connection ends without a reply")
		l.wait()
		require.Equal(t, end.isSaved, len(filesIn(t, dir)) == 1, "%v", end)
		require.Equal(t, end.isSaved, strings.Contains(l.logged(), "Saving the final RDB snapshot before exiting."))
	}
}

func TestASignalSavesAsTheConfigurationSays(t *testing.T) {
	for _, end := range []struct {
		args      []string
		interrupt bool
		isSaved   bool
	}{
		{[]string{"--save", ""}, false, false},
		{[]string{"--save", "60", "1"}, false, true},
		{[]string{"--save", "60", "1", "--shutdown-on-sigterm", "nosave"}, false, false},
		{[]string{"--save", "", "--shutdown-on-sigterm", "save"}, false, true},
		{[]string{"--save", "", "--shutdown-on-sigterm", "save"}, true, false},
		{[]string{"--save", "", "--shutdown-on-sigint", "save now"}, true, true},
	} {
		dir := t.TempDir()
		l := born(t, dir, end.args...)
		l.masters.Terminate(end.interrupt)
		l.wait()
		require.Equal(t, end.isSaved, len(filesIn(t, dir)) == 1, "%v", end)
	}
}

// What clients were told before the end is in the file: after the save nothing is executed.
func TestShutdownSaveLosesNothingThatWasAcknowledged(t *testing.T) {
	for round := range 5 {
		dir := t.TempDir()
		l := born(t, dir)
		var writers sync.WaitGroup
		acknowledged := make([]int64, 8)
		for i := range acknowledged {
			c := l.dial()
			writers.Add(1)
			go func() {
				defer writers.Done()
				for {
					reply, err := c.Conn.Do("INCR", fmt.Sprint("counter:", i))
					if err != nil {
						return
					}
					acknowledged[i] = reply.Int
				}
			}()
		}
		c := l.dial()
		redistest.Until(t, func() bool { return c.Do("DBSIZE").Int == 8 })
		_, err := c.Conn.Do("SHUTDOWN", "SAVE")
		require.Error(t, err)
		l.wait()
		writers.Wait()
		c = born(t, dir).dial()
		for i, n := range acknowledged {
			saved, _ := strconv.ParseInt(c.Do("GET", fmt.Sprint("counter:", i)).Str, 10, 64)
			require.GreaterOrEqual(t, saved, n, "round %d", round)
		}
	}
}

func TestAServerThatCannotSaveSaysSoAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, "--save", "60", "1")
	c := l.dial()
	c.Do("SET", "k", "v")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "dump.rdb", "in the way"), 0o700)) // root may write anywhere
	require.Equal(t, "ERR", c.Do("SAVE").Str)
	require.Contains(t, l.logged(), "Error moving temp DB file on the final destination: ")
	require.Equal(t, "1", infoField(c, "rdb_saves"))
	require.Equal(t, "1", infoField(c, "rdb_changes_since_last_save"))
	require.Equal(t, "ERR", c.Do("DEBUG", "RELOAD").Str)
	require.Equal(t, "ERR Errors trying to SHUTDOWN. Check logs.", c.Do("SHUTDOWN").Str)
	require.Contains(t, l.logged(), "Error trying to save the DB, can't exit.")
	l.masters.Terminate(false)
	redistest.Until(t, func() bool {
		return strings.Contains(l.logged(), "SIGTERM received but errors trying to shut down")
	})
	require.Equal(t, "v", c.Do("GET", "k").Str)
	require.Equal(t, []string{"dump.rdb"}, filesIn(t, dir), "no temporary file is left")
	_, err := c.Conn.Do("SHUTDOWN", "FORCE")
	require.Error(t, err)
	l.wait()
	require.Contains(t, l.logged(), "Error trying to save the DB. Exit anyway.")
}

func TestADamagedFileEndsTheStartAndStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "dump.rdb")
	const text = "REDIS0011\x00\x01k\x05v"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	err := startError(t, configOf(t, dir))
	require.EqualError(t, err, "Fatal error loading the DB: "+file+": byte 9: the key 'k', of type 0: "+
		"the file ends too early, or a length is wrong. Nothing was changed. "+
		"Terminating server after rdb file reading failure.")
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, string(kept))

	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file, 0o700))
	require.ErrorContains(t, startError(t, configOf(t, dir)), "not a regular file")
}

func TestTwoServersDoNotKeepTheirDataInOneFolder(t *testing.T) {
	dir := t.TempDir()
	first, second := born(t, dir), born(t, dir) // there is nothing to share yet
	require.Equal(t, "OK", first.dial().Do("SAVE").Str)
	require.Equal(t, "OK", first.dial().Do("SAVE").Str)
	require.Equal(t, "ERR", second.dial().Do("SAVE").Str)
	sentence := "another server keeps its data in " + dir + ": give this one another dir"
	require.Contains(t, second.logged(), sentence)
	require.EqualError(t, startError(t, configOf(t, dir)),
		"Fatal error loading the DB: "+sentence+". Nothing was changed. Exiting")

	other := t.TempDir()
	require.Equal(t, "OK", first.dial().Do("CONFIG", "SET", "dir", other).Str)
	require.Equal(t, "OK", first.dial().Do("SAVE").Str)
	require.Equal(t, "OK", second.dial().Do("SAVE").Str, "the first one keeps its data elsewhere now")
	first.kill()
	second.kill()
	born(t, dir).kill()
}

func TestTheNameAndFormOfTheFileAreDirectives(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir, "--rdbchecksum", "no", "--dbfilename", "first.rdb")
	c := l.dial()
	c.Do("SET", "k", strings.Repeat("abcd", 1000))
	require.Equal(t, "OK", c.Do("SAVE").Str)
	require.Equal(t, "OK", c.Do("CONFIG", "SET", "dbfilename", "second.rdb", "rdbcompression", "no").Str)
	require.Equal(t, "OK", c.Do("SAVE").Str)
	packed, err := os.ReadFile(filepath.Join(dir, "first.rdb"))
	require.NoError(t, err)
	plain, err := os.ReadFile(filepath.Join(dir, "second.rdb"))
	require.NoError(t, err)
	require.Less(t, len(packed), 300)
	require.Greater(t, len(plain), 4000)
	require.Equal(t, strings.Repeat("\x00", 8), string(plain[len(plain)-8:]))

	require.Equal(t, "OK", c.Do("CONFIG", "SET", "dbfilename", "").Str)
	require.Equal(t, "ERR", c.Do("SAVE").Str)
	l.kill()
	require.Equal(t, int64(0), born(t, dir, "--dbfilename", "").dial().Do("DBSIZE").Int)
	guarded := redistest.Dial(t, start(t, nil))
	for _, name := range []string{"dir", "dbfilename"} {
		require.Contains(t, guarded.Do("CONFIG", "SET", name, "x").Str, "can't set protected config")
	}
}

func TestEachMasterHasAFolderOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	first := born(t, dir, "--masters", "3")
	for i, addr := range first.masters.Addrs() {
		c := redistest.Dial(t, addr)
		c.Do("SET", "master", fmt.Sprint(i))
		require.Equal(t, "OK", c.Do("SAVE").Str)
		_, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		require.Equal(t, []string{"dump.rdb"}, filesIn(t, filepath.Join(dir, port)))
	}
	ports := filesIn(t, dir)
	require.Len(t, ports, 3)
	first.kill()

	for i, addr := range first.masters.Addrs() {
		_, port, _ := net.SplitHostPort(addr)
		c := born(t, filepath.Join(dir, port)).dial()
		require.Equal(t, fmt.Sprint(i), c.Do("GET", "master").Str)
	}
}

// DEBUG RELOAD with NOSAVE and NOFLUSH does not touch the file or the keys that are there.
func TestDebugReloadReadsTheFile(t *testing.T) {
	dir := t.TempDir()
	l := born(t, dir)
	c := l.dial()
	const failed = "ERR Error trying to load the RDB dump, check server logs."
	c.Do("SET", "kept", "v")
	require.Equal(t, failed, c.Do("DEBUG", "RELOAD", "NOSAVE").Str)
	require.Equal(t, "v", c.Do("GET", "kept").Str, "without a file nothing is deleted")
	require.Equal(t, "OK", c.Do("SAVE").Str)
	c.Do("SET", "kept", "newer")
	c.Do("SET", "other", "v")
	require.Equal(t, "OK", c.Do("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE").Str)
	require.Equal(t, "v", c.Do("GET", "kept").Str)
	require.Equal(t, "v", c.Do("GET", "other").Str)
	require.Equal(t, "OK", c.Do("DEBUG", "RELOAD", "NOSAVE").Str)
	require.Equal(t, int64(1), c.Do("DBSIZE").Int)
	require.Equal(t, "1", infoField(c, "rdb_saves"), "DEBUG RELOAD counts as no SAVE")
}
