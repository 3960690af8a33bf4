// The first tests of a lock with a lab: Vitest, ioredis. Run them with `npx vitest run`.
import { Redis } from "ioredis";
import { useMiniRedisd } from "miniredisd";
import * as runner from "vitest";
import { afterEach, expect, test } from "vitest";

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

const redis = useMiniRedisd({ runner });
const clients = [];
afterEach(() => clients.splice(0).forEach((client) => client.disconnect()));

function connect() {
  const client = new Redis(redis.port);
  client.on("error", () => {}); // ioredis connects again
  clients.push(client);
  return client;
}

test("a lost reply leaves a lock behind", async () => {
  await redis.fault("lost", { cmd: "SET", key: "lock:*", nth: 1 }).dropReply();

  expect(await new Lock(connect(), "token-1").acquire()).toBe(false); // the first SET took it; ioredis sent a second one
  expect(await redis.clock.advance(30_001)).toBe(1); // one key expired: the lock of nobody
  expect(await new Lock(connect(), "token-2").acquire()).toBe(true);
});

test("a late release does not free the next lock", async () => {
  const slow = new Lock(connect(), "token-1");
  const next = new Lock(connect(), "token-2");
  expect(await slow.acquire()).toBe(true);
  const pause = await redis.hold("pause", { cmd: "EVAL", times: 1 });

  const released = slow.release();
  await pause.wait(); // the release has reached the server
  await redis.clock.advance(30_001); // its lease ends
  expect(await next.acquire()).toBe(true);
  await pause.release(); // only now does the server execute the release

  expect(await released).toBe(false);
  expect(await next.release()).toBe(true);
  await redis.assertOneHolder("lock:*");
});
