"""python-redis-lock: SET NX EX, and BLPOP on a list that the release pushes to."""

import math
from importlib.metadata import version

import redis
import redis_lock

from library import Library, Lock, NotHeld, Owner
from server import ADDR, host_port


def library():
    name = f"python-redis-lock {version('python-redis-lock')} (redis-py {redis.__version__})"
    return Library(name, _open, lease=1, wait=1, wakes=True)  # it knows whole seconds only


def _open(lease, protocol, renew):
    client = redis.StrictRedis(**host_port(ADDR))

    def lock(name):
        lock = redis_lock.Lock(client, name, expire=lease, auto_renewal=renew)

        def acquire(seconds):
            if seconds is None:
                return lock.acquire()
            limit = math.ceil(seconds)
            if lease:
                limit = min(limit, lease)
            return lock.acquire(timeout=limit) if seconds else lock.acquire(blocking=False)

        def release():
            try:
                lock.release()
            except redis_lock.NotAcquired as e:
                raise NotHeld from e

        return Lock("lock:" + name, acquire, release)

    return Owner(lock, client.close)
