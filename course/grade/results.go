package grade

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/miniredisd/miniredisd/course/stage"
)

// Results are the grade. As JSON they are a results.json of Gradescope.
type Results struct {
	Score  int      `json:"score"`
	Max    int      `json:"-"`
	Output string   `json:"output"`
	Tests  []Result `json:"tests"`
	Extra  *Extra   `json:"extra_data,omitempty"` // Gradescope keeps it, and shows it to nobody
}

// Extra is what a teacher may want to look for in the results of a class.
type Extra struct {
	Finished *FinishedServer `json:"finished_server,omitempty"`
}

// more returns the extra data, for who adds to it.
func (r *Results) more() *Extra {
	if r.Extra == nil {
		r.Extra = &Extra{}
	}
	return r.Extra
}

// Result is the grade of one test.
type Result struct {
	Name     string `json:"name"`
	Number   string `json:"number"`
	Score    int    `json:"score"`
	MaxScore int    `json:"max_score"`
	Status   string `json:"status"` // passed or failed
	Output   string `json:"output"` // why it failed, and how to look at it
}

// Full reports whether every test has all its points.
func (r *Results) Full() bool { return r.Score == r.Max }

func (r *run) headline(title string) {
	r.results.Output = r.Lab.ID + " " + title
	if r.Student != "" {
		r.results.Output += say{", student ", "，学生 "}.in(r.Lang) + r.Student
	}
	if r.Hidden {
		r.results.Output += say{", hidden seed", "，种子不公开"}.in(r.Lang)
	} else {
		r.results.Output += fmt.Sprintf(", seed %d", r.Seed)
	}
	fmt.Fprintf(r.Out, "%s\n\n", r.results.Output)
}

// note keeps the result of a test and prints it.
func (r *run) note(number int, t *test, f *failure, recording string) {
	result := Result{Name: t.name.in(r.Lang), Number: strconv.Itoa(number), MaxScore: t.points, Status: "failed"}
	mark := "✗"
	if f == nil {
		result.Score, result.Status, mark = t.points, "passed", "✓"
	} else {
		result.Output = visible(f.text(r.Lang))
	}
	if recording != "" {
		opens := say{"See what the server did: %s %s", "看服务器做了什么：%s %s"}
		result.Output += "\n" + opens.in(r.Lang, r.Opener, recording)
	}
	fmt.Fprintf(r.Out, "%s %2d  %3d/%-3d  %s\n", mark, number, result.Score, result.MaxScore, result.Name)
	if result.Output != "" {
		fmt.Fprintf(r.Out, "               %s\n", strings.ReplaceAll(result.Output, "\n", "\n               "))
	}
	r.results.Tests = append(r.results.Tests, result)
	r.results.Score += result.Score
	r.results.Max += result.MaxScore
}

// visible replaces what a terminal would obey instead of showing it. A program has written a part of the text.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || unicode.IsPrint(c):
			return c
		case c == '\t':
			return ' '
		}
		return '?'
	}, text)
}

func (r *run) summary() {
	fmt.Fprintln(r.Out, say{"\n%d of %d points", "\n%d 分，满分 %d 分"}.in(r.Lang, r.results.Score, r.results.Max))
}

// saveRecording writes the recording of a failed test and returns its path, or "" if there is none. A recording that
// cannot be written costs nobody the grade.
func (s *story) saveRecording() string {
	write := func(w io.Writer) error {
		_, err := w.Write(s.recorded)
		return err
	}
	if s.servers != nil {
		recording := s.servers.EndRecording(1)
		if recording == nil || len(recording.Lines) == 0 {
			return ""
		}
		recording.Lines = stage.Decisive(recording.Lines)
		if len(recording.Lines) > mostLines {
			recording.Lines = recording.Lines[len(recording.Lines)-mostLines:]
		}
		write = recording.Write
	}
	if s.run.Recordings == "" || s.servers == nil && s.recorded == nil {
		return ""
	}
	path := filepath.Join(s.run.Recordings, fmt.Sprintf("%s-%d.loop.gz", s.run.Lab.ID, s.number))
	if err := saveIn(path, write); err != nil {
		note := say{"   The recording cannot be written: %v.", "   无法写入录像：%v。"}
		fmt.Fprintln(s.run.Out, note.in(s.run.Lang, err))
		return ""
	}
	return path
}

// saveIn writes a new file, and its folder. Whatever had the name before is replaced, and not written to.
func saveIn(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = cmp.Or(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_, _ = f.Close(), os.Remove(f.Name()) // the first error counts
	}
	return err
}

// mostLines bounds a recording. A picture of more events helps nobody.
const mostLines = 2000
