package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// The exit codes of the subcommands that read a history.
const (
	exitSafe    = 0 // no lock was broken, or no mistake was found
	exitBroken  = 1
	exitNoInput = 2 // wrong arguments, or the file has no history
	exitUnknown = 3 // the history proves nothing
)

// verdictFile is the subcommand verdict: it judges histories, and draws those that are not safe.
func verdictFile(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("verdict", flag.ContinueOnError)
	flags.SetOutput(errs)
	picture := flags.String("o", "", "write the picture to `FILE.svg`, even of a history that is safe")
	flags.Usage = func() {
		fmt.Fprintln(errs, "usage: miniredisd verdict [-o FILE.svg] HISTORY.json ...   (- is the standard input)")
		flags.PrintDefaults()
	}
	histories, code := historiesOf(flags, args, errs)
	if histories == nil {
		return code
	}
	v, err := verdict.Judge(histories)
	if err != nil {
		fmt.Fprintln(errs, "verdict:", err)
		return exitNoInput
	}
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
	}
	return exitUnknown
}

// drawVerdict writes the picture, and its second view beside it. It does not write over a history.
func drawVerdict(v *verdict.Verdict, picture string, histories []string, out io.Writer) error {
	page := strings.TrimSuffix(picture, filepath.Ext(picture)) + ".html"
	if page == picture {
		return errors.New("-o names an SVG, not an .html file: the second view gets that name")
	}
	for _, name := range []string{picture, page} {
		if slices.Contains(histories, name) {
			return fmt.Errorf("the picture would replace the history %s: name another file with -o", name)
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
		if err := errors.Join(f.write(file), file.Close()); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "picture: %s\noperations: %s\n", picture, page)
	return nil
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
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, 0
	case err != nil:
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
