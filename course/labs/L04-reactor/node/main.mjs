// Lab 4: the reactor. Fill in read, parse, write and end.
//
//   epoll_wait ──> listening socket is readable ──> libuv accepts     ──> accept
//       ^     ├──> a client is readable         ──> libuv reads       ──> read ──> parse ──> execute ──> write
//       │     └──> a client has room again      ──> libuv writes      ──> drain
//       └── no client is ready: libuv sleeps here
//
// The loop is written already: it is libuv's, in C, and JavaScript cannot call epoll_wait. Node makes the
// sockets nonblocking, meets EAGAIN, and keeps what a socket did not take. What Node leaves to you is:
// the parser; to stop reading from a client that does not read (back pressure); and half-close.
// To write the loop itself, take the skeleton in Python, Java or Go.
import { createServer } from "node:net";

const data = new Map(); // keys and values are strings of bytes: latin1

// allowHalfOpen: without it Node ends the connection as soon as the client ends its half.
const server = createServer({ allowHalfOpen: true }, accept);
server.listen({ host: "127.0.0.1", port: Number(process.env.PORT), backlog: 1024 });

// accept begins a connection.
function accept(socket) {
  const c = { socket, input: Buffer.alloc(0) }; // input: bytes that are no complete request yet
  socket.on("data", (bytes) => read(c, bytes));
  socket.on("drain", () => drain(c));
  socket.on("end", () => end(c));
  socket.on("error", () => socket.destroy()); // the client has reset the connection
}

// read takes bytes that have come, and executes all requests that are complete.
function read(c, bytes) {
  // TODO: append bytes to c.input; while parse returns words, write the reply
  throw new Error("read is not written yet");
}

// parse takes one request out of c.input and returns its words, or undefined while it is not complete.
//
//   *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n  is  ["ECHO", "hello"]
//
// A word may have any bytes in it, \r\n as well: only its length says where it ends. Make the words with
// toString("latin1"), which keeps every byte.
function parse(c) {
  // TODO
  throw new Error("parse is not written yet");
}

// write sends a reply. Node keeps what the socket does not take, without a limit.
function write(c, reply) {
  // TODO: c.socket.write(reply, "latin1") returns false when Node keeps more than it likes to. Then stop
  // reading from this client: c.socket.pause(). Otherwise it can fill your memory.
  throw new Error("write is not written yet");
}

// drain is called when everything that waited has been written.
function drain(c) {
  c.socket.resume();
}

// end is called when the client has ended its half: no more requests will come.
function end(c) {
  // TODO: end your half, too, after all replies. c.socket.end() writes first what waits.
  throw new Error("end is not written yet");
}

// execute executes a command and returns its reply. This is complete.
export function execute(words) {
  const [name, ...args] = words;
  switch (name.toUpperCase()) {
    case "PING":
      return "+PONG\r\n";
    case "ECHO":
      return bulk(args[0]);
    case "SET":
      data.set(args[0], args[1]);
      return "+OK\r\n";
    case "GET":
      return bulk(data.get(args[0]));
    case "DEBUG": // DEBUG SLEEP seconds: nobody is served meanwhile
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(args[1]) * 1000);
      return "+OK\r\n";
  }
  return "-ERR unknown command\r\n";
}

function bulk(value) {
  return value === undefined ? "$-1\r\n" : `$${value.length}\r\n${value}\r\n`;
}
