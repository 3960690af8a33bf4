"""Programs that need a redis-server. Each function gets the path of one, and runs a script with a server of its own."""

import os
import sys
from pathlib import Path

from running import run, running

SCRIPTS = Path(__file__).parent / "scripts"


def django(server):
    """`RedisCache`: entries that expire, counters, sessions"""
    script(server, "django_cache.py")


def django_redis(server):
    """`RedisCache`: the same, patterns, a lock that a cleaner deletes"""
    script(server, "django_redis_cache.py")


def celery(server):
    """broker and results: a task, a chord, a countdown, a retry, a revoked task"""
    script(server, "celery_app.py")


def rq(server):
    """a job, a dependent job, a scheduled job, a job that fails"""
    script(server, "rq_jobs.py")


def dramatiq(server):
    """a message, a delayed message, a pipeline, a retry, a limiter"""
    script(server, "dramatiq_jobs.py")


def huey(server):
    """a task, a delayed task, a pipeline, a revoked task, a lock"""
    script(server, "huey_jobs.py")


def script(server, name):
    with running(server) as port:
        run(sys.executable, SCRIPTS / name, env=os.environ | {"URL": f"redis://127.0.0.1:{port}"}, cwd=SCRIPTS)
