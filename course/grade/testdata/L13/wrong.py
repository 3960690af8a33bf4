"""A lock that compares the token and deletes the key in two requests."""
import uuid

from lab import run


class Lock:
    def __init__(self, masters, key, lease_ms):
        self.redis, self.key, self.lease_ms = masters[0], key, lease_ms

    def take(self):
        self.token = uuid.uuid4().hex
        return self.redis.do("SET", self.key, self.token, "NX", "PX", self.lease_ms) == "OK"

    def release(self):
        return self.redis.do("GET", self.key) == self.token and self.redis.do("DEL", self.key) == 1


run("a wrong lock in Python", Lock)
