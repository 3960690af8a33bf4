package report

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/lab/explore/report/clean"
)

// JSONFormat names the shape of the JSON report. It changes with the shape.
const JSONFormat = "miniredisd-explore/1"

// document is the JSON report. The same program, seed and version make the same Report, byte for byte.
// What may differ from run to run is in Run.
type document struct {
	Format string     `json:"format"`
	Report jsonReport `json:"report"`
	Run    jsonRun    `json:"run"`
}

// jsonReport is the part that is equal in each run. Indexes count from 0.
type jsonReport struct {
	// broken, by-itself, hangs, out-of-time, undecided, nothing-tried, nothing-broken
	Verdict   string         `json:"verdict"`
	Program   []string       `json:"program"` // without passwords
	InTest    bool           `json:"in_test"` // program is the name of a test
	Seed      uint64         `json:"seed,string"`
	Masters   int            `json:"masters"`
	Server    []string       `json:"server,omitempty"` // more words of the servers' command line
	On        string         `json:"on,omitempty"`     // what the servers are, if they are foreign
	Baselines int            `json:"baselines"`
	Trials    int            `json:"trials"`
	Confirms  int            `json:"confirms"`
	Untried   int            `json:"untried"`
	OutOfTime bool           `json:"out_of_time"`
	Counts    map[string]int `json:"counts"` // of the cells and pairs with each mark
	Points    []jsonPoint    `json:"points"`
	Faults    []jsonFault    `json:"faults"`
	Cells     [][]jsonCell   `json:"cells"` // a row for each point, in it one cell for each fault
	Pairs     []jsonPair     `json:"pairs"`
	Findings  []jsonFinding  `json:"findings"`        // those of a mistake follow each other, the worst mistake first
	Mistakes  []jsonMistake  `json:"mistakes"`        // in the order of their findings
	Notes     []string       `json:"notes,omitempty"` // what these trials cannot show
}

type jsonPoint struct {
	Client   string `json:"client"`
	N        int    `json:"n"` // from 1
	Command  string `json:"command"`
	Key      string `json:"key"`
	Master   int    `json:"master"` // from 1
	Message  bool   `json:"message"`
	Writes   bool   `json:"writes"`
	Unstable bool   `json:"unstable"`
}

type jsonFault struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Sentence string `json:"sentence"`
}

type jsonCell struct {
	Mark    string `json:"mark"` // one of marks
	Why     string `json:"why,omitempty"`
	Finding *int   `json:"finding,omitempty"` // index into findings
}

type jsonStrike struct {
	Point int `json:"point"`
	Fault int `json:"fault"`
}

type jsonPair struct {
	Strikes []jsonStrike `json:"strikes"`
	jsonCell
}

type jsonFinding struct {
	Mark     string       `json:"mark"`
	Strikes  []jsonStrike `json:"strikes"`
	Sentence string       `json:"sentence"`
	// two-holders, no-legal-order, for-ever, never-wakes, check-fails, never-ends, other
	Harm     string   `json:"harm"`
	Lock     string   `json:"lock"`
	Clients  []string `json:"clients"`
	FromMS   int64    `json:"from_ms"` // of the harm, since the start of the trial, by the lab's clock
	Reason   string   `json:"reason"`
	Fix      string   `json:"fix"`
	Commands []string `json:"commands"`
	With     int      `json:"with"`    // how often it broke with the failure
	Without  int      `json:"without"` // and without it
	Of       int      `json:"of"`      // in so many runs each
}

// jsonMistake is what several findings have in common.
type jsonMistake struct {
	Mark string `json:"mark"`
	// setnx-then-expire, lock-without-ttl, owner-gone, renewal-drops-ttl, get-then-del, not-the-owner, token-not-unique;
	// the harm of its findings if nobody knows more; by-itself
	Name     string `json:"name"`
	Title    string `json:"title"` // in English
	Lock     string `json:"lock"`
	Reason   string `json:"reason"`
	Fix      string `json:"fix"`
	Findings []int  `json:"findings"` // indexes into findings; the first one takes least to make again
}

