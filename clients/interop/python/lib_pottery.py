"""pottery's Redlock, over one master as a plain lock and over three as what it is for."""

from importlib.metadata import version

import pottery
import redis

from cell import Cell
from library import Library, Lock, NotHeld, Owner
from scenarios import Scene
from server import ADDR, MASTERS, Server, host_port

LONG = 60  # seconds


def library():
    return Library(_client(), lambda lease, protocol, renew: _open([ADDR], lease))


def cells():
    return [Cell(_client(), "redlock", lambda: redlock(Scene(library(), "redlock", {})))]


def _client():
    return f"pottery {version('pottery')} (redis-py {redis.__version__})"


def _open(addrs, lease):
    masters = [redis.Redis(**host_port(addr)) for addr in addrs]

    def lock(name):
        lock = pottery.Redlock(key=name, masters=set(masters), auto_release_time=lease or LONG, num_extensions=100)

        def acquire(seconds):
            if seconds == 0:
                return lock.acquire(blocking=False)
            return lock.acquire(timeout=-1 if seconds is None else seconds)

        def release():
            try:
                lock.release()
            except pottery.ReleaseUnlockedLock as e:
                raise NotHeld from e

        return Lock(lock.key, acquire, release, lock.extend)

    def close():
        for master in masters:
            master.close()

    return Owner(lock, close)


def redlock(scene):
    """Two of three masters are enough, one is not."""
    servers = [Server(addr) for addr in MASTERS]
    owner = _open(MASTERS, None)
    lock = owner.lock(scene.name)
    try:
        for taken, got in [(0, True), (1, True), (2, False), (3, False)]:
            for server in servers[:taken]:
                server.redis.set(lock.key, "of a stranger")
            if lock.acquire(0) != got:
                raise AssertionError(f"{'not got' if got else 'got'} with {taken} of {len(servers)} masters taken")
            if got:
                lock.release()
            for server in servers:
                server.redis.delete(lock.key)
    finally:
        for server in servers:
            server.redis.delete(lock.key)
            server.close()
        owner.close()
