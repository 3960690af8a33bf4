package node_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
	"github.com/miniredisd/miniredisd/resp"
)

// rightsOf returns the rules of users whose rights overlap in many ways.
func rightsOf() []string {
	users := []string{
		"+@all ~* &*", "+@all -@write ~* &*", "+@all %R~* &a", "+@all %W~* &*", "+@all %R~s* %W~l* ~z* &b", "+@all ~[hl]*",
		"-@all +@slow -@dangerous ~*", "+@fast ~* &*", "+get +config|get +select|1 ~*",
		"(+@read %R~*) (+@write %W~*) (+@pubsub &a)",
		"+config -config|set +client +object|encoding -client|kill ~*",
		"(+@all %R~s* %RW~l*) (+@all ~h* &*) (+@string %W~s*)",
	}
	for _, category := range strings.Fields("keyspace read write set sortedset list hash string bitmap hyperloglog geo " +
		"stream pubsub admin fast slow blocking dangerous connection transaction scripting") {
		users = append(users, "+@"+category+" ~* &*", "+@all -@"+category+" ~* &*")
	}
	return users
}

// Generated requests of every command go to both servers, for many users. Both servers refuse the
// same requests for the same reasons.
func TestPermissionsAreThoseOfRedis(t *testing.T) {
	t.Parallel()
	oracle := redistest.Start(t)
	ours, theirs := redistest.Dial(t, start(t, nil)), redistest.Dial(t, oracle.Addr)
	newer := oracle.Newer(ours)
	var users []string
	for i, rules := range rightsOf() {
		users = append(users, fmt.Sprint("u", i))
		for _, c := range []*redistest.Conn{ours, theirs} {
			require.Equal(t, "OK", c.Do(append([]string{"ACL", "SETUSER", users[i]}, strings.Fields(rules)...)...).Str, rules)
		}
	}
	g := generator{rng: rand.New(rand.NewPCG(1, 2))}
	asked, refused := 0, 0
	for _, name := range ours.Do("COMMAND", "LIST").Elems {
		if newer[name.Str] || theirs.Do("COMMAND", "INFO", name.Str).Elems[0].Null {
			continue
		}
		docs := pairs(ours.Do("COMMAND", "DOCS", name.Str).Elems[1])
		g.group = docs["group"].Str
		for i := range 6 {
			arguments := g.arguments(docs["arguments"])
			if i%3 == 0 && !announcesKeys(docs["arguments"]) {
				arguments = g.nonsense(len(arguments) + g.rng.IntN(3))
			}
			request := append(strings.Split(name.Str, "|"), arguments...)
			if strings.Contains(strings.Join(request, ""), "\x00") {
				continue // 7.0 cuts the message at the NUL byte
			}
			want, got := dryRun(t, theirs, users, request), dryRun(t, ours, users, request)
			for i, user := range users {
				require.Equal(t, strings.Replace(want[i], "This user", "User "+user, 1), got[i], "%s: %q", rightsOf()[i], request)
				asked++
				if strings.Contains(want[i], "permissions") {
					refused++
				}
			}
		}
	}
	require.Greater(t, asked, 30_000)
	require.Greater(t, refused, asked/4)
}

// announcesKeys reports whether a command has a number of keys among its arguments. Redis finds
// keys differently if that argument is not a number.
func announcesKeys(arguments resp.Value) bool {
	return strings.Contains(arguments.String(), "numkeys")
}

func dryRun(t *testing.T, c *redistest.Conn, users, request []string) (answers []string) {
	t.Helper()
	var out []byte
	for _, user := range users {
		out = resp.AppendRequest(out, append([]string{"ACL", "DRYRUN", user}, request...)...)
	}
	require.NoError(t, c.Send(out))
	for range users {
		answers = append(answers, c.Read().Str)
	}
	return answers
}
