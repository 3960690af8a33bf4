"""Lab 5: find all keys of a pattern, and let others work meanwhile. Fill in count and purge."""
from lab import run


class Search:
    def __init__(self, masters, key, lease_ms):
        self.redis = masters[0]  # this lab has no lock: key and lease_ms are for others

    def count(self, pattern):
        """Returns how many keys match."""
        # TODO: cursor, names = self.redis.do("SCAN", ...)
        return 0

    def purge(self, pattern):
        """Deletes the keys that match. Returns how many it deleted."""
        # TODO: self.redis.do("UNLINK", *names) returns how many keys were there
        return 0


run("my search in Python", Search)
