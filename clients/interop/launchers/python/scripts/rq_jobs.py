"""RQ: a job, a job that waits for another, a scheduled job, and one that fails."""

import os
from datetime import datetime, timedelta, timezone

from redis import Redis
from rq import Queue, Worker
from rq.registry import FailedJobRegistry

client = Redis.from_url(os.environ["URL"])
queue = Queue(connection=client)
first = queue.enqueue("operator.add", 1, 2, result_ttl=60)
second = queue.enqueue("operator.mul", 3, 4, depends_on=first)
scheduled = queue.enqueue_at(datetime.now(timezone.utc) - timedelta(seconds=1), "operator.sub", 9, 4)
failing = queue.enqueue("operator.truediv", 1, 0)

assert Worker([queue], connection=client).work(burst=True, with_scheduler=True, logging_level="WARNING")

assert [job.latest_result().return_value for job in (first, second, scheduled)] == [3, 12, 5]
assert "ZeroDivisionError" in failing.latest_result().exc_string
assert FailedJobRegistry(queue=queue).get_job_ids() == [failing.id]
assert queue.is_empty() and 0 < client.ttl(first.key) <= 60
