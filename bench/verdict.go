package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// The reason is already printed: a lock was violated, or the verdict is unknown.
var (
	errViolated  = errors.New("the lock was violated")
	errUndecided = errors.New("whether the lock was violated is undecided")
)

// judgeHistory is the command verdict.
func judgeHistory(args []string) error {
	flags := flag.NewFlagSet("verdict", flag.ContinueOnError)
	flags.SetOutput(os.Stderr)
	picture := flags.String("o", "", "write the picture of a counter-example to `FILE.html` (the first history's "+
		"name with .html)")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: bench verdict [-o FILE.html] HISTORY.json ...   (- is the standard input)")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return usageError{err}
	case flags.NArg() == 0:
		return usageError{errors.New("verdict: name a file that LAB LOG EXPORT has made")}
	}
	v, err := judgeFiles(flags.Args())
	if err != nil {
		return usageError{err}
	}
	v.Print(os.Stdout)
	if v.OK() {
		return nil
	}
	if *picture == "" {
		*picture = pictureOf(flags.Arg(0))
	}
	if err := draw(v, *picture); err != nil {
		return err
	}
	fmt.Println("picture:", *picture)
	if v.Violated() {
		return errViolated
	}
	return errUndecided
}

// usageError ends the program with the code 2.
type usageError struct{ error }

func judgeFiles(names []string) (*verdict.Verdict, error) {
	var all []lab.History
	for _, name := range names {
		some, err := readHistories(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	return verdict.Judge(all)
}

func readHistories(name string) ([]lab.History, error) {
	if name == "-" {
		return verdict.Read(os.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	return verdict.Read(f)
}

// pictureOf returns the path of the picture of a history.
func pictureOf(history string) string {
	if history == "-" {
		return "history.html"
	}
	return strings.TrimSuffix(history, filepath.Ext(history)) + ".html"
}

func draw(v *verdict.Verdict, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(v.Picture(f), f.Close())
}
