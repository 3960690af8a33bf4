// Package grade judges the programs that students write for the labs, in any language.
//
//	Run ──> for each test of the lab:
//	          story ──┬── course/stage: servers, with a seed, a lab and a watch   (labs about clients)
//	           │      └── program: the student's process, in a group of its own
//	          play        its steps: orders, TCP clients, faults, the clock
//	           │
//	          result      points, and the reason in words; a recording if it failed
//
// There are two kinds of labs. In a lab about clients the program is a lock client. It reads an order a
// line from standard input and answers each with a line, as the programs of clients/interop/redlock do:
//
//	                          NAME                           the first line, before any order
//	open ADDRESS,... KEY MS   ok                             two owners, a and b, with a lease of MS
//	take a                    held | refused WHY             one attempt
//	release a                 released | failed WHY
//	count a PATTERN           found N | failed WHY           lab 5 only
//	purge a PATTERN           deleted N | failed WHY         lab 5 only
//	close                     ok
//
// In the lab about explore, package lab/explore/trials starts the servers, again and again, and the story is what
// each trial plays: see duel.
//
// In a lab about servers the program listens on 127.0.0.1 at the port in PORT, and speaks RESP.
//
// # Time
//
// The clock of the server is the lab's: it stands still, and moves when the story says so. The student's
// program runs in real time. So each wait for it has a real limit, which is far longer than a program
// needs that works. No test measures how fast a program is.
//
// # What is fair
//
// The program is a guest of the server: see stage.NewForGuests. The story asks in the process, or as another user. What
// a guest tries and may not do costs the test.
//
// The same program and seed get the same grade. Each test begins with a new server and a new process. A
// program that is missing, ends, hangs or prints nonsense loses the test, and the reason says which. At the
// end of a test its process group is killed, and so is each process that carries its mark in the
// environment: a daemon leaves the group, but keeps the mark. A process that grades one program only ends
// the others, too: see Options.Alone.
//
// One goroutine plays all tests. Another one waits for the end of each process, and with Alone a third one
// reaps orphans. Run may be called from any goroutine, also several times at once, but with Alone only once.
package grade
