// A lock behind Sentinel and in a cluster: Vitest, ioredis. Run them with `npx vitest run`.
import { randomUUID } from "node:crypto";
import { Cluster, Redis } from "ioredis";
import { useMiniRedisd } from "miniredisd";
import * as runner from "vitest";
import { describe, expect, test } from "vitest";

const compareAndDelete = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

// The code under test: a lock with a token of its own for each holder.
class Lock {
  constructor(client, token = randomUUID()) {
    this.acquire = async () => (await client.set("lock:order", token, "PX", 3_600_000, "NX")) === "OK";
    this.release = async () => (await client.eval(compareAndDelete, 1, "lock:order", token)) === 1;
  }
}

describe("behind Sentinel", () => {
  const servers = useMiniRedisd({ runner, replicas: 2, sentinels: 3 });

  test("the owner releases its lock after a failover", async () => {
    const client = new Redis({ sentinels: servers.sentinels, name: "mymaster" });
    client.on("error", () => {}); // the connection to the old master ends
    const lock = new Lock(client);
    expect(await lock.acquire()).toBe(true);
    expect(await servers.awaitReplicas()).toBe(2); // without this line the failover may lose the lock

    const { port } = servers;
    await servers.master(1).crash({ down: 7_200_000 });
    await servers.clock.advance(60_000); // the Sentinels promote a replica
    expect((await servers.sentinels[0].master()).port).not.toBe(port);

    expect(await new Lock(client).acquire()).toBe(false);
    expect(await lock.release()).toBe(true);
    client.disconnect();
  });
});

describe("in a cluster", () => {
  const cluster = useMiniRedisd({ runner, cluster: true, replicas: 1 });

  test("the owner releases its lock while its slot moves", async () => {
    const client = new Cluster(cluster.urls);
    const lock = new Lock(client);
    expect(await lock.acquire()).toBe(true);

    const { port } = await cluster.owner("lock:order");
    const to = port === cluster.port ? cluster.master(2) : cluster.master(1);
    await cluster.moveSlot("lock:order", to, "keys"); // the old node replies ASK
    expect(await new Lock(client).acquire()).toBe(false);
    expect(await lock.release()).toBe(true);
    await cluster.moveSlot("lock:order", to); // and now MOVED
    expect(await new Lock(client).acquire()).toBe(true);
    client.disconnect();
  });
});
