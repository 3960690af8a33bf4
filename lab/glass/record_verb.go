package glass

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// Saved is a recording in a file.
type Saved struct {
	File   string
	Events int
	Bytes  int64
}

// recordError makes an error of LAB RECORD.
func recordError(verb, why string, args ...any) error {
	return fmt.Errorf("ERR "+strings.TrimSpace("LAB RECORD "+verb)+": "+why, args...)
}

// RecordVerb reads the words after LAB RECORD. The reply is "OK", the bytes of a .loop.gz or []Saved.
func (v *View) RecordVerb(words []string) (Verb, error) {
	if len(words) == 0 {
		return Verb{}, recordError("", "expects START, STOP, GET, SAVE or LIST")
	}
	word, args := strings.ToUpper(words[0]), words[1:]
	most := map[string]int{"START": 2, "STOP": 0, "GET": 0, "SAVE": 1, "LIST": 0}
	n, known := most[word]
	switch {
	case !known:
		return Verb{}, recordError("", "expects START, STOP, GET, SAVE or LIST, not %s", quote(words[0]))
	case len(args) > n:
		return Verb{}, recordError(word, "%s is one argument too many", quote(args[n]))
	}
	switch word {
	case "START":
		passes, err := parsePasses(args)
		return done(err, false, func() { v.RecordStart(passes) })
	case "STOP":
		return done(nil, false, v.RecordStop)
	case "GET":
		return Verb{Do: func() (any, error) { return v.recorded(word) }}, nil
	case "SAVE":
		if len(args) == 0 {
			return Verb{}, recordError(word, "file is missing")
		}
		return Verb{Do: func() (any, error) { return "OK", v.save(args[0]) }}, nil
	}
	return Verb{Do: func() (any, error) { return v.saved(), nil }}, nil
}

func parsePasses(args []string) (int, error) {
	switch {
	case len(args) == 0:
		return 0, nil
	case !strings.EqualFold(args[0], "PASSES"):
		return 0, recordError("START", "expects PASSES or nothing, not %s", quote(args[0]))
	case len(args) == 1:
		return 0, recordError("START", "PASSES expects a number")
	}
	n, err := number("", "PASSES", args[1], 1, mostLines)
	if err != nil {
		return 0, recordError("START", "PASSES expects a number from 1 to %d, not %s", mostLines, quote(args[1]))
	}
	return int(n), nil
}

func (v *View) recorded(verb string) ([]byte, error) {
	r := v.Recording()
	if r == nil {
		return nil, recordError(verb, "nothing was recorded, see LAB RECORD START")
	}
	var b bytes.Buffer
	err := r.Write(&b)
	return b.Bytes(), err
}

// save writes the recording. A reader sees no file or the whole file.
func (v *View) save(file string) error {
	b, err := v.recorded("SAVE")
	if err != nil {
		return err
	}
	part := file + ".part"
	if err := os.WriteFile(part, b, 0o644); err != nil {
		return recordError("SAVE", "%v", err)
	}
	if err := os.Rename(part, file); err != nil {
		_ = os.Remove(part)
		return recordError("SAVE", "%v", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tape.saved = append(v.tape.saved, Saved{File: file, Events: len(v.tape.last.Lines), Bytes: int64(len(b))})
	return nil
}

func (v *View) saved() []Saved {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]Saved{}, v.tape.saved...)
}
