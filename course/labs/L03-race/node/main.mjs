// Lab 3: async functions that share a map. Find the races and repair them.
//
// Node has one thread, and no race detector. It still loses updates: at each await other functions run, and
// the map may have changed when execute goes on.
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

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

// pause stands for any other work of a command, such as a look into a file. Leave it in.
const pause = () => sleep(1 + Math.floor(3 * Math.random()));

// execute executes a command and returns its reply. Several calls are in here at the same time.
async function execute(data, words) {
  const [name, ...args] = words;
  switch (name.toUpperCase()) {
    case "PING":
      return "+PONG\r\n";
    case "GET":
      return bulk(data.get(args[0]));
    case "INCR": {
      const n = Number(data.get(args[0]) ?? 0);
      await pause();
      data.set(args[0], `${n + 1}`);
      return `:${n + 1}\r\n`;
    }
    case "SETNX":
      if (data.has(args[0])) return ":0\r\n";
      await pause();
      data.set(args[0], args[1]);
      return ":1\r\n";
    case "MSET":
      for (let i = 0; i + 1 < args.length; i += 2) {
        data.set(args[i], args[i + 1]);
        await pause();
      }
      return "+OK\r\n";
    case "MGET": {
      let reply = `*${args.length}\r\n`;
      for (const key of args) {
        reply += bulk(data.get(key));
        await pause();
      }
      return reply;
    }
  }
  return "-ERR unknown command\r\n";
}

const bulk = (value) => (value === undefined ? "$-1\r\n" : `$${value.length}\r\n${value}\r\n`);

// serve serves one client until it leaves.
async function serve(socket, data) {
  let buffer = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      buffer = Buffer.concat([buffer, chunk]);
      for (let request; (request = parse(buffer)); buffer = buffer.subarray(request.taken)) {
        const reply = await execute(data, request.words); // TODO: somewhere here
        await new Promise((done) => socket.write(reply, "latin1", done));
      }
    }
  } catch {
    socket.destroy(); // the client has reset the connection
  }
}

const data = new Map();
createServer((socket) => {
  socket.on("error", () => {}); // serve sees it, too
  serve(socket, data);
}).listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 256 });
