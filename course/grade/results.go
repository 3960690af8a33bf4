package grade

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/miniredisd/miniredisd/course/stage"
)

// Results are the grade. As JSON they are a results.json of Gradescope.
type Results struct {
	Score  int      `json:"score"`
	Max    int      `json:"-"`
	Output string   `json:"output"`
	Tests  []Result `json:"tests"`
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

// Write writes results.json.
func (r *Results) Write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

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
		result.Output = f.text(r.Lang)
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

func (r *run) summary() {
	fmt.Fprintln(r.Out, say{"\n%d of %d points", "\n%d 分，满分 %d 分"}.in(r.Lang, r.results.Score, r.results.Max))
}

// saveRecording writes the recording of a failed test and returns its path, or "" if there is none.
func (s *story) saveRecording() (path string, err error) {
	write := func(w io.Writer) error {
		_, err := w.Write(s.recorded)
		return err
	}
	if s.servers != nil {
		recording := s.servers.EndRecording(1)
		if recording == nil || len(recording.Lines) == 0 {
			return "", nil
		}
		recording.Lines = stage.Decisive(recording.Lines)
		if len(recording.Lines) > mostLines {
			recording.Lines = recording.Lines[len(recording.Lines)-mostLines:]
		}
		write = recording.Write
	}
	if s.run.Recordings == "" || s.servers == nil && s.recorded == nil {
		return "", nil
	}
	if err := os.MkdirAll(s.run.Recordings, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(s.run.Recordings, fmt.Sprintf("%s-%d.loop.gz", s.run.Lab.ID, s.number))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := write(f); err != nil {
		f.Close()
		return "", err
	}
	return path, f.Close()
}

// mostLines bounds a recording. A picture of more events helps nobody.
const mostLines = 2000
