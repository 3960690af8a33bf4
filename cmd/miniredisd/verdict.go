package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
	"github.com/miniredisd/miniredisd/lab/words"
)

// The exit codes of the subcommands that read a history.
const (
	exitSafe    = 0 // no lock was broken, or no mistake was found
	exitBroken  = 1
	exitNoInput = 2 // wrong arguments, or the file has no history
	exitUnknown = 3 // the history proves nothing

	exitNotJudged = 5 // a key changed that is no lock of one holder; explore means by 4 that its time was over
)

// verdictFile is the subcommand verdict: it judges histories, and draws those that are not safe.
func verdictFile(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("verdict", flag.ContinueOnError)
	picture := flags.String("o", "", "")
	lang := flags.String("lang", "en", "")
	histories, code := historiesOf(flags, args, errs)
	if histories == nil {
		return code
	}
	in := words.Language(*lang)
	if !in.Known() {
		fmt.Fprintf(errs, "verdict: --lang is en or zh, not '%s'\n", in)
		return exitNoInput
	}
	v, err := verdict.Judge(histories)
	if err != nil {
		fmt.Fprintln(errs, "verdict:", err)
		return exitNoInput
	}
	v.Language = in
	v.Print(out)
	result := v.Result()
	if *picture == "" && result != verdict.Safe {
		*picture = pictureOf(flags.Arg(0))
	}
	if *picture != "" {
		if err := drawVerdict(v, *picture, flags.Args(), out); err != nil {
			fmt.Fprintln(errs, "verdict:", err)
			return exitNoInput
		}
	}
	switch {
	case result == verdict.Safe:
		return exitSafe
	case v.Violated():
		return exitBroken
	case result == verdict.NotJudged:
		return exitNotJudged
	}
	return exitUnknown
}

// ownPicture is the first line of the pictures that drawVerdict writes. It replaces files that begin so.
const ownPicture = "<!-- miniredisd verdict -->\n"

// drawVerdict writes the picture, and its second view beside it. It replaces older pictures of its own, and
// no other file.
func drawVerdict(v *verdict.Verdict, picture string, histories []string, out io.Writer) error {
	page := strings.TrimSuffix(picture, filepath.Ext(picture)) + ".html"
	if page == picture {
		return errors.New("-o names an SVG, not an .html file: the second view gets that name")
	}
	for _, name := range []string{picture, page} {
		if err := mayReplace(name, histories); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{picture, v.SVG}, {page, v.Picture}} {
		file, err := os.Create(f.name)
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, ownPicture)
		if err == nil {
			err = f.write(file)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "picture: %s\noperations: %s\n", picture, page)
	return nil
}

// mayReplace returns an error if a picture with this name would destroy something: a history, under whatever
// name, or a file that drawVerdict has not written. An empty file may be replaced.
func mayReplace(name string, histories []string) error {
	old, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, h := range histories {
		info, err := os.Stdin.Stat()
		if h != "-" {
			info, err = os.Stat(h)
		}
		if err == nil && os.SameFile(info, old) {
			return fmt.Errorf("the picture would replace the history %s: name another file with -o", h)
		}
	}
	if !old.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: name another file with -o", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	begin := make([]byte, len(ownPicture))
	n, err := io.ReadFull(file, begin)
	switch {
	case err == io.EOF || string(begin[:n]) == ownPicture:
		return nil
	case err != nil && err != io.ErrUnexpectedEOF:
		return err
	}
	return fmt.Errorf("%s is not a picture of a verdict, and would be replaced: name another file with -o", name)
}

// pictureOf returns the path of the picture of a history.
func pictureOf(history string) string {
	if history == "-" {
		return "history.svg"
	}
	return strings.TrimSuffix(history, filepath.Ext(history)) + ".svg"
}

// historiesOf parses the arguments of a subcommand and reads the histories that they name. Without
// histories, the subcommand ends with the code.
func historiesOf(flags *flag.FlagSet, args []string, errs io.Writer) (all []lab.History, code int) {
	switch {
	case !parseFlags(flags, args, errs):
		return nil, exitNoInput
	case flags.NArg() == 0:
		fmt.Fprintf(errs, "%s: name a file that LAB LOG EXPORT has made\n", flags.Name())
		return nil, exitNoInput
	}
	for _, name := range flags.Args() {
		some, err := readHistories(name)
		if err != nil {
			fmt.Fprintf(errs, "%s: %s: %v\n", flags.Name(), name, err)
			return nil, exitNoInput
		}
		all = append(all, some...)
	}
	return all, 0
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
