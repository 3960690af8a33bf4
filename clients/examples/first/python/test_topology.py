"""A lock behind Sentinel and in a cluster: pytest, redis-py. Run them with `pytest`."""

import redis
from redis.sentinel import Sentinel


def new_lock(client):
    return client.lock("lock:order", timeout=3600, thread_local=False)


def test_the_owner_releases_its_lock_after_a_failover(miniredisd_sentinels):
    servers = miniredisd_sentinels
    client = Sentinel([sentinel.address for sentinel in servers.sentinels]).master_for("mymaster")
    lock = new_lock(client)
    assert lock.acquire(blocking=False)
    assert servers.await_replicas() == 2  # without this line the failover may lose the lock

    servers.masters[0].crash(down=7_200_000)
    servers.clock.advance(60_000)  # the Sentinels promote a replica
    assert servers.sentinels[0].master is not servers.masters[0]

    assert not new_lock(client).acquire(blocking=False)
    lock.release()
    assert new_lock(client).acquire(blocking=False)


def test_the_owner_releases_its_lock_while_its_slot_moves(miniredisd_cluster):
    cluster = miniredisd_cluster
    client = redis.RedisCluster(host=cluster.host, port=cluster.port)
    lock = new_lock(client)
    assert lock.acquire(blocking=False)

    to = next(node for node in cluster.masters[:3] if node is not cluster.owner("lock:order"))
    cluster.move_slot("lock:order", to, "keys")  # the old node replies ASK
    assert not new_lock(client).acquire(blocking=False)
    lock.release()
    cluster.move_slot("lock:order", to)  # and now MOVED
    assert new_lock(client).acquire(blocking=False)
