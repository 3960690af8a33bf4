"""Tests of a project that uses pytest-redis, with the fixtures that the plugin offers by itself."""

import pytest
import redis


def test_the_server_runs_with_the_options_of_the_plugin(redis_proc, redisdb):
    assert redis_proc.running()
    assert redisdb.config_get("databases") == {"databases": "8"}
    assert redis.Redis(unix_socket_path=redis_proc.unixsocket).ping()


@pytest.mark.parametrize("n", [1, 2])
def test_each_test_begins_without_keys(redisdb, n):
    assert redisdb.keys() == []
    assert redisdb.lock("lock:order", timeout=30).acquire(blocking=False)
    redisdb.rpush("jobs", "a", "b")
    assert redisdb.eval("return redis.call('lrange', KEYS[1], 0, -1)", 1, "jobs") == [b"a", b"b"]
