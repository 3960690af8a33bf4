package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/miniredisd/miniredisd/course/grade"
	"github.com/miniredisd/miniredisd/course/labs"
)

const gradeUsage = `miniredisd grade list [--lang en|zh]
miniredisd grade LAB [--lang en|zh]                        the task
miniredisd grade LAB --hint 1|2|3
miniredisd grade LAB --template python|java|javascript|go|c|rust DIR
miniredisd grade LAB [--seed N | --student NAME [--secret FILE]] [--results FILE] [--recordings DIR]
                     [--lang en|zh] -- COMMAND...
`

// The exit codes of grade.
const (
	gradeFull  = 0
	gradeLess  = 1
	gradeWrong = 2 // there is no grade
)

// gradeLab is the subcommand grade: it shows a lab, or grades a program.
func gradeLab(args []string, out, errs io.Writer) int {
	runtime.UnlockOSThread() // no server runs in this thread
	code, err := gradeWords(args, out, errs)
	if err != nil {
		fmt.Fprintln(errs, "grade:", err)
		return gradeWrong
	}
	return code
}

// gradeFlags are the words between the lab and the command.
type gradeFlags struct {
	seed                uint64
	student, secret     string // the seed comes from them
	results, recordings string
	lang, template      string
	hint                int
}

func gradeWords(args []string, out, errs io.Writer) (int, error) {
	var command []string
	if at := slices.Index(args, "--"); at >= 0 {
		args, command = args[:at], args[at+1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		fmt.Fprint(errs, gradeUsage)
		return gradeWrong, nil
	}
	var f gradeFlags
	flags := flag.NewFlagSet("grade", flag.ContinueOnError)
	flags.Uint64Var(&f.seed, "seed", 1, "")
	flags.StringVar(&f.student, "student", "", "")
	flags.StringVar(&f.secret, "secret", "", "")
	flags.StringVar(&f.results, "results", "", "")
	flags.StringVar(&f.recordings, "recordings", "recordings", "")
	flags.StringVar(&f.lang, "lang", "en", "")
	flags.StringVar(&f.template, "template", "", "")
	flags.IntVar(&f.hint, "hint", 0, "")
	if !parseFlags(flags, args[1:], errs) {
		return gradeWrong, nil
	}
	if f.lang != "en" && f.lang != "zh" {
		return gradeWrong, fmt.Errorf("--lang is en or zh, not '%s'", f.lang)
	}
	if args[0] == "list" {
		return gradeFull, listLabs(out, f.lang)
	}
	lab, err := grade.Find(args[0])
	switch {
	case err != nil:
		return gradeWrong, err
	case f.template != "":
		return gradeFull, writeTemplate(lab, f, flags.Args(), out)
	case flags.NArg() > 0:
		return gradeWrong, fmt.Errorf("'%s' is unexpected: the command of your program follows --", flags.Arg(0))
	case len(command) == 0:
		return gradeFull, showLab(lab, f, out)
	}
	given := map[string]bool{}
	flags.Visit(func(one *flag.Flag) { given[one.Name] = true })
	if err := f.setSeed(lab.ID, given); err != nil {
		return gradeWrong, err
	}
	return gradeProgram(lab, f, command, out)
}

// setSeed derives the seed from the name of a student, and from the secret of a teacher.
func (f *gradeFlags) setSeed(lab string, given map[string]bool) error {
	switch {
	case given["student"] && given["seed"]:
		return errors.New("--student makes the seed: leave --seed out")
	case given["student"] && f.student == "":
		return errors.New("--student expects a name")
	case given["secret"] && !given["student"]:
		return errors.New("--secret needs --student")
	case !given["student"]:
		return nil
	}
	secret := ""
	if given["secret"] {
		text, err := os.ReadFile(f.secret)
		if err != nil {
			return err
		}
		if secret = strings.TrimSpace(string(text)); secret == "" {
			return fmt.Errorf("--secret: %s is empty", f.secret)
		}
	}
	f.seed = grade.SeedOf(lab, f.student, secret)
	return nil
}

// listLabs prints one line for each lab.
func listLabs(out io.Writer, lang string) error {
	form := "%s  %3s min  %s  %s: %s\n"
	if lang == "zh" {
		form = "%s  %3s 分钟  %s  %s：%s\n"
	}
	for _, l := range grade.List() {
		text, err := l.Text(lang)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, form, l.ID, text.Minutes, stars(text.Level), text.Title, text.Idea)
	}
	return nil
}

