package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// parseFlags reads the options of a subcommand. It says what is wrong with them, or explains them, and reports whether
// the subcommand can go on.
func parseFlags(flags *flag.FlagSet, args []string, errs io.Writer) bool {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		explain(subcommandOf([]string{flags.Name()}), errs)
	} else if err != nil {
		fmt.Fprintf(errs, "%s: %v\n", flags.Name(), optionError(flags, err))
	}
	return err == nil
}

// optionError is an error of package flag, with the option that may be meant in place of one that does not exist.
func optionError(flags *flag.FlagSet, err error) error {
	word, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	more := "miniredisd help " + flags.Name() + " lists them."
	if nearest := ascii.Nearest(word, names); nearest != "" {
		more = "Did you mean " + dashed(nearest) + "?"
	}
	return fmt.Errorf("there is no option %s. %s", dashed(word), more)
}

// dashed is an option as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
