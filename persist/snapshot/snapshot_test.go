package snapshot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	values "github.com/miniredisd/miniredisd/internal/rdb"
	"github.com/miniredisd/miniredisd/persist/disk"
	"github.com/miniredisd/miniredisd/persist/rdb"
	"github.com/miniredisd/miniredisd/persist/snapshot"
	"github.com/miniredisd/miniredisd/store"
)

const (
	path = "/d/dump.rdb"
	now  = 1_700_000_000_000
)

// keyspace has keys with text in their values, strings and hashes, in two databases.
func keyspace(text string, keys int) *store.Keyspace {
	ks := store.NewKeyspace(store.Options{Databases: 3, Seed: 7})
	ks.Now = now
	for i := range keys {
		set(ks, i, text)
	}
	return ks
}

func set(ks *store.Keyspace, i int, text string) {
	db, name := ks.DBs[i%2], fmt.Appendf(nil, "key:%d", i)
	if i%5 != 0 {
		db.Lookup(name, store.LookupWrite).SetStrUntil(name, []byte(text), now+1000+int64(i))
		return
	}
	h, err := store.WriteOrNew[*store.Hash](db, name)
	if err != nil {
		panic(err)
	}
	for k := range 20 * (1 + i%7) {
		h.Set(fmt.Append(nil, k), []byte(text[:min(len(text), 9)]))
	}
	ks.Settle()
}

// A replica reads a database as it would read it from a file of SAVE: once, with its size before its first key.
func TestAStreamHasTheBytesOfAFile(t *testing.T) {
	ks := keyspace("text", 1000)
	var file bytes.Buffer
	require.NoError(t, (&rdb.Saving{Keys: ks, Now: now, Format: rdb.FormatRedis}).Write(&file))
	s := snapshot.Stream(ks, &rdb.Saving{Now: now, Format: rdb.FormatRedis}, func() {}, func() {})
	for s.CanAdvance() {
		s.Advance(func() int64 { return 0 }, 1)
	}
	require.NoError(t, s.Wait())
	var stream []byte
	for b := s.Take(); b != nil; b = s.Take() {
		stream = append(stream, b...)
	}
	require.Equal(t, file.Bytes(), stream)
}

func picture(ks *store.Keyspace) map[string]string {
	all := map[string]string{}
	for _, db := range ks.DBs {
		for name, v := range db.Values() {
			all[fmt.Sprint(db.ID, " ", name)] = fmt.Sprintf("%d %x", v.Expire(), values.Dump(nil, v, rdb.FormatRedis))
		}
	}
	return all
}

func saving(ks *store.Keyspace) *rdb.Saving {
	return &rdb.Saving{Now: ks.Now, Compress: true, Checksum: true, Format: rdb.FormatRedis, Version: "7.2.6"}
}

// begin begins a snapshot whose writer says through a channel that it can go on, or that it has ended.
func begin(ks *store.Keyspace, on disk.FS) (s *snapshot.Snapshot, news chan string) {
	news = make(chan string, 100)
	s = snapshot.Begin(ks, on, path, saving(ks), func() { news <- "wake" }, func() { news <- "ended" })
	return s, news
}

// save saves a keyspace. change is called between the steps.
func save(ks *store.Keyspace, on disk.FS, change func(step int)) error {
	s, news := begin(ks, on)
	ticks := int64(0)
	tick := func() int64 { ticks++; return ticks }
	for step := 0; s.CanAdvance(); step++ {
		s.Advance(tick, ticks+3)
		change(step)
	}
	if end := <-news; end != "ended" {
		return errors.New(end)
	}
	return s.Wait()
}

func still(int) {}

