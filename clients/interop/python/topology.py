"""A lock in a cluster or through Sentinel, for clients/interop/topology. ../README.md describes the interface."""

import json
import os
import sys
import threading
import time
from importlib import metadata

import glide_sync as glide
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

    errors = (redis.RedisError, valkey.ValkeyError, OSError)

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

        self.work_at_once(work)

    def work_at_once(self, work):
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

    def shard(self):
        """A connection that ends has to be made anew, with its subscription."""
        channel = self.client.pubsub()
        channel.ssubscribe("shard")
        self.hear(channel, "ssubscribe", lambda: None)
        publish = lambda: self.client.spublish("shard", "free")
        self.hear(channel, "smessage", publish)
        ask("cut", "shard")
        self.hear(channel, "ssubscribe", publish)
        self.hear(channel, "smessage", publish)

    def hear(self, channel, kind, publish):
        """Waits for a message of a kind. With several masters, none yet may just mean that another one was asked."""
        end = time.monotonic() + RECOVERY
        while True:
            publish()
            try:
                message = channel.get_sharded_message(timeout=0.1)
            except self.errors:  # the connection has ended
                message = None
            if message and message["type"] == kind:
                return
            assert time.monotonic() < end, f"there is no {kind}"

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
            except self.errors:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


class GlideLock:
    """A lock as users of GLIDE write it."""

    def __init__(self, client, key):
        self.client, self.key, self.token = client, key, os.urandom(8).hex()

    def acquire(self):
        lease = glide.ExpirySet(glide.ExpiryType.SEC, LEASE)
        return self.client.set(self.key, self.token, glide.ConditionalChange.ONLY_IF_DOES_NOT_EXIST, lease) == "OK"

    def release(self):
        freed = self.client.invoke_script(glide.Script(FREE), [self.key], [self.token, f"{self.key}:free"])
        assert freed == 1, "the owner does not release the lock"


class PlayGlide(Play):
    """The scenes of Valkey GLIDE, which knows no Sentinel."""

    errors = (glide.GlideError,)

    def __init__(self, _):
        glide.Logger.set_logger_config(glide.LogLevel.OFF)  # it logs to stdout
        self.client = self.open()

    @staticmethod
    def open():
        nodes = [glide.NodeAddress(*address) for address in addresses()]
        return glide.GlideClusterClient.create(
            glide.GlideClusterClientConfiguration(nodes, request_timeout=PATIENCE * 1000)
        )

    def take(self, key):
        lock = GlideLock(self.client, key)
        return lock if lock.acquire() else None

    def contention(self):
        def work():
            for _ in range(10):
                while not (held := self.take("busy")):
                    time.sleep(0.005)
                self.client.set("{busy}:n", str(int(self.client.get("{busy}:n") or 0) + 1))
                held.release()

        self.work_at_once(work)

    def wake_up(self):
        listener = self.open()
        listener.subscribe({"woken:free"}, PATIENCE * 1000)
        held = self.take("woken")
        assert held
        held.release()
        self.await_message(listener, lambda: None)

    def shard(self):
        listener = self.open()
        listener.ssubscribe({"shard"}, PATIENCE * 1000)
        publish = lambda: self.client.publish("free", "shard", sharded=True)
        self.await_message(listener, publish)
        while listener.try_get_pubsub_message():
            pass
        ask("cut", "shard")
        self.await_message(listener, publish)

    @staticmethod
    def await_message(listener, publish):
        end = time.monotonic() + RECOVERY
        while not listener.try_get_pubsub_message():
            assert time.monotonic() < end, "there is no message"
            publish()
            time.sleep(0.1)


def main(client, kind, scenes):
    play = None
    in_cluster = os.environ["MODE"] == "cluster"
    if not in_cluster and kind is glide:
        return
    names = ["connect", "lock", "contention", "wake-up", *(["shard", "slot"] if in_cluster else []), "failover"]
    for name in names:
        saw = "ok"
        try:
            play = play or scenes(kind)
            getattr(play, name.replace("-", "_"))()
        except Exception as e:  # whatever the client throws is its result
            saw = f"error: {type(e).__name__}: {e}"
        print(json.dumps({"client": client, "scene": name, "saw": saw}), flush=True)
    os._exit(0)


CLIENTS = {
    "redis-py": (f"redis-py {redis.__version__}", redis, Play),
    "valkey-py": (f"valkey-py {valkey.__version__}", valkey, Play),
    "valkey-glide": (f"valkey-glide {metadata.version('valkey-glide-sync')} (Python)", glide, PlayGlide),
}

if len(sys.argv) == 1:
    print("\n".join(CLIENTS))
else:
    main(*CLIENTS[sys.argv[1]])
