package grade

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// File is a results.json. While the program runs it says that there are no points yet, so a program that kills the
// grader gets none. The results replace whatever the program has put in its place.
type File struct {
	path string
	odd  bool // it is no regular file, such as /dev/stdout: it is written once, at the end
}

// roomForResults is kept on the disk while a program runs, which may fill it. It is in bytes.
const roomForResults = 64 << 10

// Begin writes results without points. The error is for the caller: no program has begun.
func Begin(path, lang string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &os.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
	case err == nil && !info.Mode().IsRegular():
		return &File{path, true}, nil
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	f := &File{path: path}
	none := &Results{Output: say{"The grader has not come to its end: it still runs, or was killed.",
		"评分程序没有运行到最后：它还在运行，或者被杀掉了。"}.in(lang)}
	text, err := none.json()
	if err != nil {
		return nil, err
	}
	return f, f.put(append(text, bytes.Repeat([]byte(" "), roomForResults)...))
}

// Write writes the results.
func (f *File) Write(r *Results) error {
	text, err := r.json()
	if err != nil {
		return err
	}
	return f.put(text)
}

func (r *Results) json() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// put replaces the file as a whole. If that fails, as on a full disk or in a folder that is not ours, the old text
// makes room for the new one.
func (f *File) put(text []byte) error {
	if f.odd {
		return os.WriteFile(f.path, text, 0o644)
	}
	replace := func() error {
		return saveIn(f.path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if replace() == nil {
		return nil
	}
	if info, err := os.Lstat(f.path); err == nil && info.Mode().IsRegular() && os.WriteFile(f.path, text, 0o644) == nil {
		return nil
	}
	// The program has made this: the path was checked before it began.
	if err := os.RemoveAll(f.path); err != nil {
		return err
	}
	return replace()
}