func loaded(on disk.FS) (map[string]string, error) {
	ks := keyspace("", 0)
	l := rdb.Loading{
		Keys: ks, Checksum: true, Log: func(byte, string, ...any) {}, Library: func([]byte) error { return nil },
	}
	err := l.Load(on, path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	return picture(ks), err
}

func TestTheFileIsTheKeyspaceAtTheBeginning(t *testing.T) {
	for _, keys := range []int{0, 1, 3000} {
		ks, d := keyspace("first", keys), disk.NewSim(1)
		want := picture(ks)
		require.NoError(t, save(ks, d, func(step int) {
			for i := range 50 {
				set(ks, (step*977+i*31)%(keys+100), strings.Repeat("later", step%9))
			}
			if step%10 == 9 {
				ks.Swap(step%3, (step+1)%3)
			}
			if step == 40 {
				ks.DBs[0].Flush()
			}
		}))
		got, err := loaded(d)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestACrashLeavesTheOldFileOrTheNewOne(t *testing.T) {
	old, newer := keyspace("old", 30), keyspace(strings.Repeat("newer", 50), 60)
	count := func() int {
		d := disk.NewSim(1)
		require.NoError(t, save(newer, d, still))
		return d.Ops()
	}()
	wantOld, wantNewer := picture(old), picture(newer)
	seen := map[string]bool{}
	for op := range count {
		for _, fault := range []disk.Fault{disk.Power, disk.NoSpace, disk.Failure, disk.Short} {
			for seed := range uint64(5) {
				d := disk.NewSim(seed)
				require.NoError(t, save(old, d, still))
				d.Fail(op, fault)
				err := save(newer, d, still)
				d.Crash()
				got, broken := loaded(d)
				require.NoError(t, broken)
				switch {
				case maps.Equal(got, wantNewer):
					seen["newer"] = true
				default:
					require.Equal(t, wantOld, got)
					require.Error(t, err, "what was saved is there")
					seen["old"] = true
				}
			}
		}
	}
	require.Len(t, seen, 2)
}

// gate is a disk that writes what its test lets it write.
type gate struct {
	*disk.Sim
	may chan bool
}

type gateFile struct {
	disk.File
	may chan bool
}

func (g gate) Create(name string) (disk.File, error) {
	f, err := g.Sim.Create(name)
	return gateFile{f, g.may}, err
}

func (f gateFile) Write(b []byte) (int, error) {
	<-f.may
	return f.File.Write(b)
}

func TestAnAbortedSnapshotLeavesTheOldFile(t *testing.T) {
	for _, advanced := range []int64{0, 5, 1 << 40} {
		d := disk.NewSim(1)
		require.NoError(t, save(keyspace("old", 10), d, still))
		want, err := loaded(d)
		require.NoError(t, err)
		on, ks := gate{d, make(chan bool)}, keyspace("newer", 1000)
		s, news := begin(ks, on)
		ticks := int64(0)
		s.Advance(func() int64 { ticks++; return ticks }, advanced)
		s.Abort()
		close(on.may)
		require.Equal(t, "ended", <-news)
		require.ErrorIs(t, s.Wait(), snapshot.ErrAborted)
		got, err := loaded(d)
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, err = d.Open(fmt.Sprintf("/d/temp-%d.rdb", os.Getpid()))
		require.ErrorIs(t, err, fs.ErrNotExist)
		set(ks, 1, "a change after the end") // no capture is under way
		require.NoError(t, save(ks, d, still))
	}
}

// rdb-key-save-delay makes a save last. To abort one takes no longer than without.
func TestASaveWithADelayIsAborted(t *testing.T) {
	ks, d := keyspace("v", 10), disk.NewSim(1)
	slow, news := saving(ks), make(chan string, 100)
	slow.Delay = rdb.NewDelay(int(time.Hour / time.Microsecond))
	s := snapshot.Begin(ks, d, path, slow, func() {}, func() { news <- "ended" })
	s.Advance(func() int64 { return 0 }, 1)
	require.False(t, s.CanAdvance())
	require.Empty(t, news)
	s.Abort()
	s.Abort()
	require.Equal(t, "ended", <-news)
	require.ErrorIs(t, s.Wait(), snapshot.ErrAborted)
	slow = saving(ks)
	slow.Delay = rdb.NewDelay(-3)
	s = snapshot.Begin(ks, d, path, slow, func() {}, func() { news <- "ended" })
	s.Advance(func() int64 { return 0 }, 1)
	require.Equal(t, "ended", <-news)
	require.NoError(t, s.Wait())
}

func TestAnotherDelayHoldsForTheSaveUnderWay(t *testing.T) {
	for _, us := range []int{0, -5, 1} {
		ks, d := keyspace("v", 10), disk.NewSim(1)
		slow, news := saving(ks), make(chan string, 100)
		slow.Delay = rdb.NewDelay(int(time.Hour / time.Microsecond))
		s := snapshot.Begin(ks, d, path, slow, func() {}, func() { news <- "ended" })
		s.Advance(func() int64 { return 0 }, 1)
		slow.Delay.Set(int(time.Minute / time.Microsecond))
		require.Empty(t, news)
		slow.Delay.Set(us)
		require.Equal(t, "ended", <-news)
		require.NoError(t, s.Wait())
	}
}

// While the disk is slow, the copies that wait take a bounded memory, and no change is lost.
func TestTheCursorWaitsForASlowDisk(t *testing.T) {
	d := disk.NewSim(1)
	on, ks := gate{d, make(chan bool)}, keyspace(strings.Repeat("long", 2000), 12_000)
	want := picture(ks)
	s, news := begin(ks, on)
	never := func() int64 { return 0 }
	s.Advance(never, 1)
	all, copied := s.Keys()
	require.Equal(t, 12_000, all)
	require.Greater(t, copied, 100)
	require.Less(t, copied, 11_000)
	require.False(t, s.CanAdvance())
	s.Advance(never, 1)
	_, again := s.Keys()
	require.Equal(t, copied, again, "no key more is copied")
	set(ks, 11_999, "x")
	s.Advance(never, 1)
	_, again = s.Keys()
	require.Equal(t, copied+1, again, "what changes is copied all the same")
	close(on.may)
	for said := <-news; said != "ended"; said = <-news {
		s.Advance(never, 1)
	}
	require.NoError(t, s.Wait())
	got, err := loaded(d)
	require.NoError(t, err)
	require.True(t, maps.Equal(want, got))
}

func TestAHashWhoseFieldsExpireHasNoPlaceInTheFormatOfRedis(t *testing.T) {
	ks, d := keyspace("v", 0), disk.NewSim(1)
	f, err := store.WriteFields(ks.DBs[0], []byte("h"))
	require.NoError(t, err)
	f.Create([]byte("h"))
	f.Set([]byte("f"), []byte("v"))
	f.SetExpire([]byte("f"), now+1000)
	ks.Settle()
	require.ErrorContains(t, save(ks, d, still), "fields of the hash 'h' expire")
}

func write[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// changeLarge changes a large collection of each type. The same n changes the same elements.
func changeLarge(ks *store.Keyspace, n int, text string) {
	db, member, value := ks.DBs[0], fmt.Appendf(nil, "member:%d", n), []byte(text)
	l := write(store.WriteOrNew[*store.List](db, []byte("list")))
	l.Expect(1, len(value))
	l.PushTail(value)
	l.Set(n%l.Len(), value)
	s := write(store.WriteOrNew[*store.Set](db, []byte("set")))
	if !s.Add(member) && n%2 == 0 {
		s.Remove(member)
	}
	write(store.WriteOrNew[*store.ZSet](db, []byte("zset"))).Add(member, float64(len(text)*n), 0)
	write(store.WriteOrNew[*store.Hash](db, []byte("hash"))).Set(member, value)
	x := write(store.WriteOrNew[*store.Stream](db, []byte("stream")))
	id := store.StreamID{Ms: x.LastID.Ms + 1}
	if err := x.Add(id, [][]byte{member, value}, store.StreamNodeLimits{Bytes: 4096, Entries: 100}); err != nil {
		panic(err)
	}
	x.Delete(store.StreamID{Ms: id.Ms / 2})
	ks.Settle()
}

// The writer reads large collections, which are lent, while commands change them.
func TestTheWriterReadsLargeCollectionsWhileTheyChange(t *testing.T) {
	ks, d := keyspace("", 0), disk.NewSim(1)
	for n := range 5000 {
		changeLarge(ks, n, "first")
	}
	for range 2 {
		want := picture(ks)
		s, news := begin(ks, d)
		s.Advance(func() int64 { return 0 }, 1)
		for n := range 5000 {
			changeLarge(ks, n, "later")
		}
		require.Equal(t, "ended", <-news)
		require.NoError(t, s.Wait())
		got, err := loaded(d)
		require.NoError(t, err)
		for name := range want {
			require.True(t, want[name] == got[name], name)
		}
		require.Len(t, got, len(want))
		changeLarge(ks, 1, "after the end")
	}
}

// A stream has the bytes of the file, in pieces. Its writer waits while nobody takes them.
func TestAStreamHasTheBytesOfTheFile(t *testing.T) {
	ks, d := keyspace(strings.Repeat("long", 500), 3000), disk.NewSim(1)
	want := picture(ks)
	news := make(chan string, 10_000)
	s := snapshot.Stream(ks, saving(ks), func() { news <- "wake" }, func() { news <- "ended" })
	never := func() int64 { return 0 }
	var all []byte
	for said := "wake"; said != "ended"; said = <-news {
		s.Advance(never, 1)
		for b := s.Take(); b != nil; b = s.Take() {
			all = append(all, b...)
			s.Reuse(b)
		}
	}
	require.NoError(t, s.Wait())
	for b := s.Take(); b != nil; b = s.Take() {
		all = append(all, b...)
		s.Reuse(b)
	}
	f, err := d.Create(path)
	require.NoError(t, err)
	_, err = f.Write(all)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	got, err := loaded(d)
	require.NoError(t, err)
	require.True(t, maps.Equal(want, got))
}

func TestAnAbortedStreamEndsAWriterThatWaits(t *testing.T) {
	ks, news := keyspace(strings.Repeat("long", 2000), 3000), make(chan string, 10_000)
	s := snapshot.Stream(ks, saving(ks), func() { news <- "wake" }, func() { news <- "ended" })
	s.Advance(func() int64 { return 0 }, 1)
	require.Equal(t, "wake", <-news, "there are bytes, which nobody takes")
	s.Abort()
	for said := <-news; said != "ended"; said = <-news {
		require.Equal(t, "wake", said)
	}
	require.ErrorIs(t, s.Wait(), snapshot.ErrAborted)
}
