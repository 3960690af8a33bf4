"""redis-py's own lock, over its blocking and its asyncio client."""

import asyncio
import threading

import redis
import redis.asyncio

from library import Library, Lock, NotHeld, Owner
from server import ADDR, host_port

POLL = 0.01  # seconds


def sync():
    return Library(f"redis-py {redis.__version__}", _open, moves=True, protocols=[2, 3])


def asynchronous():
    return Library(f"redis-py {redis.__version__} (asyncio)", _open_async, protocols=[2, 3])


def _open(lease, protocol, renew):
    client = redis.Redis(**_options(protocol))
    return Owner(
        lock=lambda name: _lock(client.lock(name, timeout=lease, sleep=POLL), lambda do: do),
        close=client.close,
        resp=lambda: _resp(client.client_info()),
    )


def _open_async(lease, protocol, renew):
    """The asyncio client on a loop of its own, in a thread, asked as if it were a blocking one."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def blocking(do):
        async def inside(*args, **kw):  # what do itself looks at belongs to the loop's thread, too
            return await do(*args, **kw)

        return lambda *args, **kw: asyncio.run_coroutine_threadsafe(inside(*args, **kw), loop).result()

    client = redis.asyncio.Redis(**_options(protocol))

    def close():
        blocking(client.aclose)()
        loop.call_soon_threadsafe(loop.stop)

    return Owner(
        lock=lambda name: _lock(client.lock(name, timeout=lease, sleep=POLL), blocking),
        close=close,
        resp=lambda: _resp(blocking(client.client_info)()),
    )


def _options(protocol):
    return host_port(ADDR) | ({"protocol": protocol} if protocol else {})


def _resp(info):
    return int(info["resp"])


def _lock(lock, call):
    def acquire(seconds):
        return call(lock.acquire)(blocking=seconds != 0, blocking_timeout=seconds or None)

    def release():
        try:
            call(lock.release)()
        except redis.exceptions.LockNotOwnedError as e:
            raise NotHeld from e

    return Lock(lock.name, acquire, release, lambda: call(lock.reacquire)())
