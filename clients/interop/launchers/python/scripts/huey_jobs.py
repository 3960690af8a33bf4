"""Huey: a task, a delayed task, a pipeline, a revoked task, a lock."""

import os

from huey import RedisHuey
from huey.exceptions import TaskLockedException

huey = RedisHuey("jobs", url=os.environ["URL"])


@huey.task()
def add(a, b):
    return a + b


with huey.lock_task("order"):
    try:
        with huey.lock_task("order"):
            raise AssertionError("two tasks hold the lock")
    except TaskLockedException:
        pass

consumer = huey.create_consumer(workers=1, scheduler_interval=1, check_worker_health=False)
consumer.start()
revoked = add.schedule((5, 6), delay=3600)
revoked.revoke()
delayed = add.schedule((3, 4), delay=1)
assert add(1, 2).get(blocking=True, timeout=40) == 3
assert huey.enqueue(add.s(1, 2).then(add, 10)).get(blocking=True, timeout=40) == [3, 13]
assert delayed.get(blocking=True, timeout=40) == 7
assert revoked.is_revoked()
consumer.stop(graceful=True)
