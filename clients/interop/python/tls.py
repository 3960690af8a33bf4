"""A lock over TLS with each client, for clients/interop/tls. ../README.md describes the interface."""

import asyncio
import json
import logging
import os
from importlib.metadata import version

import pottery
import redis
import redis.asyncio
import redis_lock

HOST, PORT = os.environ["REDIS_ADDR"].split(":")
FILES = os.environ["REDIS_TLS"]
SETTINGS = {
    "host": HOST,
    "port": int(PORT),
    "ssl": True,
    "ssl_ca_certs": f"{FILES}/ca.crt",
    "ssl_certfile": f"{FILES}/client.crt",
    "ssl_keyfile": f"{FILES}/client.key",
}


logging.disable()  # python-redis-lock logs a lock that is taken


def want(ok, what):
    if not ok:
        raise AssertionError(what)


def by_redis_py():
    client = redis.Redis(**SETTINGS)
    lock = client.lock("tls:redis-py", timeout=30)
    want(lock.acquire(blocking=False), "the lock is taken")
    want(not client.lock("tls:redis-py", timeout=30).acquire(blocking=False), "a second owner gets the lock")
    lock.release()
    want(not client.exists("tls:redis-py"), "the lock is still there")


def by_asyncio():
    async def scenario():
        client = redis.asyncio.Redis(**SETTINGS)
        lock = client.lock("tls:asyncio", timeout=30)
        want(await lock.acquire(blocking=False), "the lock is taken")
        want(not await client.lock("tls:asyncio", timeout=30).acquire(blocking=False), "a second owner gets the lock")
        await lock.release()
        want(not await client.exists("tls:asyncio"), "the lock is still there")
        await client.aclose()

    asyncio.run(scenario())


def by_redis_lock():
    client = redis.Redis(**SETTINGS)
    lock = redis_lock.Lock(client, "tls", expire=30)
    want(lock.acquire(blocking=False), "the lock is taken")
    want(not redis_lock.Lock(client, "tls", expire=30).acquire(blocking=False), "a second owner gets the lock")
    lock.release()


def by_pottery():
    client = redis.Redis(**SETTINGS)
    lock = pottery.Redlock(key="tls", masters={client}, auto_release_time=30)
    want(lock.acquire(blocking=False), "the lock is taken")
    want(not pottery.Redlock(key="tls", masters={client}).acquire(blocking=False), "a second owner gets the lock")
    lock.release()


def outcome(scenario):
    try:
        scenario()
        return "ok"
    except Exception as e:  # whatever the client throws is its result
        return f"error: {type(e).__name__}: {e}"


for name, scenario in {
    f"redis-py {redis.__version__}": by_redis_py,
    f"redis-py {redis.__version__} asyncio": by_asyncio,
    f"python-redis-lock {version('python-redis-lock')}": by_redis_lock,
    f"pottery {version('pottery')}": by_pottery,
}.items():
    print(json.dumps({"client": name, "saw": outcome(scenario)}), flush=True)
