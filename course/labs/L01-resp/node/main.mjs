// Lab 1: RESP by hand. Fill in parse and execute.
//
//   a request         *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n
//   a simple string   +OK\r\n
//   an error          -ERR unknown command\r\n
//   a bulk string     $5\r\nhello\r\n
//   no value          $-1\r\n
import { createServer } from "node:net";

// parse takes the first request out of a Buffer. It returns the words, and how many bytes they took. It
// returns undefined while the request is not complete. Make the words with toString("latin1"), which keeps
// every byte.
function parse(buffer) {
  // TODO: return { words, taken }
  return undefined;
}

// execute executes a command on data, a Map, and returns the reply. One character is one byte.
function execute(data, words) {
  switch (words[0].toUpperCase()) {
    case "PING":
      return "+PONG\r\n";
  }
  // TODO: ECHO, SET, GET, and an error for everything else
  return "";
}

const data = new Map();
const server = createServer((socket) => {
  let buffer = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (let request; (request = parse(buffer)); buffer = buffer.subarray(request.taken)) {
      socket.write(execute(data, request.words), "latin1");
    }
  });
  socket.on("error", () => socket.destroy()); // the client has reset the connection
});
server.listen(Number(process.env.PORT), "127.0.0.1");
