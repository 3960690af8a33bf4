package glass

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARecordingReadsAsItWasWritten(t *testing.T) {
	r := newRig(t)
	require.Nil(t, r.w.Recording())
	r.w.RecordStart(2)
	r.w.Next(OneCommand, 1)
	done := r.pass(get(7, `k"\`)...)
	r.stop()
	r.w.Continue()
	<-done
	<-r.pass(get(8, "k")...)
	<-r.pass(get(9, "k")...)
	require.False(t, r.w.tape.on, "two passes were asked for")
	rec := r.w.Recording()
	require.Len(t, rec.Lines, 17)

	var file, again bytes.Buffer
	require.NoError(t, rec.Write(&file))
	read, err := ReadRecording(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Equal(t, []string{"main"}, read.Hello.Threads)
	require.NoError(t, read.Write(&again))
	require.Equal(t, unzip(t, file.Bytes()), unzip(t, again.Bytes()))
	require.Equal(t, KindStop, read.Lines[5].Kind)
	require.Equal(t, `GET k"\`, read.Lines[4].Events[0].Text)
	require.Equal(t, "step", read.Lines[5].Stop.Why)
}

func unzip(t *testing.T, b []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = out.ReadFrom(z)
	require.NoError(t, err)
	return out.String()
}

func zip(lines string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(lines)) // a Buffer returns no error
	_ = z.Close()
	return b.Bytes()
}

func TestAWrongRecordingIsRefusedByItsLine(t *testing.T) {
	const head = `{"v":1}` + "\n"
	for lines, want := range map[string]string{
		"":                                  "the recording is empty",
		"{}":                                "line 1: not the header of a recording",
		head + "nothing":                    "line 2: ",
		head + "{}":                         "line 2: neither an event nor a stop",
		head + "[1,2]":                      "line 2: not an event",
		head + `[0,1,"w",0,0,0,0,0,0,""]`:   "line 2: not an event: a number is out of range",
		head + `[1,1,"z",0,0,0,0,0,0,""]`:   `line 2: not an event: "z" is not a point`,
		head + `[1,1,"w",0,0,0,0,0,0,"",1]`: "line 2: not an event: it has 11 fields instead of 10",
		head + strings.Repeat(`[1,1,"w",0,0,0,0,0,0,""]`+"\n", 2): "line 3: event 1 comes after event 1",
	} {
		_, err := ReadRecording(bytes.NewReader(zip(lines)))
		require.ErrorContains(t, err, want)
	}
	_, err := ReadRecording(strings.NewReader("plain text"))
	require.ErrorContains(t, err, "not a recording")
}

// endless is a file that begins with some bytes and has other ones for ever.
type endless struct {
	first, rest string
	read        int
}

func (e *endless) Read(b []byte) (n int, err error) {
	if e.first == "" {
		e.first = e.rest
	}
	n = copy(b, e.first)
	e.first = e.first[n:]
	e.read += n
	return n, nil
}

func TestARecordingWithoutAnEndIsRefusedEarly(t *testing.T) {
	const head = `{"v":1}` + "\n"
	var many strings.Builder
	many.WriteString(head)
	for i := 1; i <= mostLines; i++ {
		fmt.Fprintf(&many, `[%d,1,"w",0,0,0,0,0,0,""]`+"\n", i)
	}
	_, err := ReadRecording(bytes.NewReader(zip(many.String())))
	require.NoError(t, err)
	const gzipHead = 10 // bytes
	for _, c := range []struct{ first, rest, why string }{
		{"", "plain text", "not a recording: gzip: invalid header"},
		{"", string(zip("")), "the recording is empty"},
		{"", string(zip(head)), "not a recording: something follows its end"},
		{string(zip(head))[:gzipHead], strings.Repeat("\x00\x00\x00\xff\xff", 1000), "more than 16 MB"},
		{"", string(zip(strings.Repeat("a", 2*mostLineBytes))), "token too long"},
		{"", string(zip(head + strings.Repeat(" ", 2*mostLineBytes))), "token too long"},
		{"", string(zip(many.String() + `[99999,1,"w",0,0,0,0,0,0,""]`)), "more than 65536 events and stops"},
	} {
		e := &endless{first: c.first, rest: c.rest}
		_, err := CheckRecording(e)
		require.ErrorContains(t, err, c.why)
		require.LessOrEqual(t, e.read, mostFileBytes)
	}
}

func TestACheckedRecordingIsReturnedByteForByte(t *testing.T) {
	file := zip(`{"v":1}` + "\n" + `[1,1,"w",0,0,10,0.5,1,0,"event 9r"]` + "\n")
	got, err := CheckRecording(bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, file, got)
}

// What the reader accepts, the writer writes so that the reader accepts it again.
func FuzzReadingARecordingNeverPanics(f *testing.F) {
	f.Add([]byte(`{"v":1}` + "\n" + `[1,1,"w",0,0,10,0.5,1,0,"event 9r"]` + "\n" +
		`{"stop":{"event":[1,1,"w",0,0,10,0,1,0,""],"why":"step","snapshot":{"clients":[{"id":1}]}}}` + "\n"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		rec, err := ReadRecording(bytes.NewReader(zip(string(lines))))
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, rec.Write(&b))
		again, err := ReadRecording(&b)
		require.NoError(t, err)
		require.Len(t, again.Lines, len(rec.Lines))
	})
}
