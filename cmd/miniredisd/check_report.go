package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/miniredisd/miniredisd/persist/rdb"
)

// partReport is what was read of a file.
type partReport struct {
	path   string
	size   int64
	rdb    *rdb.Survey // of the file at its beginning, nil for none
	behind int64       // bytes that no server reads

	commands, transactions int64
	names                  map[string]int64 // commands, by name
	first, last            int64            // annotations of time, unix seconds
}

// mostNames is how many names of commands a report has.
const mostNames = 10

func (p *partReport) command(argv [][]byte) {
	name := strings.ToUpper(string(argv[0]))
	p.commands++
	p.names[name]++
	if name == "EXEC" {
		p.transactions++
	}
}

func (p *partReport) stamp(unix int64) {
	if p.first == 0 {
		p.first = unix
	}
	p.last = unix
}

func (p *partReport) print(out io.Writer) {
	kind := "commands"
	switch {
	case p.rdb != nil && p.rdb.Version == 0:
		kind = "no RDB file that can be read"
	case p.rdb != nil:
		kind = fmt.Sprintf("RDB file of version %d", p.rdb.Version)
	}
	fmt.Fprintf(out, "%s: %s, %d bytes\n", visible(p.path), kind, p.size)
	if p.rdb != nil {
		p.printRDB(out)
	}
	if p.commands > 0 {
		printField(out, "commands", fmt.Sprintf("%d: %s", p.commands, counts(p.names)))
	}
	if p.transactions > 0 {
		printField(out, "transactions", strconv.FormatInt(p.transactions, 10))
	}
	if p.first != 0 {
		printField(out, "written", fmt.Sprintf("%s to %s", moment(p.first), moment(p.last)))
	}
	if p.behind > 0 {
		printField(out, "behind it", fmt.Sprintf("%d bytes, which no server reads", p.behind))
	}
}

func (p *partReport) printRDB(out io.Writer) {
	for _, field := range p.rdb.Aux {
		value := field[1]
		if unix, err := strconv.ParseInt(value, 10, 64); err == nil && field[0] == "ctime" {
			value = fmt.Sprintf("%s (%s)", value, moment(unix))
		}
		printField(out, field[0], value)
	}
	for _, code := range p.rdb.Libraries {
		first, _, _ := strings.Cut(code, "\n")
		printField(out, "functions", strings.TrimPrefix(first, "#!"))
	}
	for _, name := range p.rdb.Modules {
		printField(out, "module", name+", whose data this program cannot load")
	}
	for _, db := range p.rdb.DBs {
		printField(out, fmt.Sprintf("db%d", db.ID), databaseLine(db))
	}
	if p.rdb.Empty > 0 {
		printField(out, "empty keys", fmt.Sprintf("%d, which servers skip", p.rdb.Empty))
	}
	if p.rdb.Unsummed {
		printField(out, "checksum", "none: a changed byte in a value cannot be seen")
	}
}

func databaseLine(db rdb.DBSurvey) string {
	keys := int64(0)
	for _, n := range db.Types {
		keys += n
	}
	return fmt.Sprintf("keys %d, with an expiry %d, of them expired %d: %s",
		keys, db.Expires, db.Expired, counts(db.Types))
}

// counts is a list of names and numbers, the greatest first.
func counts(of map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), mostNames)] {
		parts = append(parts, fmt.Sprintf("%s %d", name, of[name]))
	}
	if len(names) > mostNames {
		parts = append(parts, fmt.Sprintf("and %d other names", len(names)-mostNames))
	}
	return strings.Join(parts, ", ")
}

func printField(out io.Writer, name, value string) {
	fmt.Fprintf(out, "  %-13s %s\n", visible(name), visible(value))
}

func moment(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

// visible keeps what a file contains from controlling the terminal.
func visible(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted := strconv.QuoteToGraphic(text)
		return quoted[1 : len(quoted)-1]
	}
	return text
}
