"""Runs one lock client again and again, for clients/interop/explore. ../README.md describes the interface.

    explore.py          the clients, as a JSON array
    explore.py CLIENT   for each address on a line: the scenario, and how it ended
"""

import asyncio
import json
import logging
import os
import sys
import threading
from dataclasses import dataclass
from importlib.metadata import version
from typing import Callable

import pottery
import redis
import redis.asyncio
import redis_lock

LEASE = 30  # seconds
SILENCE = 1  # seconds that a client waits for a reply
WAIT = 2  # seconds that a worker waits for the lock
TURN = 0.6  # seconds that a worker waits for the other one, where it usually need not wait
NAME = "lock:o"


def host_port(addr):
    host, _, port = addr.rpartition(":")
    return {"host": host, "port": int(port)}


@dataclass
class Worker:
    """One owner of the lock. Look tries without waiting, take waits."""

    look: Callable[[], bool]
    take: Callable[[], bool]
    release: Callable[[], None]
    close: Callable[[], None]


def blocking_client(addr, name):
    client = redis.Redis(**host_port(addr), client_name=name, socket_timeout=SILENCE)
    client.ping()
    return client


def redis_py(addr, name):
    client = blocking_client(addr, name)
    lock = client.lock(NAME, timeout=LEASE)
    return Worker(
        look=lambda: lock.acquire(blocking=False),
        take=lambda: lock.acquire(blocking_timeout=WAIT),
        release=lock.release,
        close=client.close,
    )


def redis_py_asyncio(addr, name):
    loop = asyncio.new_event_loop()

    async def made():
        client = redis.asyncio.Redis(**host_port(addr), client_name=name, socket_timeout=SILENCE)
        await client.ping()
        return client, client.lock(NAME, timeout=LEASE)

    client, lock = loop.run_until_complete(made())

    def close():
        loop.run_until_complete(client.aclose())
        loop.close()

    return Worker(
        look=lambda: loop.run_until_complete(lock.acquire(blocking=False)),
        take=lambda: loop.run_until_complete(lock.acquire(blocking_timeout=WAIT)),
        release=lambda: loop.run_until_complete(lock.release()),
        close=close,
    )


def python_redis_lock(addr, name):
    client = redis.StrictRedis(**host_port(addr), client_name=name, socket_timeout=SILENCE + WAIT)
    client.ping()
    lock = redis_lock.Lock(client, "o", expire=LEASE)
    return Worker(
        look=lambda: lock.acquire(blocking=False),
        take=lambda: lock.acquire(timeout=WAIT),
        release=lock.release,
        close=client.close,
    )


def pottery_redlock(addr, name):
    client = blocking_client(addr, name)
    lock = pottery.Redlock(key="o", masters={client}, auto_release_time=LEASE)
    return Worker(
        look=lambda: lock.acquire(blocking=False),
        take=lambda: lock.acquire(timeout=WAIT),
        release=lock.release,
        close=client.close,
    )


@dataclass
class Client:
    name: str
    version: str
    arguments: list[str]
    open: Callable[[str, str], Worker]
    wakes: str = ""  # what INFO counts of waiters that a release wakes


def clients():
    py = redis.__version__
    over = f"(redis-py {py})"
    silence = f"socket_timeout={SILENCE}"
    return [
        Client("redis-py", py, [f"Redis({silence})", f"lock(name, timeout={LEASE})"], redis_py),
        Client("redis-py-asyncio", py, [f"Redis({silence})", f"lock(name, timeout={LEASE})"], redis_py_asyncio),
        Client(
            "python-redis-lock",
            f"{version('python-redis-lock')} {over}",
            [f"Redis(socket_timeout={SILENCE + WAIT})", f"Lock(client, name, expire={LEASE})"],
            python_redis_lock,
            wakes="blocked_clients",
        ),
        Client(
            "pottery",
            f"{version('pottery')} {over}",
            [f"Redis({silence})", f"Redlock(key, masters={{client}}, auto_release_time={LEASE})"],
            pottery_redlock,
        ),
    ]


class Scenario:
    """a takes the lock, b tries, a releases, b takes. Each waits a moment for the other, and then goes on alone."""

    def __init__(self, client, addr):
        self.client, self.addr = client, addr
        self.a_open, self.a_has, self.b_tried, self.a_done = (threading.Event() for _ in range(4))
        self.failed = []

    def run(self):
        workers = [threading.Thread(target=self.guarded, args=pair) for pair in (("a", self.a), ("b", self.b))]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        return "; ".join(sorted(self.failed))

    def guarded(self, name, do):
        try:
            worker = self.client.open(self.addr, name)
            if name == "a":
                self.a_open.set()
            try:
                do(worker)
            finally:
                worker.close()
        except Exception as e:
            self.failed.append(f"{name}: {type(e).__name__}: {e}".replace("\n", " "))
        finally:
            if name == "a":
                self.a_open.set()
                self.a_has.set()
                self.a_done.set()
            self.b_tried.set()

    def a(self, worker):
        if not worker.take():
            raise AssertionError("not acquired")
        self.a_has.set()
        self.b_tried.wait(TURN)
        if self.client.wakes:
            self.until_b_waits()
        worker.release()

    def b(self, worker):
        self.a_open.wait(20 * TURN)
        self.a_has.wait(TURN)
        if not worker.look():
            self.b_tried.set()
            if not self.client.wakes:
                self.a_done.wait(TURN)
            if not worker.take():
                raise AssertionError("not acquired")
        self.b_tried.set()
        self.a_done.wait(TURN)
        worker.release()

    def until_b_waits(self):
        """Asks the server until b is in its blocking command. Without an answer a goes on."""
        client = redis.Redis(**host_port(self.addr), socket_timeout=SILENCE)
        try:
            for _ in range(20):
                if client.info("clients")[self.client.wakes]:
                    return
                threading.Event().wait(TURN / 20)
        except redis.RedisError:
            pass
        finally:
            client.close()


def main(name):
    logging.disable(logging.CRITICAL)
    if not name:
        print(json.dumps([{"name": c.name, "version": c.version, "arguments": c.arguments} for c in clients()]))
        return
    client = next(c for c in clients() if c.name == name)
    for line in sys.stdin:
        print(json.dumps({"failed": Scenario(client, line.strip()).run()}), flush=True)


main("".join(sys.argv[1:]))
sys.stdout.flush()
os._exit(0)  # a thread of a client may still wait
