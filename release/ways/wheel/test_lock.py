import redis


def test_the_lock_is_free_when_its_lease_is_over(miniredisd):
    client = redis.Redis.from_url(miniredisd.url)
    assert client.lock("lock:order", timeout=30).acquire(blocking=False)

    miniredisd.clock.advance(30_001)

    assert client.lock("lock:order", timeout=30).acquire(blocking=False)
    miniredisd.assert_one_holder("lock:*")
