package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/dialect"
)

// This file is about what servers newer than Redis 7.2 have. The rows say since when, and a table is made
// of those that its dialect has. So a request meets no version, but for the key of SET: see setUses.

// missing lists the commands that other servers have and this one lacks: since when, and their names. A
// name that ends with a dot stands for all names that begin with it.
const missing = `
8.0.0,: vadd vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember vrem vsetattr vsim
8.0.0,: bf. cf. cms. ft. json. tdigest. topk. ts.
8.2.0,8.0.0: cluster|slot-stats
8.4.0,: cluster|migration vrange
8.6.0,: hotkeys xcfgset
8.8.0,: arcount ardel ardelrange arget argetrange argrep arinfo arinsert arlastitems arlen armget armset
8.8.0,: arnext arop arring arscan arseek arset xidmprecord xnack
8.10.0,: backup blmovem himport lmovem sdiffcard sunioncard
,8.0.0: script|show
,8.1.0: client|import-source
,9.0.0: cluster|cancelslotmigrations cluster|flushslot cluster|getslotmigrations cluster|migrateslots
,9.0.0: cluster|syncslots
,9.1.0: clusterscan
,9.2.0: hotkeys
`

// Lacking returns the names of all commands that the dialect has and this program lacks, sorted. A name that ends
// with a dot stands for all names that begin with it.
func Lacking(d dialect.Dialect) []string { return slices.Sorted(maps.Keys(lackingIn(d))) }

// lackingIn returns the names of missing that the dialect has.
func lackingIn(d dialect.Dialect) map[string]bool {
	lacking := map[string]bool{}
	for line := range strings.Lines(missing) {
		since, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if since == "" || !d.Has(dialect.Since(since)) {
			continue
		}
		for _, name := range strings.Fields(names) {
			lacking[name] = true
		}
	}
	return lacking
}

// lacks returns the error for a command that the dialect has and this server lacks, or nil. The name of a
// subcommand is script|show.
func (t *Table) lacks(name string) error {
	if len(t.lacking) == 0 || len(name) > longestName {
		return nil
	}
	name = strings.ToLower(name)
	module, _, ofModule := strings.Cut(name, ".")
	if t.lacking[name] || ofModule && t.lacking[module+"."] {
		return errorf("ERR %s is not supported by this server", strings.ToUpper(strings.ReplaceAll(name, "|", " ")))
	}
	return nil
}

// ErrLoading refuses a command while keys are being loaded.
func (t *Table) ErrLoading() error {
	return errorf("LOADING %s is loading the dataset in memory", t.Dialect.Family)
}

// unknownToScript is the error for a command of a script that this server lacks. cmd is nil, or the
// container of an unknown subcommand.
func (t *Table) unknownToScript(cmd *Command, args [][]byte) error {
	name := string(args[0])
	if cmd != nil {
		name = cmd.Name + "|" + string(args[1])
	}
	if err := t.lacks(name); err != nil {
		return err
	}
	if cmd != nil && t.Manners.engineModule {
		return t.unknownSubcommand(cmd, args)
	}
	return t.Manners.callError(errScriptUnknown, errCallUnknown)
}

// newerWords returns the words of a syntax that are newer than Redis 7.2 and that the dialect has, in lower
// case.
func newerWords(syntax string, d dialect.Dialect) (words []string) {
	if !strings.Contains(syntax, ",") { // without it no version is newer: see package dialect
		return nil
	}
	var find func(args []Argument)
	find = func(args []Argument) {
		for _, a := range args {
			if a.Since.Newer() && a.Token != "" {
				words = append(words, strings.ToLower(a.Token))
			}
			find(a.Args)
		}
	}
	find(argumentsIn(d, ParseSyntax(syntax)))
	return words
}

// hasNone reports whether all arguments of a syntax are newer than the dialect. Such a command takes none.
func hasNone(syntax string, d dialect.Dialect) bool {
	return strings.Contains(syntax, ",") && len(argumentsIn(d, ParseSyntax(syntax))) == 0
}

// Offers reports whether the dialect has a newer option of cmd. The word is in lower case.
func (c *Command) Offers(word string) bool { return slices.Contains(c.options, word) }

// argumentsIn returns the arguments that the dialect has.
func argumentsIn(d dialect.Dialect, args []Argument) (kept []Argument) {
	for _, a := range args {
		if a.Since != "" && !d.Has(a.Since) {
			continue
		}
		if a.Args = argumentsIn(d, a.Args); a.Type == "oneof" && len(a.Args) == 0 {
			continue // none of the choices is left
		}
		kept = append(kept, a)
	}
	return kept
}
