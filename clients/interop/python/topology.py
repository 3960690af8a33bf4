"""A lock in a cluster or through Sentinel, for clients/interop/topology. ../README.md describes the interface."""

import json
import os
import sys
import threading
import time

import redis
import redis.cluster
import redis.sentinel
import valkey
import valkey.cluster
import valkey.sentinel

PATIENCE = 2  # seconds that a client waits for a reply
RECOVERY = 30  # seconds until a client has to have found the new master
LEASE = 300  # seconds
FREE = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "redis.call('publish', ARGV[2], 'free') return redis.call('del', KEYS[1]) end return 0"
)


def addresses():
    return [(host, int(port)) for host, port in (a.split(":") for a in os.environ["ADDRESSES"].split(","))]


def connect(kind):
    """A client of redis-py, or of its fork."""
    limits = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    if os.environ["MODE"] == "cluster":
        nodes = [kind.cluster.ClusterNode(*address) for address in addresses()]
        cluster = kind.RedisCluster if kind is redis else kind.ValkeyCluster
        return cluster(startup_nodes=nodes, **limits)
    group = kind.sentinel.Sentinel(addresses(), sentinel_kwargs=limits, **limits)
    return group.master_for(os.environ["MASTER"])


def ask(what, key):
    print(json.dumps({"ask": what, "key": key}), flush=True)
    sys.stdin.readline()


class Play:
    """The scenes of one client."""

    def __init__(self, kind):
        self.client = connect(kind)

    def take(self, key):
        """Returns a held lock of a new owner, or None."""
        lock = self.client.lock(key, timeout=LEASE, thread_local=False)
        return lock if lock.acquire(blocking=False) else None

    def connect(self):
        assert self.client.set("connect", "1") and self.client.get("connect") == b"1"

    def lock(self):
        held = self.take("lock")
        assert held and self.take("lock") is None
        held.release()
        assert self.client.get("lock") is None

    def contention(self):
        def work():
            for _ in range(10):
                with self.client.lock("busy", timeout=LEASE, sleep=0.005, thread_local=False):
                    self.client.set("{busy}:n", int(self.client.get("{busy}:n") or 0) + 1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert self.client.get("{busy}:n") == b"40"

    def wake_up(self):
        channel = self.client.pubsub()
        channel.subscribe("woken:free")
        message = channel.get_message(timeout=PATIENCE)
        assert message and message["type"] == "subscribe", message
        assert self.client.set("woken", "a", nx=True, px=LEASE * 1000)
        assert self.client.eval(FREE, 1, "woken", "a", "woken:free") == 1
        message = channel.get_message(timeout=PATIENCE)
        assert message and message["data"] == b"free", message
        channel.close()

    def slot(self):
        held = self.take("moved")
        assert held
        ask("move", "moved")
        assert self.take("moved") is None  # ASK
        held.release()
        held = self.take("moved")
        assert held
        ask("finish", "moved")
        assert self.take("moved") is None  # MOVED
        held.release()

    def failover(self):
        held = self.take("kept")
        assert held
        ask("failover", "kept")
        end = time.monotonic() + RECOVERY
        while True:
            try:
                assert self.take("kept") is None
                held.release()
                return
            except (redis.RedisError, valkey.ValkeyError, OSError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


def main(client, kind):
    play = None
    names = ["connect", "lock", "contention", "wake-up", *(["slot"] if os.environ["MODE"] == "cluster" else []), "failover"]
    for name in names:
        saw = "ok"
        try:
            play = play or Play(kind)
            getattr(play, name.replace("-", "_"))()
        except Exception as e:  # whatever the client throws is its result
            saw = f"error: {type(e).__name__}: {e}"
        print(json.dumps({"client": client, "scene": name, "saw": saw}), flush=True)
    os._exit(0)


CLIENTS = {
    "redis-py": (f"redis-py {redis.__version__}", redis),
    "valkey-py": (f"valkey-py {valkey.__version__}", valkey),
}

if len(sys.argv) == 1:
    print("\n".join(CLIENTS))
else:
    main(*CLIENTS[sys.argv[1]])
