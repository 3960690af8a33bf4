package lab

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Shape says what the keys under a watched glob are. Only a shape that takes holders can be judged.
type Shape string

// The shapes. A key whose glob has none is recognized where its use is plain.
const (
	Unnamed   Shape = ""
	Mutex     Shape = "MUTEX"     // a string, and its value is the holder's token
	Reentrant Shape = "REENTRANT" // a hash with one field, the holder's, whose value counts
	ReadWrite Shape = "RW"        // a hash: one writer, or any number of readers
	Fair      Shape = "FAIR"      // a re-entrant lock whose waiters stand in a queue beside it
	Semaphore Shape = "SEMAPHORE" // at most Watch.Holders parts at one time, or a counter of them
	Queue     Shape = "QUEUE"     // each element stands in exactly one place
)

// Watch is a watched glob.
type Watch struct {
	Pattern string `json:"pattern"`
	As      Shape  `json:"as,omitempty"`
	Holders int    `json:"holders,omitempty"` // of a Semaphore: how many may hold it
}

// mostHolders bounds Watch.Holders. A larger number is a mistake.
const mostHolders = 1 << 20

// ParseWatch reads the words after LAB LOG WATCH: pattern [AS shape]. The error names the word that is wrong.
func ParseWatch(words [][]byte) (w Watch, err error) {
	w.Pattern = string(words[0])
	if w.Pattern == "" {
		return w, errors.New("pattern is empty, and no key is")
	}
	if words = words[1:]; len(words) == 0 {
		return w, nil
	}
	if !strings.EqualFold(string(words[0]), "AS") {
		return w, fmt.Errorf("expects AS, not %s", quote(string(words[0])))
	}
	const shapes = "AS expects MUTEX, REENTRANT, RW, FAIR, SEMAPHORE or QUEUE"
	if words = words[1:]; len(words) == 0 {
		return w, errors.New(shapes)
	}
	w.As = Shape(strings.ToUpper(string(words[0])))
	most := 1
	switch w.As {
	case Mutex, Reentrant, ReadWrite, Fair, Queue:
	case Semaphore:
		if most = 2; len(words) == 1 {
			return w, errors.New("SEMAPHORE expects the number of holders that it may have")
		}
		w.Holders, err = strconv.Atoi(string(words[1]))
		if err != nil || w.Holders < 1 || w.Holders > mostHolders {
			return w, fmt.Errorf("SEMAPHORE expects a number of holders from 1 to %d, not %s", mostHolders,
				quote(string(words[1])))
		}
	default:
		return w, fmt.Errorf(shapes+", not %s", quote(string(words[0])))
	}
	if len(words) > most {
		return w, fmt.Errorf("%s is one argument too many", quote(string(words[most])))
	}
	return w, nil
}
