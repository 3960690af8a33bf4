"""Celery with broker and results in Redis: a task, a chord, a countdown, a retry, a revoked task."""

import os
import subprocess
import sys

from celery import Celery, chord

app = Celery("celery_app", broker=os.environ["URL"], backend=os.environ["URL"])


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=1)
def once_more(self):
    if self.request.retries == 0:
        raise self.retry(countdown=0)
    return self.request.retries


def main():
    command = ["celery", "--app", "celery_app", "worker", "--concurrency", "1", "--loglevel", "ERROR"]
    worker = subprocess.Popen([sys.executable, "-m", *command])
    try:
        assert add.delay(1, 2).get(timeout=40) == 3
        assert chord((add.s(n, n) for n in range(5)), total.s()).apply_async().get(timeout=40) == 20
        assert add.apply_async((3, 4), countdown=0.2).get(timeout=40) == 7
        assert once_more.delay().get(timeout=40) == 1
        later = add.apply_async((5, 6), countdown=3600)
        assert app.control.revoke(later.id, reply=True, timeout=10, limit=1)
        assert later.id in next(iter(app.control.inspect(limit=1).revoked().values()))
    finally:
        worker.terminate()  # a warm shutdown: the task that waits for its time goes back to the broker
        assert worker.wait(30) == 0


if __name__ == "__main__":
    main()
