"""Prints a row for each launcher and application in Python: see ../main.go."""

import importlib.metadata
import json
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

import applications
import launchers

ROWS = [
    ("launcher", "pytest-redis", launchers.pytest_redis),
    ("launcher", "testing.redis", launchers.testing_redis),
    ("launcher", "pifpaf", launchers.pifpaf),
    ("launcher", "testcontainers", launchers.testcontainers),
    ("launcher", "redis-cli", launchers.health_check),
    ("application", "Django", applications.django),
    ("application", "django-redis", applications.django_redis),
    ("application", "celery", applications.celery),
    ("application", "rq", applications.rq),
    ("application", "dramatiq", applications.dramatiq),
    ("application", "huey", applications.huey),
]


def main(server):
    """Runs four rows at a time, because they mostly wait."""
    with ThreadPoolExecutor(4) as pool:
        for row in pool.map(lambda row: outcome(server, *row), ROWS):
            print(json.dumps(row), flush=True)


def outcome(server, kind, name, work):
    """The row of one function. The first line of its docstring is the detail."""
    row = {"kind": kind, "name": name, "version": version(name)}
    try:
        work(server)
        return row | {"ok": True, "detail": work.__doc__.splitlines()[0]}
    except Exception as error:
        traceback.print_exc()
        return row | {"ok": False, "detail": f"{type(error).__name__}: {error}".splitlines()[0]}


def version(name):
    """The version of a distribution. redis-cli comes with the system, and says its own."""
    return launchers.redis_cli_version() if name == "redis-cli" else importlib.metadata.version(name)


if __name__ == "__main__":
    main(sys.argv[1])
