"""django-redis: entries that expire, counters, patterns, and a lock that a cleaner deletes."""

import os

import django
from django.conf import settings

settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": os.environ["URL"]}})
django.setup()

from django.core.cache import cache  # noqa: E402
from redis.exceptions import LockNotOwnedError  # noqa: E402

assert cache.set("page", {"html": "<p>"}, timeout=60, nx=True)
assert not cache.set("page", "another", nx=True)
assert cache.get("page") == {"html": "<p>"} and 0 < cache.ttl("page") <= 60
assert cache.incr_version("page") == 2 and cache.get("page", version=2)
assert cache.set("count", 1) and cache.incr("count", 5) == 6
assert cache.expire("count", 1)
while cache.get("count") is not None:  # it expires within a second
    pass

cache.set_many({f"user:{n}": n for n in range(300)})
assert len(list(cache.iter_keys("user:*"))) == 300
assert cache.delete_pattern("user:*") == 300

first, second = cache.lock("order", timeout=30), cache.lock("order", timeout=30)
assert first.acquire(blocking=False) and not second.acquire(blocking=False)
assert cache.delete_pattern("order*") == 1  # a cleaner: the first holder learns of it
assert second.acquire(blocking=False)
try:
    first.release()
except LockNotOwnedError:
    pass
else:
    raise AssertionError("the first holder released the lock of the second")
second.release()
