package aof_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/persist/aof"
	"github.com/miniredisd/miniredisd/persist/disk"
)

func manifest(t testing.TB, text string) (*aof.Manifest, error) {
	on := disk.NewSim(1)
	put(t, on, "m", text)
	return aof.ReadManifest(on, "m")
}

func TestAManifestIsReadAsRedisReadsIt(t *testing.T) {
	base, incr := aof.Part{Name: "b", Seq: 1, Type: aof.Base}, aof.Part{Name: "i", Seq: 1, Type: aof.Incr}
	old := aof.Part{Name: "h", Seq: -3, Type: aof.History}
	for text, want := range map[string]aof.Manifest{
		"# only a comment\n":    {},
		"file b seq 1 type b\n": {Base: &base},
		"# a\nfile b seq 1 type b\r\n#\nfile i seq 1 type i\n": {Base: &base, Incr: []aof.Part{incr}},
		"  type b  FILE \"b\" Seq 1 later 'version 8' \n":      {Base: &base},
		"file i seq 1x type incr\n":                            {Incr: []aof.Part{incr}},
		"file h seq -3 type h\n":                               {History: []aof.Part{old}},
		"file h seq 99999999999999999999 type h\n": {
			History: []aof.Part{{Name: "h", Seq: 1<<63 - 1, Type: aof.History}}},
		"file \"a b\\x41\" seq 1 type b\n":                          {Base: &aof.Part{Name: "a bA", Seq: 1, Type: aof.Base}},
		"#" + strings.Repeat("x", 500) + "\nfile b seq +1 type b\n": {Base: &base},
	} {
		m, err := manifest(t, text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, *m, "%q", text)
	}
}

// The words are those of Redis: TestRedisRefusesTheSameManifests compares them.
func TestAManifestIsRefusedWithLineAndReason(t *testing.T) {
	for text, want := range badManifests() {
		_, err := manifest(t, text)
		require.EqualError(t, err, want, "%q", text)
		require.ErrorAs(t, err, new(*aof.DamageError))
	}
}

func badManifests() map[string]string {
	const good = "file b seq 1 type b\n"
	return map[string]string{
		"":                                      "m: byte 0: Found an empty AOF manifest",
		"\n":                                    "m: byte 0: line 1: Invalid AOF manifest file format",
		good + "file c":                         "m: byte 20: line 2: The AOF manifest file contains too long line",
		strings.Repeat("x", 2000) + "\n":        "m: byte 0: line 1: The AOF manifest file contains too long line",
		good + "file c\x00 seq 1 type i\n":      "m: byte 20: line 2: The AOF manifest file contains too long line",
		"#\nfile b seq 1\n":                     "m: byte 2: line 2: Invalid AOF manifest file format",
		"file b seq 1 type b more\n":            "m: byte 0: line 1: Invalid AOF manifest file format",
		"file \"b seq 1 type b\n":               "m: byte 0: line 1: Invalid AOF manifest file format",
		"file b seq 0 type b\n":                 "m: byte 0: line 1: Invalid AOF manifest file format",
		"file b seq x type b\n":                 "m: byte 0: line 1: Invalid AOF manifest file format",
		"seq 1 type b a b\n":                    "m: byte 0: line 1: Invalid AOF manifest file format",
		"file b seq 1 type ''\n":                "m: byte 0: line 1: Invalid AOF manifest file format",
		"file a/b seq 1 type b\n":               "m: byte 0: line 1: File can't be a path, just a filename",
		"file ..\\\\b seq 1 type b\n":           "m: byte 0: line 1: File can't be a path, just a filename",
		good + good:                             "m: byte 20: line 2: Found duplicate base file information",
		"file i seq -1 type i\n":                "m: byte 0: line 1: Found a non-monotonic sequence number",
		good + "file c seq 1 type x\n":          "m: byte 20: line 2: Unknown AOF file type",
		good + strings.Repeat("#", 1024) + "\n": "m: byte 1044: line 3: Invalid AOF manifest file format",
		good + "file i seq 2 type i\nfile j seq 2 type i\n": "m: byte 40: line 3: " +
			"Found a non-monotonic sequence number",
	}
}

func TestAnErrorOfTheDiskInAManifestIsNamed(t *testing.T) {
	on := disk.NewSim(1)
	put(t, on, "m", "file b seq 1 type b\n")
	on.Fail(1, disk.Failure)
	_, err := aof.ReadManifest(on, "m")
	require.EqualError(t, err, "m: byte 0: input/output error")
}
