import assert from "node:assert";
import * as runner from "node:test";
import { Redis } from "ioredis";
import { useMiniRedisd } from "miniredisd";

const redis = useMiniRedisd({ runner });

runner.test("the lock is free when its lease is over", async () => {
  const client = new Redis(redis.url);
  await client.set("lock:order", "token-1", "PX", 30_000, "NX");
  await redis.clock.advance(30_001);
  assert.equal(await client.set("lock:order", "token-2", "PX", 30_000, "NX"), "OK");
  await redis.assertOneHolder("lock:*");
  client.disconnect();
});
