"""Django's own Redis cache: entries that expire, counters, sessions."""

import os

import django
from django.conf import settings

settings.configure(
    CACHES={"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": os.environ["URL"]}},
    SESSION_ENGINE="django.contrib.sessions.backends.cache",
)
django.setup()

from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402
from django.core.cache import cache  # noqa: E402

assert cache.get_or_set("page", lambda: {"html": "<p>"}, timeout=60) == {"html": "<p>"}
assert cache.get("page") == {"html": "<p>"}
assert cache.add("page", "another") is False
cache.set_many({"a": 1, "b": 2})
assert cache.incr("a", 5) == 6
assert cache.get_many(["a", "b", "c"]) == {"a": 6, "b": 2}
assert cache.delete("a") and not cache.has_key("a")
assert cache.touch("page", 1)
while cache.get("page") is not None:  # it expires within a second
    pass

session = SessionStore()
session["user"] = 7
session.save()
assert SessionStore(session.session_key)["user"] == 7
session.flush()
assert not SessionStore().exists(session.session_key)
