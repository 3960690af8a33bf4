// Programs that start a redis-server, with their documented settings only.
import assert from "node:assert/strict";
import { Redis } from "ioredis";
import { RedisMemoryServer } from "redis-memory-server";
import RedisServer from "redis-server";

// use sets and gets a key.
export async function use(host, port) {
  const client = new Redis(port, host);
  try {
    assert.equal(await client.set("key", "value"), "OK");
    assert.equal(await client.get("key"), "value");
  } finally {
    client.disconnect();
  }
}

// serving calls work with the address of a server that redis-memory-server starts.
export async function serving(server, work) {
  const memory = new RedisMemoryServer({
    binary: { systemBinary: server },
    instance: { args: ["--save", ""] },
  });
  try {
    return await work(await memory.getHost(), await memory.getPort());
  } finally {
    assert.equal(await memory.stop(), true);
  }
}

async function redisServer(bin) {
  const port = await serving(bin, (host, port) => port); // it is free again now
  const server = new RedisServer({ port, bin });
  await server.open();
  await use("127.0.0.1", port);
  await server.close();
  assert.equal(server.isRunning, false);
}

export const rows = {
  "redis-memory-server": {
    detail: "`systemBinary`: starts it on a free port, uses it, stops it",
    work: (server) => serving(server, use),
  },
  "redis-server": {
    detail: "`new RedisServer({ port, bin })`: opens it, uses it, closes it",
    work: redisServer,
  },
};
