"""A lock. The task of the lab says what take and release must do."""
from lab import run


class Lock:
    def __init__(self, masters, key, lease_ms):
        self.redis, self.key, self.lease_ms = masters[0], key, lease_ms

    def take(self):
        """Takes the lock. Returns whether it is ours."""
        # TODO: self.redis.do("SET", ...) returns "OK", or None
        return False

    def release(self):
        """Releases the lock. Returns False if it was not ours any more."""
        # TODO
        return False


run("my lock in Python", Lock)
