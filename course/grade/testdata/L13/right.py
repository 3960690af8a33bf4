"""A lock that no single failure breaks."""
import uuid

from lab import run

RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


class Lock:
    def __init__(self, masters, key, lease_ms):
        self.redis, self.key, self.lease_ms = masters[0], key, lease_ms

    def again(self, *words):
        """Sends a request until an answer comes. Returns it, and how many attempts there were before."""
        for attempt in range(3):
            try:
                return self.redis.do(*words), attempt
            except (OSError, RuntimeError) as error:
                why = error
        raise why

    def take(self):
        self.token = uuid.uuid4().hex
        reply, before = self.again("SET", self.key, self.token, "NX", "PX", self.lease_ms)
        if reply == "OK":
            return True
        return before > 0 and self.again("GET", self.key)[0] == self.token

    def release(self):
        deleted, before = self.again("EVAL", RELEASE, 1, self.key, self.token)
        return deleted == 1 or before > 0


run("a right lock in Python", Lock)
