// Lab 12: I/O threads. Fill in the barrier, and take parse and execute from your lab 4.
//
//   libuv reads ──> collect ──> share out ──┬── worker 1 parses ──┬── barrier ──> execute ──> write
//                                           └── worker 2 parses ──┘
//
// A socket of Node belongs to one thread. So the workers get bytes and return requests: they only parse.
// Copying the bytes to a worker and back costs more than parsing them. That is something to explain.
import { createServer } from "node:net";
import { Worker, isMainThread, parentPort } from "node:worker_threads";

// The reply to EXPLAIN. Its first line is "cores N".
const explanation = `cores 0
TODO: which part of a request gets faster with more threads here, which does not, and why?`;

// parse takes the first request out of a Buffer: { words, taken }, or undefined while it is not complete.
function parse(buffer) {
  throw new Error("parse: take it from your lab 4");
}

// parseAll parses everything that is complete: { requests, rest }.
function parseAll(bytes) {
  let buffer = Buffer.from(bytes);
  const requests = [];
  for (let r; (r = parse(buffer)); buffer = buffer.subarray(r.taken)) requests.push(r.words);
  return { requests, rest: buffer };
}

const data = new Map();

// execute executes a command: those of lab 4, INCR, and EXPLAIN.
function execute(words) {
  if (words[0] === "EXPLAIN") return `$${Buffer.byteLength(explanation)}\r\n${explanation}\r\n`;
  throw new Error("execute: take it from your lab 4, and add INCR");
}

// lend sends the inputs of some clients to a worker. The promise has what parseAll returned for each.
function lend(worker, inputs) {
  return new Promise((resolve) => {
    worker.once("message", resolve);
    worker.postMessage(inputs);
  });
}

// share parses the inputs of all clients, in all threads, and returns the results in order.
async function share(workers, inputs) {
  if (workers.length === 0) return inputs.map(parseAll);
  // TODO: give each worker its part of inputs by lend, and go on only when every worker is done: that is
  // the barrier. Then put the results in the order of inputs.
  throw new Error("the barrier is not written yet");
}

function server() {
  const threads = Number(process.env.IO_THREADS);
  const workers = Array.from({ length: threads > 1 ? threads : 0 }, () => new Worker(new URL(import.meta.url)));
  const readable = new Set();
  let running = false;

  // pass serves all clients that have sent something. Main executes.
  async function pass() {
    running = true;
    while (readable.size > 0) {
      const clients = [...readable];
      readable.clear();
      const inputs = clients.map((c) => c.input);
      clients.forEach((c) => (c.input = Buffer.alloc(0)));
      const results = await share(workers, inputs);
      clients.forEach((c, i) => {
        c.input = Buffer.concat([results[i].rest, c.input]); // more may have come meanwhile
        c.socket.write(results[i].requests.map(execute).join(""), "latin1");
      });
    }
    running = false;
  }

  createServer((socket) => {
    const c = { socket, input: Buffer.alloc(0) };
    socket.on("data", (bytes) => {
      c.input = Buffer.concat([c.input, bytes]);
      readable.add(c);
      if (!running) setImmediate(() => running || pass());
    });
    socket.on("error", () => socket.destroy());
  }).listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 1024 });
}

if (isMainThread) server();
else parentPort.on("message", (inputs) => parentPort.postMessage(inputs.map(parseAll)));
