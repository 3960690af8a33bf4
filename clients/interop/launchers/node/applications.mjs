// Programs that need a redis-server. Each does its real work.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { createAdapter } from "@socket.io/redis-adapter";
import Bee from "bee-queue";
import { FlowProducer, Queue, QueueEvents, Worker } from "bullmq";
import { RedisStore } from "connect-redis";
import session from "express-session";
import { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { createClient } from "redis";
import { Server } from "socket.io";
import { io } from "socket.io-client";
import { serving } from "./launchers.mjs";

async function bullmq(host, port) {
  const connection = { host, port };
  const parts = [
    new Queue("q", { connection }),
    new QueueEvents("q", { connection }),
    new FlowProducer({ connection }),
  ];
  const [queue, events, flows] = parts;
  const done = [];
  const twice = async (job) => done.push(job.name) && 2 * (job.data.n ?? 0);
  parts.push(new Worker("q", twice, { connection, maxStalledCount: 1, stalledInterval: 200 }));
  try {
    await Promise.all(parts.map((part) => part.waitUntilReady?.()));
    assert.equal(await (await queue.add("plain", { n: 21 })).waitUntilFinished(events), 42);
    assert.equal(await (await queue.add("delayed", { n: 1 }, { delay: 50 })).waitUntilFinished(events), 2);
    const children = [1, 2].map((n) => ({ name: "child", queueName: "q", data: { n } }));
    const { job } = await flows.add({ name: "parent", queueName: "q", data: { n: 3 }, children });
    assert.equal(await job.waitUntilFinished(events), 6);
    assert.deepEqual(Object.values(await job.getChildrenValues()).sort(), [2, 4]);
    const repeated = await queue.upsertJobScheduler("again", { every: 30, limit: 2 }, { name: "repeated" });
    await repeated.waitUntilFinished(events);
    assert.deepEqual(done.slice(0, 5), ["plain", "delayed", "child", "child", "parent"]);
    assert.equal((await queue.getJobCounts("failed")).failed, 0);
  } finally {
    await Promise.all(parts.map((part) => part.close()));
  }
}

async function beeQueue(host, port) {
  const queue = new Bee("sums", { redis: { host, port }, activateDelayedJobs: true });
  try {
    queue.process(async (job) => job.data.a + job.data.b);
    for (const at of [0, Date.now() + 50]) {
      const job = queue.createJob({ a: 2, b: 3 });
      if (at) job.delayUntil(at);
      const succeeded = once(job, "succeeded");
      await job.save();
      assert.deepEqual(await succeeded, [5]);
    }
    assert.equal((await queue.checkHealth()).succeeded, 2);
  } finally {
    await queue.close();
  }
}

async function connectRedis(host, port) {
  const client = await createClient({ url: `redis://${host}:${port}` }).connect();
  const store = new RedisStore({ client, ttl: 60 });
  const sessions = session({ store, secret: "secret", resave: false, saveUninitialized: false });
  const web = createServer((request, response) =>
    sessions(request, response, () => {
      request.session.visits = (request.session.visits ?? 0) + 1;
      response.end(String(request.session.visits));
    }),
  ).listen(0, "127.0.0.1");
  try {
    await once(web, "listening");
    const url = `http://127.0.0.1:${web.address().port}/`;
    const first = await fetch(url);
    const cookie = first.headers.get("set-cookie").split(";")[0];
    assert.equal(await first.text(), "1");
    assert.equal(await (await fetch(url, { headers: { cookie } })).text(), "2");
    const [key] = await client.keys("sess:*");
    const ttl = await client.ttl(key);
    assert(ttl > 0 && ttl <= 60, `the session lives for ${ttl} s`);
  } finally {
    web.closeAllConnections();
    web.close();
    client.destroy();
  }
}

async function rateLimiter(host, port) {
  const client = new Redis(port, host);
  try {
    const limiter = new RateLimiterRedis({ storeClient: client, points: 2, duration: 60 });
    assert.equal((await limiter.consume("user")).remainingPoints, 1);
    await limiter.consume("user");
    const refused = await limiter.consume("user").catch((result) => result);
    assert.equal(refused.remainingPoints, 0);
    assert(refused.msBeforeNext > 0 && refused.msBeforeNext <= 60_000);
    await limiter.delete("user");
    assert.equal((await limiter.consume("user")).consumedPoints, 1);
  } finally {
    client.disconnect();
  }
}

async function socketIO(host, port) {
  const clients = [1, 2, 3, 4].map(() => new Redis(port, host));
  const servers = [0, 2].map((i) => new Server(0, { adapter: createAdapter(clients[i], clients[i + 1]) }));
  const socket = io(`http://127.0.0.1:${servers[0].httpServer.address().port}`, {
    transports: ["websocket"],
  });
  try {
    await once(socket, "connect");
    const said = once(socket, "news");
    let sockets;
    do {
      sockets = await servers[1].fetchSockets(); // asks the other server, over PUBLISH, once that has subscribed
    } while (sockets.length === 0);
    assert.deepEqual(
      sockets.map(({ id }) => id),
      [socket.id],
    );
    servers[1].emit("news", { from: "the other server" });
    assert.deepEqual(await said, [{ from: "the other server" }]);
  } finally {
    socket.close();
    await Promise.all(servers.map((server) => server.close())); // unsubscribes, and does not wait for the replies
    await Promise.all(clients.map((client) => client.quit()));
  }
}

const on = (work) => (server) => serving(server, work);
export const rows = {
  bullmq: { detail: "a job, a delayed job, a flow with two children, a job scheduler", work: on(bullmq) },
  "bee-queue": { detail: "a job and a delayed job, with their results", work: on(beeQueue) },
  "connect-redis": {
    detail: "express-session: a session over two requests, with a TTL",
    work: on(connectRedis),
  },
  "rate-limiter-flexible": {
    detail: "the third request of two is refused, for at most a minute",
    work: on(rateLimiter),
  },
  "@socket.io/redis-adapter": {
    detail: "two servers of socket.io: a broadcast reaches a client of the other",
    work: on(socketIO),
  },
};
