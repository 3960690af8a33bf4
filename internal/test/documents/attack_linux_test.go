package documents

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

const fence = "```"

// fakeServer stands in for miniredisd. It writes its options to a file.
const fakeServer = `#!/bin/bash
[ "$1" != --version ] || exit 0
trap "rm -f $1; exit 0" INT
touch -- "$1"
echo "(Ctrl-C ends this)"
while sleep 0.1; do :; done`

// waits is a command that ends by a signal. (A signal just before bash's read would not end that.)
const waits = "while sleep 0.1; do :; done"

// playText plays a page of its own in an empty folder.
func playText(t *testing.T, quiet time.Duration, text string) (output string, code int) {
	t.Helper()
	tmp := t.TempDir()
	folder := filepath.Join(tmp, filepath.Base(sandboxTop))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "page.md"), []byte(text), 0o600))
	bin := filepath.Join(tmp, filepath.Base(sandboxBin))
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "miniredisd"), []byte(fakeServer), 0o755))
	output, code = sandbox(t, tmp, "page.md", quiet)
	if code == exitNoSandbox {
		judge(t, output, code)
	}
	return output, code
}

func sh(lines ...string) string {
	return fence + "sh\n" + strings.Join(lines, "\n") + "\n" + fence + "\n"
}

func console(lines ...string) string {
	return fence + "console\n" + strings.Join(lines, "\n") + "\n" + fence + "\n"
}

// Each page fails, and says where and why.
func TestAPageThatDoesNotDoWhatItSaysFails(t *testing.T) {
	for name, row := range map[string]struct{ page, says string }{
		"a command":             {sh("true", "false"), "page.md:3: false: exit status 1"},
		"in a pipe":             {sh("false | cat"), "page.md:2: false | cat: exit status 1"},
		"in a loop":             {sh("for i in 1 2; do", "    [ $i = 2 ]", "done; true"), "page.md:2: for i in 1 2; do"},
		"before &":              {sh("false && true &", "while kill -0 $!; do :; done"), "page.md:2: the command in the"},
		"in a loop that serves": {sh("for i in 1; do", "echo '(Ctrl-C ends this)'", "false; done"), "exit status 1"},
		"half a command":        {sh("for i in 1 2; do", "true"), "page.md:1: this is not a complete command"},
		"no file":               {sh("./no-such-file"), "exit status 127"},
		"ends the shell":        {sh("exit 0", "true"), "page.md:3: true: the program of this terminal has ended"},
		"is no shell any more":  {sh("exec bash -c :"), "the program of this terminal has ended"},
		"writes for ever":       {sh("while :; do printf %9999d 1; done"), "it writes without end"},
		"serves nobody":         {sh("echo Ready to accept connections tcp; sleep 1000"), "answers no PING"},
		"a bad end":             {sh("(trap 'exit 7' INT; echo '(Ctrl-C ends this)'; " + waits + ")"), "exit status 7"},
		"an error of a server":  {sh("echo '(error) ERR unknown command'"), "command': an error"},
		"an error over HTTP":    {sh(`echo '{"ok":false}'`), ": an error"},
		"other output":          {console("$ echo b", "a"), "  page:     a\n  terminal: b\n"},
		"no output":             {console("$ true", "a"), "  page:     a\n  terminal: (nothing)\n"},
		"more output":           {console("$ echo a; echo b", "a"), "page.md:2: echo a; echo b: the page and the"},
		"an error behind dots":  {console("$ echo '(error) ERR x'", "..."), "the page hides an error"},
		"a status behind dots":  {console("$ echo a; false", "..."), "page.md:2: echo a; false: exit status 1"},
		"is no server":          {"<!-- run: server --version -->\n" + sh("true"), "page.md:2: this is no server: --version"},
		"no folder":             {"<!-- run: in nowhere -->\n" + sh("true"), "page.md:2: cd nowhere: exit status 1"},
		"no preparation":        {"<!-- run: first false -->\n" + sh("true"), "page.md:2: false: exit status 1"},
		"no consequence":        {"<!-- run: then false -->\n" + sh("true"), "page.md:2: false: exit status 1"},
	} {
		if !amount.Picked(name, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, code := playText(t, quietLimit, row.page)
			require.Equal(t, exitFailed, code, output)
			require.Contains(t, output, row.says)
		})
	}
}

