package documents

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A session plays the blocks of a page, in order, as a reader does: each in the terminal of the block
// before, or in a new one if a server runs there.
type session struct {
	page   page
	log    io.Writer
	folder string        // for scripts and logs of the session
	quiet  time.Duration // how long a command may do nothing
	shells []*shell
	clis   map[string]*cli
	before []block // they come before each console block
	server *shell  // that of the last mark "server"
}

// errMissing is the error of a page that needs a program or a module that is not on this machine.
var errMissing = errors.New("it is not on this machine")

// play plays the whole page. An error names the page, the line and the command.
func (s *session) play() error {
	for _, b := range s.page.blocks {
		began := time.Now()
		if b.skips("") {
			continue
		}
		if err := s.block(b); err != nil {
			return err
		}
		fmt.Fprintf(s.log, "%s:%d: ok, %.1f s\n", s.page.name, b.line, time.Since(began).Seconds())
	}
	return s.end()
}

func (s *session) block(b block) error {
	if b.has("new session") {
		if err := s.end(); err != nil {
			return err
		}
	}
	if err := s.serve(b); err != nil {
		return err
	}
	sh, err := s.free()
	if err != nil {
		return err
	}
	if err := s.asked(sh, b, "in", "cd "); err != nil {
		return err
	}
	if err := s.asked(sh, b, "first", ""); err != nil {
		return err
	}
	if b.language == "sh" {
		err = s.script(sh, b)
	} else {
		err = s.consoles(sh, b)
	}
	if err != nil || !b.has("then") {
		return err
	}
	if sh, err = s.free(); err != nil { // a server may run in the other terminal now
		return err
	}
	return s.asked(sh, b, "then", "")
}

// asked runs the commands of the marks with a verb.
func (s *session) asked(sh *shell, b block, verb, prefix string) error {
	for _, words := range b.words(verb) {
		if err := s.ask(sh, b.line, prefix+words); err != nil {
			return err
		}
	}
	return nil
}

// consoles plays a block of console. Before it come the blocks that have to come before each, and its
// redis-clis are new ones.
func (s *session) consoles(sh *shell, b block) error {
	s.clis = map[string]*cli{}
	for _, earlier := range s.before {
		if err := s.console(sh, earlier); err != nil {
			return err
		}
	}
	if b.has("before each") {
		s.before = append(s.before, b)
	}
	return s.console(sh, b)
}

// serve obeys the marks "server": it starts this server in a terminal of its own, in place of the last one.
func (s *session) serve(b block) error {
	for _, options := range b.words("server") {
		if s.server != nil {
			if err := s.stop(s.server); err != nil {
				return err
			}
		}
		sh, err := s.newShell()
		if err != nil {
			return err
		}
		if err := s.ask(sh, b.line, strings.TrimSpace("miniredisd "+options)); err != nil {
			return err
		}
		if s.server = sh; sh.serving == "" {
			return fmt.Errorf("%s:%d: this is no server: %s", s.page.name, b.line, options)
		}
	}
	return nil
}

// ask runs a command of a mark, which must not fail.
func (s *session) ask(sh *shell, line int, command string) error {
	r, err := s.run(sh, line, command, command)
	if err == nil && r.status != 0 {
		err = s.failure(line, command, fmt.Sprintf("exit status %d", r.status), r.output)
	}
	return err
}

// script plays a block of sh: every command has to end with 0, or to serve. A server that is not the last
// line is ended by Ctrl-C. So a block cannot use a server that it keeps in the foreground.
func (s *session) script(sh *shell, b block) error {
	commands, err := complete(b.lines)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", s.page.name, b.line, err)
	}
	for _, c := range commands {
		line := b.line + c.line
		if b.skips(c.text) {
			continue
		}
		if sh.serving != "" {
			if err := s.stop(sh); err != nil {
				return err
			}
		}
		r, err := s.run(sh, line, inBackground(c.text, line, s.folder), c.text)
		if err != nil {
			return err
		}
		if code := max(r.status, r.failed); code != 0 {
			return s.failure(line, c.text, fmt.Sprintf("exit status %d", code), r.output)
		}
		if at := slices.IndexFunc(strings.Split(r.output, "\n"), isError); at >= 0 {
			return s.failure(line, c.text, "an error", r.output)
		}
	}
	return s.jobs(sh)
}

// console plays a block of console: what the terminals show has to be what the page shows.
func (s *session) console(sh *shell, b block) error {
	steps, err := b.steps()
	if err != nil {
		return err
	}
	if err := s.openCLIs(steps); err != nil {
		return err
	}
	for _, st := range steps {
		switch {
		case b.skips(st.text):
			continue
		case st.prompt == "$":
			err = s.command(sh, b, st)
		default:
			err = s.request(b, st)
		}
		if err != nil {
			return err
		}
	}
	if sh.serving != "" {
		return nil
	}
	return s.jobs(sh)
}

