"""The servers, and a connection to look behind the client's back."""

import os

import redis

ADDR = os.environ["REDIS_ADDR"]
MASTERS = os.environ.get("REDIS_MASTERS", ADDR).split(",")


def host_port(addr):
    host, _, port = addr.rpartition(":")
    return {"host": host, "port": int(port)}


class Server:
    def __init__(self, addr=ADDR):
        self.redis = redis.Redis(**host_port(addr), protocol=2, client_name="interop")

    def want_key(self, key, there, when):
        if bool(self.redis.exists(key)) != there:
            raise AssertionError(f"{when} {key} is {'not there' if there else 'still there'}")

    def increment(self, key):
        """Adds one in two steps, which only a lock makes one."""
        self.redis.set(key, int(self.redis.get(key) or 0) + 1)

    def lose_scripts(self):
        self.redis.script_flush()

    def kill_others(self):
        self.redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def close(self):
        self.redis.close()