// A command without an end does not hang the test.
func TestAPageThatWaitsForEverFails(t *testing.T) {
	for name, page := range map[string]string{
		"sleeps":                sh("sleep 1000"),
		"reads":                 sh("cat"),
		"works":                 sh("while :; do :; done"),
		"never prints":          console("$ sleep 1000", "done"),
		"does not mind Ctrl-C":  sh("(trap '' INT; echo '(Ctrl-C ends this)'; sleep 1000)"),
		"does not mind SIGTERM": sh("(trap '' TERM; echo > deaf; sleep 1000) & until [ -s deaf ]; do sleep 0.01; done"),
	} {
		if !amount.Picked(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, code := playText(t, time.Second/5, page)
			require.Equal(t, exitFailed, code, output)
			require.Contains(t, output, "it neither ends nor serves")
		})
	}
}

// A script without job control starts its background with SIGINT ignored.
func TestCtrlCEndsAServerAlsoIfTheTestsIgnoreIt(t *testing.T) {
	signal.Ignore(os.Interrupt)
	t.Cleanup(func() { signal.Reset(os.Interrupt) })
	output, code := playText(t, quietLimit/10, sh("miniredisd one", "[ ! -f one ]"))
	require.Equal(t, exitPlayed, code, output)
}

func TestAToolThatIsMissingIsReported(t *testing.T) {
	for _, text := range []string{sh("no-such-tool --version"), console("$ no-such-tool", "1"),
		sh("for i in 1; do", "no-such-tool | cat", "done; true")} {
		output, code := playText(t, quietLimit, text)
		require.Equal(t, exitMissing, code, output)
		require.Contains(t, output, "no-such-tool")
	}
}

func TestBlocksOfAPageAreOneSession(t *testing.T) {
	serve := "trap 'echo bye; exit' INT; echo '(Ctrl-C ends this)'; " + waits
	output, code := playText(t, quietLimit, ""+
		sh("mkdir a && cd a && x=1", "sleep 1000 &", "kill $!", "(wait)")+
		"In between stands text.\n\n"+
		console("$ echo $x ${PWD##*/}    # a comment", "1 a", "$ sleep 1000 &", "$ kill $!",
			"$ [ -t 1 ] && echo a terminal", "a ...")+
		sh("("+serve+")", "echo the server before has ended > ended", "("+serve+")")+
		"The second server runs, so this is another terminal:\n"+
		console("$ echo ${PWD##*/} $x; cat a/ended", "miniredisd", "the server before has ended")+
		"<!-- run: new session -->\n<!-- run: any 7 -->\n"+
		console("$ jobs; echo $RANDOM", "7")+
		"<!-- run: server one -->\n"+sh("[ -f one ]")+
		"<!-- run: server two -->\n<!-- run: then [ -f three ] -->\n"+sh("[ ! -f one ] && [ -f two ]", "miniredisd three")+
		"<!-- run: new session -->\n"+console("$ ls two three 2>&1 | grep -c No", "2")+
		"<!-- run: skip, because it would never end -->\n"+
		sh("sleep 1000"))
	require.Equal(t, exitPlayed, code, output)
	require.Equal(t, 8, strings.Count(output, ": ok, "), output)
}

// Many machines of CI have Go, its caches and programs in a temporary folder. The rest of it is hidden.
func TestAPageSeesTheFoldersInTmpThatItNeeds(t *testing.T) {
	folder, err := os.MkdirTemp("/tmp", "page")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	programs, link := filepath.Join(folder, "programs"), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Mkdir(programs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(programs, "greet"), []byte("#!/bin/bash\necho hello\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), nil, 0o600))
	require.NoError(t, os.Symlink(programs, link))
	for _, path := range []string{programs, link} {
		t.Setenv("PATH", os.Getenv("PATH")+":"+path)
		output, code := playText(t, quietLimit, console("$ greet", "hello")+sh("[ ! -e "+folder+"/secret ]"))
		require.Equal(t, exitPlayed, code, output)
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/tmp")
	output, code := sandbox(t, t.TempDir(), "page.md", quietLimit)
	require.Equal(t, exitNoSandbox, code, output)
	require.Contains(t, output, "the sandbox has a folder of its own at /tmp, which PATH or a cache of Go names")
}

// The kernel ends what a page leaves behind, even behind setsid and an empty environment.
func TestNoProcessSurvivesAPage(t *testing.T) {
	mark := fmt.Sprintf("%d.%d", 1000+os.Getpid(), time.Now().UnixNano()%1_000_000)
	output, code := playText(t, quietLimit, sh(
		"env -i setsid sleep "+mark+" > /dev/null 2>&1 &",
		"(trap '' INT TERM HUP; sleep "+mark+" > /dev/null 2>&1 &)",
		"until [ $(grep -lx sleep /proc/[0-9]*/comm | wc -l) -ge 2 ]; do :; done"))
	require.Equal(t, exitPlayed, code, output)
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range commands {
		command, _ := os.ReadFile(path)
		require.NotContains(t, string(command), mark)
	}
}
