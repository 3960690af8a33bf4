"""A lock through Sentinel while the master is lost, for clients/interop/sentinel. ../README.md describes the interface."""

import asyncio
import json
import os
import sys
import threading
import time

import redis
import redis.asyncio
import redis.asyncio.sentinel
import valkey
import valkey.sentinel

PATIENCE = 1  # seconds that a client waits for a reply
LEASE = 300  # seconds
PAUSE = 0.02  # seconds between two locks


class SecondOwner(Exception):
    """Another owner gets a lock that is held."""


class Refused(Exception):
    """Nobody has the lock, and yet it is refused: the client has sent its request twice."""


def sentinels():
    return [(host, int(port)) for host, port in (a.split(":") for a in os.environ["SENTINELS"].split(","))]


def settings():
    return {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}


# An opener returns a function that returns a lock with two functions: acquire, which does not wait, and release.


def by_redis_py():
    return _blocking(redis.sentinel.Sentinel)


def by_valkey_py():
    return _blocking(valkey.sentinel.Sentinel)


def _blocking(kind):
    client = kind(sentinels(), sentinel_kwargs=settings(), **settings()).master_for(os.environ["SENTINEL_MASTER"])

    def lock(key):
        it = client.lock(key, timeout=LEASE)
        return lambda: it.acquire(blocking=False), it.release

    return lock


def by_asyncio():
    """The asyncio client on a loop of its own, in a thread, asked as if it were a blocking one."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def blocking(do):
        async def inside(*args, **kw):
            return await do(*args, **kw)

        return lambda *args, **kw: asyncio.run_coroutine_threadsafe(inside(*args, **kw), loop).result()

    group = redis.asyncio.sentinel.Sentinel(sentinels(), sentinel_kwargs=settings(), **settings())
    client = group.master_for(os.environ["SENTINEL_MASTER"])

    def lock(key):
        it = client.lock(key, timeout=LEASE)
        return lambda: blocking(it.acquire)(blocking=False), blocking(it.release)

    return lock


def lock_once(lock, key):
    """Takes a lock, is refused a second time, and releases it."""
    acquire, release = lock(key)
    if not acquire():
        raise Refused
    if lock(key)[0]():
        raise SecondOwner
    release()


def lock_until_back(lock, name, down):
    """Returns how long it took until a lock succeeded that began after the master was lost."""
    n = 0
    while True:
        down.wait(PAUSE)
        lost, n = down.at, n + 1
        try:
            lock_once(lock, f"sentinel:{name}:{n}")
        except (Refused, redis.RedisError, valkey.ValkeyError, OSError, asyncio.TimeoutError):
            continue
        if lost:
            return time.monotonic() - lost


class Down(threading.Event):
    """Waits for the line that says that the master is lost."""

    at = None

    def listen(self):
        sys.stdin.readline()
        self.at = time.monotonic()
        self.set()


def main(name, client, opener):
    def say(saw, stuck=0.0):
        print(json.dumps({"client": client, "saw": saw, "stuck": int(stuck * 1000)}), flush=True)

    lock = opener()
    kept = f"sentinel:{name}:kept"
    acquire, release = lock(kept)
    if not acquire():
        raise Refused
    lock_once(lock, f"sentinel:{name}:0")
    say("ready")
    down = Down()
    threading.Thread(target=down.listen, daemon=True).start()
    try:
        stuck = lock_until_back(lock, name, down)
        if lock(kept)[0]():
            raise SecondOwner
        release()
    except Exception as e:  # whatever the client throws is its result
        say(f"error: {type(e).__name__}: {e}")
        return
    say("ok", stuck)


CLIENTS = {
    "redis-py": (f"redis-py {redis.__version__}", by_redis_py),
    "redis-py-asyncio": (f"redis-py {redis.__version__} asyncio", by_asyncio),
    "valkey-py": (f"valkey-py {valkey.__version__}", by_valkey_py),
}

if len(sys.argv) == 1:
    print("\n".join(CLIENTS))
else:
    main(sys.argv[1], *CLIENTS[sys.argv[1]])
