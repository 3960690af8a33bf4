"""Prints a row for each launcher and application in Python: see ../main.go.

The first line of a function's docstring is the detail of its row.
"""

import importlib.metadata
import json
import sys
import traceback

import launchers

ROWS = [
    ("launcher", "pytest-redis", launchers.pytest_redis),
    ("launcher", "testing.redis", launchers.testing_redis),
    ("launcher", "pifpaf", launchers.pifpaf),
    ("launcher", "testcontainers", launchers.testcontainers),
    ("launcher", "redis-cli", launchers.health_check),
]


def main(server):
    for kind, name, work in ROWS:
        row = {"kind": kind, "name": name, "version": version(name)}
        try:
            work(server)
            row |= {"ok": True, "detail": work.__doc__.splitlines()[0].rstrip(".")}
        except Exception as error:
            traceback.print_exc()
            row |= {"ok": False, "detail": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(row), flush=True)


def version(name):
    """The version of a distribution. redis-cli is none, and says its own."""
    return launchers.redis_cli_version() if name == "redis-cli" else importlib.metadata.version(name)


if __name__ == "__main__":
    main(sys.argv[1])
