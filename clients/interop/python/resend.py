"""Single requests whose reply does not come, at the word of ../resend. ../README.md describes the interface."""

import asyncio
import json
import os
import sys

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE = 1  # seconds that a client waits for a reply
LEASE = 30_000  # milliseconds

HOST, PORT = os.environ["REDIS_ADDR"].split(":")


def blocking(key, **settings):
    client = redis.Redis(HOST, int(PORT), socket_timeout=PATIENCE, **settings)
    try:
        return client.set(key, "token", nx=True, px=LEASE)
    finally:
        client.close()


def with_asyncio(key, **settings):
    async def send():
        client = redis.asyncio.Redis(host=HOST, port=int(PORT), socket_timeout=PATIENCE, **settings)
        try:
            return await client.set(key, "token", nx=True, px=LEASE)
        finally:
            await client.aclose()

    return asyncio.run(send())


def senders():
    """A client, the setting after which it sends a request only once, and the function that sends."""
    once = "retry=Retry(NoBackoff(), 0)"
    name = f"redis-py {redis.__version__}"
    yield name, "", blocking
    yield name, once, lambda key: blocking(key, retry=Retry(NoBackoff(), 0))
    yield f"{name} asyncio", "", with_asyncio
    yield f"{name} asyncio", once, lambda key: with_asyncio(key, retry=AsyncRetry(NoBackoff(), 0))


def outcome(send, key):
    try:
        return "OK" if send(key) else "nil"
    except redis.RedisError as e:
        return f"error: {type(e).__name__}: {e}"


def say(client, setting, fault, saw):
    print(json.dumps({"client": client, "setting": setting, "fault": fault, "saw": saw}), flush=True)


for client, setting, send in senders():
    for fault in ("lost", "late"):
        say(client, setting, fault, "")
        key = sys.stdin.readline().strip()
        say(client, setting, fault, outcome(send, key))
