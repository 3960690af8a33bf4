"""The first tests of a lock with a lab: pytest, redis-py. Run them with `pytest`."""

import threading

import redis
from redis.exceptions import LockNotOwnedError


def new_lock(miniredisd):
    return redis.Redis(port=miniredisd.port).lock("lock:order", timeout=30, thread_local=False)


def test_a_lost_reply_leaves_a_lock_behind(miniredisd):
    miniredisd.fault("lost", cmd="SET", key="lock:*", nth=1).drop_reply()

    assert not new_lock(miniredisd).acquire(blocking=False)  # the first SET took it; redis-py sent a second one
    assert miniredisd.clock.advance(30_001) == 1             # one key expired: the lock of nobody
    assert new_lock(miniredisd).acquire(blocking=False)


def test_a_late_release_does_not_free_the_next_lock(miniredisd):
    slow, next_one = new_lock(miniredisd), new_lock(miniredisd)
    assert slow.acquire(blocking=False)
    pause = miniredisd.hold("pause", cmd="EVALSHA", times=1)

    errors = []

    def release():
        try:
            slow.release()
        except LockNotOwnedError as error:
            errors.append(error)

    thread = threading.Thread(target=release)
    thread.start()
    pause.wait()                      # the release has reached the server
    miniredisd.clock.advance(30_001)  # its lease ends
    assert next_one.acquire(blocking=False)
    pause.release()                   # only now does the server execute the release
    thread.join()

    assert len(errors) == 1
    assert next_one.owned()
    miniredisd.assert_one_holder("lock:*")
