// The first tests of a lock with a lab: Vitest, ioredis. Run them with `npx vitest run`.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

// The code under test: a lock with a token of its own for each holder.
const compareAndDelete = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`;

class Lock {
  constructor(client, token) {
    Object.assign(this, { client, token });
  }
  async acquire() {
    return (await this.client.set("lock:order", this.token, "PX", 30000, "NX")) === "OK";
  }
  async release() {
    return (await this.client.eval(compareAndDelete, 1, "lock:order", this.token)) === 1;
  }
}

let server, port, lab, clients;

// One server runs for all tests, on a free port.
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "miniredisd-"));
  const options = ["--lab", "yes", "--port", "0", "--port-file", "port"];
  server = spawn(process.env.MINIREDISD ?? "miniredisd", options, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(server.stdout)) {
    if (line.includes("Ready to accept connections")) break;
  }
  port = Number(readFileSync(join(folder, "port"), "utf8"));
});
afterAll(() => server.kill());

// LAB goes over a connection of its own. Each test begins without rules and keys, and the clock stands still.
beforeEach(async () => {
  clients = [];
  const control = connect();
  lab = (words, ...more) => control.call("LAB", ...words.split(" "), ...more);
  await lab("RESET AT 1700000000000");
  await control.flushall();
});
afterEach(() => clients.forEach((client) => client.disconnect()));

function connect() {
  const client = new Redis(port);
  client.on("error", () => {}); // ioredis connects again
  clients.push(client);
  return client;
}

test("a lost reply leaves a lock behind", async () => {
  await lab("FAULT ADD lost CMD SET KEY lock:* NTH 1 ACTION DROP-REPLY");

  expect(await new Lock(connect(), "token-1").acquire()).toBe(false); // the first SET took it; ioredis sent a second one
  expect(await lab("CLOCK ADVANCE", 30001)).toBe(1); // one key expired: the lock of nobody
  expect(await new Lock(connect(), "token-2").acquire()).toBe(true);
});

test("a late release does not free the next lock", async () => {
  const slow = new Lock(connect(), "token-1");
  const next = new Lock(connect(), "token-2");
  expect(await slow.acquire()).toBe(true);
  await lab("FAULT ADD pause CMD EVAL TIMES 1 ACTION HOLD");

  const released = slow.release();
  expect(await lab("HOLD WAIT pause", 5000)).not.toBeNull(); // the release has reached the server
  await lab("CLOCK ADVANCE", 30001); // its lease ends
  expect(await next.acquire()).toBe(true);
  await lab("HOLD RELEASE pause"); // only now does the server execute the release

  expect(await released).toBe(false);
  expect(await next.release()).toBe(true);
});