// command plays a line of a console block in a shell. Its exit status counts where the page shows nothing
// of what it printed.
func (s *session) command(sh *shell, b block, st step) error {
	if sh.serving != "" {
		if err := s.stop(sh); err != nil {
			return err
		}
	}
	r, err := s.run(sh, st.line, inBackground(st.text, st.line, s.folder), st.text)
	if err != nil || r.serves {
		return err
	}
	if problem := compare(st.want, r.output, b.words("any")); problem != "" {
		return s.failure(st.line, st.text, problem, "")
	}
	if r.status != 0 && !slices.ContainsFunc(st.want, func(w string) bool { return w != "..." }) {
		return s.failure(st.line, st.text, fmt.Sprintf("exit status %d", r.status), r.output)
	}
	return nil
}

// openCLIs starts the redis-clis of a block, before its first line: a later one may stop the server.
func (s *session) openCLIs(steps []step) error {
	for _, st := range steps {
		name := st.client()
		if name == "$" || s.clis[name] != nil {
			continue
		}
		c, err := openCLI(name, s.quiet)
		if errors.Is(err, exec.ErrNotFound) {
			return s.missing(st.line, "redis-cli")
		}
		if err != nil {
			return s.failure(st.line, "redis-cli", err.Error(), "")
		}
		s.clis[name] = c
	}
	return nil
}

// request plays a line of a console block in a redis-cli.
func (s *session) request(b block, st step) error {
	c := s.clis[st.client()]
	var shown string
	var err error
	if st.later {
		shown, err = c.reply(s.quiet)
	} else {
		shown, err = c.do(st, s.quiet)
	}
	if err != nil {
		return s.failure(st.line, st.text, err.Error(), shown)
	}
	if problem := compare(st.want, shown, b.words("any")); problem != "" {
		return s.failure(st.line, st.text, problem, "")
	}
	return nil
}

// run executes a command. shown is what the page calls it.
func (s *session) run(sh *shell, line int, command, shown string) (result, error) {
	open := listening()
	r, err := sh.run(command, s.quiet)
	switch {
	case err != nil:
		return r, s.failure(line, shown, err.Error(), r.output)
	case isMissing(r):
		return r, s.missing(line, shown+"\n"+r.output)
	case r.serves:
		sh.serving = fmt.Sprintf("%s:%d: %s", s.page.name, line, shown)
		fmt.Fprintf(s.log, "%s: serves\n", sh.serving)
		if strings.Contains(r.output, "connections tcp") && !anyAnswers(listening(), open) {
			return r, s.failure(line, shown, "it says that it is ready, and answers no PING", r.output)
		}
	}
	return r, nil
}

// isMissing reports whether bash did not find a program, or the go command a module in its cache.
func isMissing(r result) bool {
	return max(r.status, r.failed) == 127 && strings.Contains(r.output, ": command not found") ||
		r.status != 0 && strings.Contains(r.output, ": reading file://")
}

// jobs looks at what has ended in the background of a terminal.
func (s *session) jobs(sh *shell) error {
	if sh.serving != "" {
		return nil
	}
	r, err := sh.run(endedJobs, s.quiet)
	if err != nil {
		return fmt.Errorf("%s: %w", s.page.name, err)
	}
	// Other processes may write to the terminal, too.
	ended := regexp.MustCompile(`(?m)^\d+: the command in the background .*$`).FindString(r.output)
	if ended == "" {
		return nil
	}
	log, _ := os.ReadFile(filepath.Join(s.folder, "background"))
	return fmt.Errorf("%s:%s\n%s", s.page.name, ended, log)
}

// stop ends the server of a terminal by Ctrl-C. In good time it has to end with 0, or to say goodbye: the go
// command and strace end with 1 after Ctrl-C, whatever their program does.
func (s *session) stop(sh *shell) error {
	serving := sh.serving
	r, err := sh.interrupt(s.quiet)
	if err == nil && r.status != 0 && !r.saysGoodbye() {
		err = fmt.Errorf("exit status %d", r.status)
	}
	if err != nil {
		return fmt.Errorf("%s: after Ctrl-C: %w\n%s", serving, err, r.output)
	}
	return nil
}

// end ends every server and all that runs in the background, and forgets the terminals.
func (s *session) end() error {
	for _, sh := range s.shells {
		if err := s.jobs(sh); err != nil {
			return err
		}
	}
	for _, sh := range s.shells {
		if sh.serving != "" {
			if err := s.stop(sh); err != nil {
				return err
			}
		}
		if r, err := sh.run(endJobs, s.quiet); err != nil {
			return fmt.Errorf("%s: the jobs in the background do not end: %w\n%s", s.page.name, err, r.output)
		}
	}
	s.shells, s.server = nil, nil
	return nil
}

// free returns a terminal in which nothing runs in the foreground.
func (s *session) free() (*shell, error) {
	for _, sh := range slices.Backward(s.shells) {
		if sh.serving == "" {
			return sh, nil
		}
	}
	return s.newShell()
}

func (s *session) newShell() (*shell, error) {
	sh, err := openShell(s.folder)
	if err == nil {
		s.shells = append(s.shells, sh)
	}
	return sh, err
}

func (s *session) failure(line int, command, problem, output string) error {
	return fmt.Errorf("%s:%d: %s: %s\n%s", s.page.name, line, command, problem, output)
}

func (s *session) missing(line int, what string) error {
	return fmt.Errorf("%s:%d: %w: %s", s.page.name, line, errMissing, what)
}
