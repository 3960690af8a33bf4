package disk

// spreadBytes is after how many bytes the disk is told to write (rdb.h: REDIS_AUTOSYNC_BYTES).
const spreadBytes = 4 << 20

// Spread has new files written to the disk while they grow, so that the fsync at their end has little to do and other
// fsyncs do not wait after it (rio.c: rioSetAutoSync). It makes nothing durable. Files that cannot do that are written
// as without it.
type Spread struct{ FS }

// Create makes a new file that is written to the disk while it grows.
func (s Spread) Create(name string) (File, error) {
	f, err := s.FS.Create(name)
	if back, ok := f.(writesBack); ok && err == nil {
		return &spreadFile{File: f, back: back}, nil
	}
	return f, err
}

// writesBack is a File that can have some of its bytes written to the disk.
type writesBack interface {
	// WriteBack begins to write that many bytes from a place on. With wait it returns when they are written.
	WriteBack(from, bytes int64, wait bool) error
}

type spreadFile struct {
	File
	back  writesBack
	size  int64
	begun int64 // the disk is told to write what stands before
}

// Write waits for the disk only when it is two pieces behind.
func (f *spreadFile) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		piece := min(int64(len(b)), f.begun+spreadBytes-f.size)
		var wrote int
		wrote, err = f.File.Write(b[:piece])
		n, b, f.size = n+wrote, b[wrote:], f.size+int64(wrote)
		if err == nil && f.size == f.begun+spreadBytes {
			err = f.next()
		}
	}
	return n, err
}

func (f *spreadFile) next() error {
	err := f.back.WriteBack(f.begun, spreadBytes, false)
	if err == nil && f.begun > 0 {
		err = f.back.WriteBack(f.begun-spreadBytes, spreadBytes, true)
	}
	f.begun = f.size
	return err
}