// jsonRun is what may differ in each run.
type jsonRun struct {
	TookMS   int64          `json:"took_ms"`           // of all runs together
	WallMS   int64          `json:"wall_ms,omitempty"` // from the first run to the end of the last; 0 if nobody knows
	CPUMS    int64          `json:"cpu_ms,omitempty"`  // processor time of the program; 0 if nobody knows
	Evidence []jsonEvidence `json:"evidence"`          // one for each finding
}

// jsonEvidence is what one run of a finding left behind.
type jsonEvidence struct {
	Output  string        `json:"output"`             // the last lines that the program printed
	History []lab.History `json:"history"`            // without passwords, as the verdict reads it
	SVG     string        `json:"svg,omitempty"`      // the picture
	Loop    []byte        `json:"loop,omitempty"`     // a .loop.gz in base64
	LeftOut []string      `json:"left_out,omitempty"` // of history, svg and loop: what is too big
}

// Bounds of the evidence that JSON and HTML carry, in bytes.
const (
	mostPicture   = 1 << 20
	mostLoop      = 4 << 20
	mostEvidence  = 32 << 20 // of a whole report
	mostHistories = 2000     // entries of a finding in JSON
	mostText      = 4096     // characters of a text in JSON
)

// JSON writes a report as JSON with two spaces. Names, keys and outputs are text: bytes that are not are
// escaped as \xHH.
func JSON(w io.Writer, r *explore.Report) error {
	d := document{Format: JSONFormat, Report: reportOf(r), Run: jsonRun{
		TookMS: r.Took.Milliseconds(), WallMS: r.Wall.Milliseconds(), CPUMS: r.CPU.Milliseconds(),
	}}
	budget := mostEvidence
	d.Run.Evidence = []jsonEvidence{}
	for _, f := range facts(r) {
		d.Run.Evidence = append(d.Run.Evidence, evidenceOf(f.Finding, &budget))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

func reportOf(r *explore.Report) jsonReport {
	groups := mistakes(r)
	all := factsOf(groups)
	j := jsonReport{
		Verdict: verdictOf(r), Program: cleanAll(clean.Program(r.Program)), InTest: r.InTest, Seed: r.Seed,
		Masters: r.Masters, Server: r.Server, On: r.On, Baselines: r.Baselines, Trials: r.Trials, Confirms: r.Confirms,
		Untried:   r.Untried,
		OutOfTime: r.OutOfTime, Counts: map[string]int{}, Points: []jsonPoint{}, Faults: []jsonFault{},
		Notes: cleanAll(r.Notes), Cells: [][]jsonCell{}, Pairs: []jsonPair{}, Findings: []jsonFinding{},
		Mistakes: mistakesJSON(groups),
	}
	n := counts(r)
	for _, m := range marks() {
		j.Counts[word(m)] = n[m]
	}
	for i, p := range r.Points {
		j.Points = append(j.Points, jsonPoint{clean.Text(p.Client, mostText), p.N, clean.Text(p.Command, mostText),
			clean.Text(p.Key, mostText), p.Master, p.Message, p.Writes, p.Unstable})
		row := []jsonCell{}
		for k := range r.Faults {
			row = append(row, cellJSON(all, cellOf(r, i, k)))
		}
		j.Cells = append(j.Cells, row)
	}
	for _, f := range r.Faults {
		j.Faults = append(j.Faults,
			jsonFault{clean.Text(f.Name, mostText), clean.Text(f.Title, mostText), clean.Text(f.Sentence, mostText)})
	}
	for _, p := range r.Pairs {
		j.Pairs = append(j.Pairs, jsonPair{strikesJSON(p.Strikes[:]), cellJSON(all, p.Cell)})
	}
	for _, f := range all {
		lines, _ := commands(f.Finding)
		j.Findings = append(j.Findings, jsonFinding{
			Mark: word(f.mark), Strikes: strikesJSON(f.Strikes), Sentence: clean.Text(f.Sentence, mostText),
			Harm: harm(f.Harm), Lock: clean.Text(f.Lock, mostText), Clients: cleanAll(f.Clients), FromMS: f.From.Milliseconds(),
			Reason: clean.Text(f.Reason, mostText), Fix: clean.Text(f.Fix, mostText), Commands: cleanAll(lines),
			With: f.With, Without: f.Without, Of: f.Of,
		})
	}
	return j
}

func mistakesJSON(groups []mistake) []jsonMistake {
	english, _ := languageOf("en") // it exists
	all, n := []jsonMistake{}, 0
	for _, m := range groups {
		j := jsonMistake{
			Mark: word(m.mark), Name: clean.Text(m.name, mostText), Title: english.title(m), Lock: clean.Text(m.lock, mostText),
			Reason: clean.Text(m.reason, mostText), Fix: clean.Text(m.fix, mostText),
		}
		for range m.facts {
			j.Findings = append(j.Findings, n)
			n++
		}
		all = append(all, j)
	}
	return all
}

func cellJSON(all []fact, c explore.Cell) jsonCell {
	j := jsonCell{Mark: word(c.Mark), Why: clean.Text(c.Why, mostText)}
	if n := numberOf(all, c.Finding); n > 0 {
		n--
		j.Finding = &n
	}
	return j
}

func strikesJSON(all []explore.Strike) []jsonStrike {
	j := []jsonStrike{}
	for _, s := range all {
		j = append(j, jsonStrike(s))
	}
	return j
}

func cleanAll(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = clean.Text(w, mostText)
	}
	return all
}

// evidenceOf returns what a finding's run left behind, and takes its size from budget.
func evidenceOf(f *explore.Finding, budget *int) jsonEvidence {
	output, _ := clean.Lines(f.Output)
	e := jsonEvidence{Output: strings.Join(output, "\n"), History: []lab.History{}}
	entries := 0
	for _, h := range f.History {
		entries += len(h.Entries)
	}
	if entries <= mostHistories {
		for _, h := range f.History {
			e.History = append(e.History, hideHistory(h))
		}
	} else {
		e.LeftOut = append(e.LeftOut, "history")
	}
	take := func(name string, b []byte, most int) []byte {
		if len(b) > min(most, *budget) {
			e.LeftOut = append(e.LeftOut, name)
			return nil
		}
		*budget -= len(b)
		return b
	}
	e.SVG = string(take("svg", f.SVG["en"], mostPicture))
	e.Loop = take("loop", f.Loop, mostLoop)
	return e
}

// hideHistory returns a history without passwords, and with short texts.
func hideHistory(h lab.History) lab.History {
	entries := make([]lab.Entry, len(h.Entries))
	for i, e := range h.Entries {
		if clean.TellsSecrets(e.Cmd) {
			e.Reply = clean.Hidden
		}
		e.Cmd = cleanAll(clean.Words(e.Cmd))
		e.Key, e.Name, e.Event = clean.Text(e.Key, mostText), clean.Text(e.Name, mostText), clean.Text(e.Event, mostText)
		e.Reply, e.Keys, e.Changes = clean.Text(e.Reply, mostText), cleanAll(e.Keys), cleanChanges(e.Changes)
		entries[i] = e
	}
	h.Entries = entries
	return h
}

func cleanChanges(changes []lab.Change) (all []lab.Change) {
	for _, c := range changes {
		c.Key, c.Before, c.After = clean.Text(c.Key, mostText), cleanValue(c.Before), cleanValue(c.After)
		all = append(all, c)
	}
	return all
}

func cleanValue(v *lab.Value) *lab.Value {
	if v == nil {
		return nil
	}
	cleaned := *v
	cleaned.Text, cleaned.Parts = clean.Text(v.Text, mostText), slices.Clone(v.Parts)
	for i := range cleaned.Parts {
		p := &cleaned.Parts[i]
		p.Name, p.Value = clean.Text(p.Name, mostText), clean.Text(p.Value, mostText)
	}
	return &cleaned
}
