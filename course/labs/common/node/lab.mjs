// What every lab about lock clients shares: a small client of Redis, and the orders of the grader.
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

// Redis is one connection. It connects when it is used, and again after it was lost.
export class Redis {
  constructor(address, name) {
    [this.host, this.port] = address.split(":");
    this.name = name;
  }

  // do sends a command. The promise has its reply: string, number, array or null. It is rejected with an
  // Error if the server replies with an error, and if the connection is lost.
  async do(...words) {
    if (!this.socket) {
      this.connect();
      await this.do("CLIENT", "SETNAME", this.name);
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.socket.write(`*${words.length}\r\n` + words.map((w) => `$${Buffer.byteLength(`${w}`)}\r\n${w}\r\n`).join(""));
    });
  }

  connect() {
    const socket = createConnection({ host: this.host, port: Number(this.port) });
    const waiting = [];
    let input = Buffer.alloc(0);
    Object.assign(this, { socket, waiting });
    socket.on("data", (bytes) => {
      input = Buffer.concat([input, bytes]);
      for (let r; (r = parse(input, 0)); input = input.subarray(r.end)) {
        const { resolve, reject } = waiting.shift();
        r.error ? reject(new Error(r.error)) : resolve(r.value);
      }
    });
    const lost = () => {
      if (this.socket === socket) this.socket = undefined;
      for (const { reject } of waiting.splice(0)) reject(new Error("the connection is lost"));
    };
    socket.on("error", lost).on("close", lost);
  }

  close() {
    this.socket?.destroy();
    this.socket = undefined;
  }
}

// parse returns the reply at an offset and where it ends, or undefined if it is not complete.
function parse(input, at) {
  const eol = input.indexOf("\r\n", at);
  if (eol < 0) return undefined;
  const line = input.toString("utf8", at + 1, eol);
  const n = Number(line);
  let end = eol + 2;
  switch (String.fromCharCode(input[at])) {
    case "-":
      return { error: line, end };
    case ":":
      return { value: n, end };
    case "$":
      if (n < 0) return { value: null, end };
      return input.length < end + n + 2 ? undefined : { value: input.toString("utf8", end, end + n), end: end + n + 2 };
    case "*": {
      if (n < 0) return { value: null, end };
      const value = [];
      for (let i = 0; i < n; i++) {
        const r = parse(input, end);
        if (!r) return undefined;
        value.push(r.error ? new Error(r.error) : r.value);
        end = r.end;
      }
      return { value, end };
    }
  }
  return { value: line, end };
}

// run obeys the orders of the grader. makeLock(masters, key, leaseMs) makes the lock of an owner,
// or a search.
export async function run(name, makeLock) {
  const owners = new Map();
  const outcome = async (yes, no, act) => {
    try {
      console.log((await act()) ? yes : no);
    } catch (why) {
      console.log(`${no} ${why.message}`);
    }
  };
  const number = async (word, act) => {
    try {
      console.log(`${word} ${await act()}`);
    } catch (why) {
      console.log(`failed ${why.message}`);
    }
  };
  console.log(name);
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.trim().split(" ");
    const lock = owners.get(words[0])?.lock;
    if (verb === "open") {
      const [addresses, key, lease] = words;
      for (const owner of ["a", "b"]) {
        const masters = addresses.split(",").map((address) => new Redis(address, owner));
        owners.set(owner, { masters, lock: makeLock(masters, key, Number(lease)) });
      }
      console.log("ok");
    } else if (verb === "take") {
      await outcome("held", "refused", () => lock.take());
    } else if (verb === "release") {
      await outcome("released", "failed", () => lock.release());
    } else if (verb === "count") {
      await number("found", () => lock.count(words[1]));
    } else if (verb === "purge") {
      await number("deleted", () => lock.purge(words[1]));
    } else if (verb === "close") {
      for (const { masters } of owners.values()) masters.forEach((redis) => redis.close());
      console.log("ok");
    }
  }
  for (const { masters } of owners.values()) masters.forEach((redis) => redis.close());
}
