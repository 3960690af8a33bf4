// Package claims turns sentences that are often said about Redis into experiments.
//
// Each claim has a story and a judge. The story is played on a private server with a seed: clients send
// over TCP, the lab breaks things, and package glass records every event. The judge looks at the events
// and says whether the claim is true, half true or false, and which events decide.
//
//	Run ──> story: a server, or more ──> Record ──> judge ──> Result
//	           │      ^                  events     verdict, facts, evidence
//	        act: TCP clients, LAB,       (and the recording, for the page)
//	        breakpoints
//
// No story sleeps. Leases end because the lab moves its clock. Clients send together because the server
// stands still at a breakpoint meanwhile. Each event comes with a snapshot, which has the time of the
// lab's clock and the bytes that wait in each socket.
//
// A judge must be able to find that the claim is true. So the tests also show it events of a server that
// behaves as the claim says, and there it must not refute the claim.
//
// Any goroutine may call Run. The servers of a run are its own and end with it. Package glasshttp runs
// claims for the page, and go test ./course/claims runs all of them.
package claims
