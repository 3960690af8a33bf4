// Lab 2: one slow client. This server works, but it serves one client after another. Change that.
//
// Node never blocks in a read. So this skeleton makes the mistake by hand: serve is awaited, and meanwhile
// the next client waits in a queue. The same mistake is easy to make with any await.
import { createServer } from "node:net";

// parse returns the words of the first request in a Buffer, and how many bytes they took. It returns
// undefined while the request is not complete.
function parse(buffer) {
  let taken = 0;
  const number = () => {
    const end = buffer.indexOf("\r\n", taken);
    if (end < 0) return -1;
    const n = Number(buffer.toString("latin1", taken + 1, end));
    taken = end + 2;
    return n;
  };
  const words = [];
  const count = number();
  if (count < 0) return undefined;
  for (let i = 0; i < count; i++) {
    const size = number();
    if (size < 0 || buffer.length < taken + size + 2) return undefined;
    words.push(buffer.toString("latin1", taken, taken + size));
    taken += size + 2;
  }
  return { words, taken };
}

// execute executes a command and returns its reply. One character is one byte.
function execute(data, words) {
  const [name, ...args] = words;
  switch (name.toUpperCase()) {
    case "PING":
      return "+PONG\r\n";
    case "SET":
      data.set(args[0], args[1]);
      return "+OK\r\n";
    case "GET": {
      const value = data.get(args[0]);
      return value === undefined ? "$-1\r\n" : `$${value.length}\r\n${value}\r\n`;
    }
    case "DEL":
      return `:${Number(data.delete(args[0]))}\r\n`;
  }
  return "-ERR unknown command\r\n";
}

// serve serves one client until it leaves.
async function serve(socket, data) {
  let buffer = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      buffer = Buffer.concat([buffer, chunk]);
      for (let request; (request = parse(buffer)); buffer = buffer.subarray(request.taken)) {
        // resolves when the socket has taken the reply, or is closed
        const sent = new Promise((done) => socket.write(execute(data, request.words), "latin1", done));
        await sent;
      }
    }
  } catch {
    socket.destroy(); // the client has reset the connection
  }
}

const data = new Map();
const waiting = [];
let wake = () => {};
createServer((socket) => {
  socket.on("error", () => {}); // serve sees it, too
  waiting.push(socket);
  wake();
}).listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 256 });

for (;;) {
  while (waiting.length === 0) await new Promise((resolve) => (wake = resolve));
  await serve(waiting.shift(), data); // TODO: nobody is served meanwhile
}
