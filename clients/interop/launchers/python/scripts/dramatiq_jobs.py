"""Dramatiq: a message, a delayed message, a pipeline, results, a retry, and a limiter of concurrency."""

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.rate_limits import ConcurrentRateLimiter
from dramatiq.rate_limits.backends import RedisBackend as LimiterBackend
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend

URL = os.environ["URL"]
broker = RedisBroker(url=URL)
broker.add_middleware(Results(backend=RedisBackend(url=URL)))
dramatiq.set_broker(broker)
tries = []


@dramatiq.actor(store_results=True)
def add(a, b):
    return a + b


@dramatiq.actor(store_results=True, max_retries=1, min_backoff=10, max_backoff=10)
def once_more():
    tries.append(1)
    if len(tries) == 1:
        raise ConnectionError("the first try fails")
    return len(tries)


limit = ConcurrentRateLimiter(LimiterBackend(url=URL), "limit", limit=1)
with limit.acquire() as acquired:
    assert acquired
    with limit.acquire(raise_on_failure=False) as second:
        assert not second

worker = dramatiq.Worker(broker, worker_timeout=100)
worker.start()
message = add.send(1, 2)
delayed = add.send_with_options(args=(3, 4), delay=200)
pipeline = (add.message(1, 1) | add.message(10)).run()
again = once_more.send()
assert message.get_result(block=True, timeout=40_000) == 3
assert delayed.get_result(block=True, timeout=40_000) == 7
assert pipeline.get_result(block=True, timeout=40_000) == 12
assert again.get_result(block=True, timeout=40_000) == 2
broker.join(add.queue_name)
worker.stop()
