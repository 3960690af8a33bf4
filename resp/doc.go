// Package resp turns bytes into commands and values into bytes. It opens no socket, reads no clock and
// starts no goroutine.
//
//	  socket bytes                                            reply bytes
//	*2 $3 GET $1 k  ──> Parser.Parse ──> Batch ──> (command) ──> Writer.Bulk ──>  $1 v
//	                    (keeps its place    (Args alias             (RESP2 or RESP3
//	                     between reads)      the input)              by Writer.Proto)
//
// # Reading
//
// The caller owns one input buffer for each connection. After each read it calls [Parser.Parse] with
// every byte that is not consumed yet. Parse appends complete commands to a [Batch]. The front of a
// command that is still arriving stays in the buffer, and the caller passes it again with more bytes
// after it.
//
// The parser remembers how far it has understood the rest. It keeps offsets and not pointers, so the
// caller may move the buffer. This makes the work linear. A parser that starts at the front after each
// read needs a second for a command of 400,000 arguments, and a client can send such commands without
// end.
//
// Arguments are not copied. They are valid until the caller changes or reuses the buffer, which it may
// do once the batch is executed. One exception: quoted words of inline commands are unescaped into a
// copy.
//
// A declared length reserves no memory: `*1000000` costs nothing until the million arguments arrive.
// The bound on a command that is still arriving (Redis's client-query-buffer-limit) is the caller's
// task. [Parser.Mem] is what the parser holds beside the caller's buffer.
//
// # Writing
//
// A [Writer] is a byte slice with methods, each of which appends one element of a reply. A command says
// what it means ("a map of three pairs", "a double"). The writer encodes it in the protocol version of
// the connection. No method fails, and none allocates once the slice has grown.
//
// A long string can stay where it lies: [Writer.BulkRef] appends a [Ref] instead of the bytes, and the
// owner of the output sends both with writev(2). Redis copies the string into a block of the reply list
// (networking.c: _addReplyProtoToList).
//
// # The client's side
//
// [AppendRequest] encodes a request, and [ReadReply] reads a reply. MIGRATE, the tools and the tests use them.
// Package internal/respclient adds the socket. A [Cutter] only finds where replies end: a program that passes them on
// needs no values.
//
// # Who may use it
//
// The goroutine that owns the connection at the moment: main, or the I/O thread that borrows the
// connection. Parser, Batch and Writer have no locks and need none.
//
// # What Redis does differently
//
// Redis parses one command, executes it, and parses the next (networking.c: processInputBuffer). It
// copies each argument into an object. Its inline parser and its limits are the same as here.
//
// # What is left out
//
// redcon has a reader and a writer as well. The fuzz tests compare this package with redcon, and the
// benchmarks measure it beside redcon. The server does not use redcon: its reader panics on
// `*1\r\n$-2\r\n`, has no limits and starts over after each read. Redis neither sends nor accepts
// the streamed strings and aggregates of RESP3. Only a Cutter knows them.
package resp
