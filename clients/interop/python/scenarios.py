"""The scenarios of a plain lock."""

import os
import threading
import time
from contextlib import contextmanager

import redis

from cell import Cell
from library import NotHeld
from server import MASTERS, Server

WORKERS = 16
ROUNDS = 5


def cells_of(library):
    scenarios = [acquire_release, contention, expiry, watchdog, stranger, try_timeout, script_lost, reconnect]
    if library.wakes:
        scenarios.append(wakeup)
    if library.moves:
        scenarios.append(moved)
    cells = [_cell(library, scenario, name_of(scenario)) for scenario in scenarios]
    return cells + [_cell(library, speaks, f"resp{n}", protocol=n) for n in library.protocols]


def name_of(scenario):
    return scenario.__name__.replace("_", "-")


def _cell(library, scenario, name, **opening):
    return Cell(library.client, name, lambda: scenario(Scene(library, name, opening)))


class Scene:
    """What most scenarios need: two owners that want the same lock, and a view of the server."""

    def __init__(self, library, scenario, opening):
        self.library, self.opening = library, opening
        self.name = f"interop:{library.client}:{scenario}:{os.getpid()}"
        self.counter = self.name + ":counter"

    @contextmanager
    def locks(self, lease=None, renew=False):
        """A lock of each of two owners, and the server."""
        server = Server()
        owners = [self.library.open(lease=lease, protocol=self.opening.get("protocol"), renew=renew) for _ in range(2)]
        locks = [owner.lock(self.name) for owner in owners]
        try:
            yield locks[0], locks[1], server
        finally:
            server.redis.delete(locks[0].key, self.counter)
            for owner in owners:
                owner.close()
            server.close()


def take(lock):
    if not lock.acquire(5):
        raise AssertionError("a lock that was free was not got within 5 s")


def refused(lock, when):
    if lock.acquire(0):
        raise AssertionError(f"{when} another one got the lock")


def take_and_release(lock, server):
    take(lock)
    server.want_key(lock.key, True, "while held")
    lock.release()
    server.want_key(lock.key, False, "after the release")


def acquire_release(scene):
    with scene.locks() as (a, b, server):
        take_and_release(a, server)
        take(a)
        refused(b, "while it was held")
        a.release()


def contention(scene):
    wrong = []
    with scene.locks() as (_, _, server):
        workers = [threading.Thread(target=_work, args=(scene, wrong), daemon=True) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if wrong:
            raise wrong[0]
        lost = WORKERS * ROUNDS - int(server.redis.get(scene.counter))
        if lost:
            raise AssertionError(f"{lost} updates were lost")


def _work(scene, wrong):
    server, owner = Server(), scene.library.open(lease=None, protocol=None, renew=False)
    try:
        lock = owner.lock(scene.name)
        for _ in range(ROUNDS):
            if not lock.acquire(None):
                raise AssertionError("waiting without a limit ended without the lock")
            server.increment(scene.counter)
            lock.release()
    except Exception as e:
        wrong.append(e)
    finally:
        owner.close()
        server.close()


def expiry(scene):
    lease = scene.library.lease
    with scene.locks(lease) as (a, b, server):
        began = time.monotonic()
        take(a)
        refused(b, "before the lease was over")
        while not b.acquire(0):
            time.sleep(0.01)
        waited = time.monotonic() - began
        # Expiry is kept in whole milliseconds, and the client began its own a little earlier.
        if waited < lease - 0.005:
            raise AssertionError(f"the lock was free after {waited:.3f} s, its lease is {lease} s")
        b.release()


def watchdog(scene):
    lease = scene.library.lease
    with scene.locks(lease, renew=True) as (a, b, server):
        take(a)
        began = time.monotonic()
        while time.monotonic() - began < 3 * lease:
            time.sleep(lease / 3)
            if a.extend:
                a.extend()
            refused(b, "while the lock was being renewed")
        a.release()


def stranger(scene):
    """The lock passes to another owner; the first one, who thinks it still holds it, must not be able to release it."""
    with scene.locks() as (a, b, server):
        take(a)
        server.redis.set(a.key, "of a stranger")
        try:
            a.release()
        except NotHeld:
            server.want_key(a.key, True, "after a stranger's release")
            return
        raise AssertionError("a stranger's lock was released")


def try_timeout(scene):
    limit = scene.library.wait
    with scene.locks() as (a, b, server):
        take(a)
        began = time.monotonic()
        if b.acquire(limit):
            raise AssertionError("got a lock that is held")
        waited = time.monotonic() - began
        if waited < limit / 2 or waited > 5 * limit:
            raise AssertionError(f"gave up after {waited:.3f} s, with a limit of {limit} s")
        a.release()


def script_lost(scene):
    with scene.locks() as (a, b, server):
        for _ in range(2):
            take_and_release(a, server)
            server.lose_scripts()
        take(a)
        server.lose_scripts()
        a.release()
        server.want_key(a.key, False, "after a release without its script")


def reconnect(scene):
    with scene.locks() as (a, b, server):
        take_and_release(a, server)
        server.kill_others()
        try:  # a client that does not retry may notice only now that its connection is gone
            if b.acquire(0):
                b.release()
        except redis.ConnectionError:
            pass
        server.redis.delete(a.key)
        take_and_release(a, server)


def wakeup(scene):
    """A waiter hears of the release: it waits without an interval of polling."""
    with scene.locks() as (a, b, server):
        take(a)
        got = threading.Event()

        def wait():
            b.acquire(None)
            got.set()

        threading.Thread(target=wait, daemon=True).start()
        if got.wait(0.2):
            raise AssertionError("the waiter did not wait")
        a.release()
        if not got.wait(2):
            raise AssertionError("the waiter was not woken within 2 s of the release")
        b.release()


def moved(scene):
    """The lock's key goes to another server, and back: it still is its owner's, and has its lease."""
    with scene.locks(lease=10) as (a, b, server):
        other = Server(MASTERS[-1])
        take(a)
        _move(a.key, server, other)
        if not 0 < other.redis.pttl(a.key) <= 10_000:
            raise AssertionError(f"there it has {other.redis.pttl(a.key)} ms left of 10 s")
        _move(a.key, other, server)
        refused(b, "after it came back")
        a.release()
        server.want_key(a.key, False, "after the release")
        other.close()


def _move(key, source, target):
    payload, ttl = source.redis.dump(key), source.redis.pttl(key)
    source.redis.delete(key)
    target.redis.restore(key, ttl, payload)


def speaks(scene):
    wanted = scene.opening["protocol"]
    with scene.locks() as (a, _, server):
        take_and_release(a, server)
    owner = scene.library.open(lease=None, protocol=wanted, renew=False)
    try:
        if owner.resp() != wanted:
            raise AssertionError(f"the connection speaks RESP{owner.resp()}")
    finally:
        owner.close()