// stars shows how difficult a lab is, from 1 to 5.
func stars(level string) string {
	n := min(max(int(level[0]-'0'), 0), 5)
	return strings.Repeat("*", n) + strings.Repeat(".", 5-n)
}

// showLab prints the task of a lab, or one of its hints.
func showLab(l *grade.Lab, f gradeFlags, out io.Writer) error {
	text, err := l.Text(f.lang)
	if err != nil {
		return err
	}
	switch {
	case f.hint > 0 && f.hint <= len(text.Hints):
		fmt.Fprintln(out, text.Hints[f.hint-1])
	case f.hint != 0:
		return fmt.Errorf("there are hints from 1 to %d", len(text.Hints))
	default:
		form := "%s %s\n%s\n\n## Task\n\n%s\n\n## What is judged\n\n%s\n\nBegin with: %s\n"
		if f.lang == "zh" {
			form = "%s %s\n%s\n\n## 任务\n\n%s\n\n## 评分\n\n%s\n\n开始：%s\n"
		}
		begin := fmt.Sprintf("miniredisd grade %[1]s --template python %[1]s", l.ID)
		fmt.Fprintf(out, form, l.ID, text.Title, text.Idea, text.Task, text.Judged, begin)
	}
	return nil
}

func writeTemplate(l *grade.Lab, f gradeFlags, rest []string, out io.Writer) error {
	language := f.template
	if len(rest) != 1 {
		return errors.New("--template expects a language and a folder")
	}
	if language == "javascript" {
		language = "node" // the skeletons use its modules
	}
	names, err := l.WriteTemplate(language, rest[0])
	for _, name := range names {
		fmt.Fprintln(out, filepath.Join(rest[0], name))
	}
	if err == nil {
		then := "then: %s\n"
		if f.lang == "zh" {
			then = "接下来：%s\n"
		}
		fmt.Fprintf(out, then, howToGrade(l.ID, language, rest[0]))
	}
	return err
}

// howToGrade is the command that grades a skeleton.
func howToGrade(id, language, dir string) string {
	build, run := labs.Command(language)
	if build != "" {
		build += " && "
	}
	return fmt.Sprintf("cd %s && %sminiredisd grade %s -- %s", dir, build, id, run)
}

func gradeProgram(l *grade.Lab, f gradeFlags, command []string, out io.Writer) (int, error) {
	// These would end the grader and leave the program behind.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	// SIGPIPE also comes from an order to a program that has ended. The write fails, which is enough. A signal
	// that is ignored would be ignored in the program, too.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	keep := func(*grade.Results) error { return nil }
	if f.results != "" {
		file, err := grade.Begin(f.results, f.lang)
		if err != nil {
			return gradeWrong, err
		}
		keep = file.Write
	}
	shown := &points{Writer: out, leave: leave}
	r, err := grade.Run(ctx, grade.Options{
		Lab: l, Command: command, Seed: f.seed, Student: f.student, Hidden: f.secret != "", Lang: f.lang,
		Recordings: f.recordings, Opener: filepath.Base(os.Args[0]) + " watch", Out: shown, Alone: true,
	})
	if r != nil {
		err = errors.Join(err, keep(r))
	}
	switch {
	case shown.unread:
		return gradeWrong, errors.New("nobody reads the points any more")
	case err != nil:
		return gradeWrong, err
	case !r.Full():
		return gradeLess, nil
	}
	return gradeFull, nil
}

// points is where the points go. Without a reader the grader stops.
type points struct {
	io.Writer
	leave  func()
	unread bool
}

func (p *points) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.unread = true
		p.leave()
	}
	return n, err
}
