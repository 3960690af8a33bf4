// A lock. The task of the lab says what take and release must do.
import { run } from "./lab.mjs";

class Lock {
  constructor(masters, key, leaseMs) {
    Object.assign(this, { redis: masters[0], key, leaseMs });
  }

  // take takes the lock, and returns whether it is ours.
  async take() {
    // TODO: await this.redis.do("SET", ...) is "OK", or null
    return false;
  }

  // release releases the lock, and returns false if it was not ours any more.
  async release() {
    // TODO
    return false;
  }
}

await run("my lock in JavaScript", (masters, key, leaseMs) => new Lock(masters, key, leaseMs));
