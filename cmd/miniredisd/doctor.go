package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/miniredisd/miniredisd/lab/verdict"
)

// doctorFile is the subcommand doctor: it looks for mistakes of lock clients in histories.
func doctorFile(args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	histories, code := historiesOf(flags, args, errs)
	if histories == nil {
		return code
	}
	findings, err := verdict.Diagnose(histories)
	if err != nil {
		fmt.Fprintln(errs, "doctor:", err)
		return exitNoInput
	}
	for _, f := range findings {
		times := ""
		if f.Count > 1 {
			times = fmt.Sprintf(", %d times", f.Count)
		}
		fmt.Fprintf(out, "%s: %s%s\n", f.Pattern, verdict.Lock{DB: f.DB, Key: f.Key}, times)
		for _, s := range f.Steps {
			fmt.Fprintf(out, "  %s\n", verdict.Line(s))
		}
		fmt.Fprintf(out, "  Why: %s.\n  Fix: %s.\n\n", f.Why, f.Fix)
	}
	if len(findings) == 0 {
		fmt.Fprintln(out, "No mistake found.")
	}
	fmt.Fprintln(out, "A history cannot show closed connections, messages, pauses between attempts, "+
		"and commands on keys that were not watched. LAB DOCTOR of a running server sees them.")
	if len(findings) > 0 {
		return exitBroken
	}
	return exitSafe
}
