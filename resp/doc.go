// Package resp turns bytes into commands and values into bytes, and does nothing else: it opens no socket, keeps no
// clock, starts no goroutine.
//
//	  socket bytes                                            reply bytes
//	*2 $3 GET $1 k  ──> Parser.Parse ──> Batch ──> (command) ──> Writer.Bulk ──>  $1 v
//	                    (keeps its place    (Args alias             (RESP2 or RESP3
//	                     between reads)      the input)              by Writer.Proto)
//
// # Reading
//
// The caller owns one input buffer per connection. After each read it calls [Parser.Parse] with every byte not yet
// consumed; complete commands are appended to a [Batch], and the rest, the front of a command still arriving, stays in
// the buffer and is passed again with more bytes behind it. The parser remembers how far it understood that rest, as
// offsets and not as pointers, so the buffer may move. This makes the work linear: a server that starts from the
// front at each read needs a second for a command of 400,000 arguments, and a client can ask for that as often as it
// likes.
//
// Arguments are not copied. They are valid until the caller changes or reuses the buffer, which it may do once the
// batch has been executed. The one exception are quoted words of inline commands, which need unescaping and are copied.
//
// No length a client declares is ever believed: `*1000000` costs nothing until the million arguments arrive. What a
// partial command may hold in total (Redis's client-query-buffer-limit) is the caller's rule; [Parser.Mem] is what the
// parser adds to the caller's own buffer.
//
// # Writing
//
// A [Writer] is a byte slice with methods that append one reply element each. Commands say what they mean ("a map of
// three pairs", "a double") and the writer knows how the connection's protocol spells it. Nothing fails and, once the
// slice has grown, nothing allocates.
//
// [ReadReply] is the client's side, for tests and benchmarks.
//
// # Who may use it
//
// Whoever owns the connection at that moment: main, or the one I/O worker the connection is lent to. Parser, Batch and
// Writer have no locks and need none.
//
// # What is left out
//
// redcon's encoders serve as ours where RESP2 and RESP3 agree and they are as fast; its reader does not, because it
// panics on `*1\r\n$-2\r\n`, bounds nothing and cannot resume. Streamed RESP3 strings and aggregates are left out: Redis
// sends none and accepts none.
package resp
