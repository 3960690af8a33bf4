"""The first tests of a lock with a lab: pytest, redis-py. Run them with `pytest`."""

import os
import subprocess
import threading

import pytest
import redis
from redis.exceptions import LockNotOwnedError


@pytest.fixture(scope="session")
def port(tmp_path_factory):
    """Starts one server for all tests, on a free port."""
    folder = tmp_path_factory.mktemp("miniredisd")
    program = os.environ.get("MINIREDISD", "miniredisd")
    arguments = ["--lab", "yes", "--port", "0", "--port-file", "port"]
    server = subprocess.Popen([program, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True)
    for line in server.stdout:
        if "Ready to accept connections" in line:
            break
    yield int((folder / "port").read_text())
    server.terminate()
    server.communicate()


@pytest.fixture
def lab(port):
    """Sends LAB over a connection of its own. Each test begins without rules and keys, and the clock stands still."""
    client = redis.Redis(port=port, protocol=3, decode_responses=True)

    def say(words, *more):
        return client.execute_command("LAB", *words.split(), *more)

    say("RESET AT 1700000000000")
    client.flushall()
    yield say
    client.close()


def new_lock(port):
    return redis.Redis(port=port).lock("lock:order", timeout=30, thread_local=False)


def test_a_lost_reply_leaves_a_lock_behind(port, lab):
    lab("FAULT ADD lost CMD SET KEY lock:* NTH 1 ACTION DROP-REPLY")

    assert not new_lock(port).acquire(blocking=False)  # the first SET took it; redis-py sent a second one
    assert lab("CLOCK ADVANCE", 30001) == 1            # one key expired: the lock of nobody
    assert new_lock(port).acquire(blocking=False)


def test_a_late_release_does_not_free_the_next_lock(port, lab):
    slow, next_one = new_lock(port), new_lock(port)
    assert slow.acquire(blocking=False)
    lab("FAULT ADD pause CMD EVALSHA TIMES 1 ACTION HOLD")

    errors = []

    def release():
        try:
            slow.release()
        except LockNotOwnedError as error:
            errors.append(error)

    thread = threading.Thread(target=release)
    thread.start()
    assert lab("HOLD WAIT pause", 5000) is not None  # the release has reached the server
    lab("CLOCK ADVANCE", 30001)                      # its lease ends
    assert next_one.acquire(blocking=False)
    lab("HOLD RELEASE pause")                        # only now does the server execute the release
    thread.join()

    assert len(errors) == 1
    assert next_one.owned()
