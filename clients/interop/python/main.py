"""Runs lock libraries for Python against one Redis server: a line of JSON for each cell.

It is started by ../matrix, with the servers in its environment (../README.md has the contract); by hand:

    REDIS_ADDR=127.0.0.1:6379 ./run

The scenarios are written once, against the methods of a Lock; a module for each library fills them in.

    cell.py          a cell, its time limit and its line
    server.py        the servers, and a connection to look behind the client's back
    library.py       what a lock library is to a scenario
    scenarios.py     the scenarios of a plain lock
    lib_*.py         the libraries
    compare.py       locks in commands that compare the token themselves
"""

import logging
import os
import sys

import compare
import lib_pottery
import lib_redis
import lib_redis_lock
import scenarios


def main():
    logging.disable(logging.CRITICAL)  # libraries log each refusal; the cells say what matters
    libraries = [lib_redis.sync(), lib_redis.asynchronous(), lib_redis_lock.library(), lib_pottery.library()]
    cells = [cell for library in libraries for cell in scenarios.cells_of(library)]
    cells += lib_pottery.cells() + compare.cells()
    only = os.environ.get("ONLY", "")
    for cell in cells:
        if only in cell.name:
            cell.run()
    sys.stdout.flush()
    os._exit(0)  # a cell that hangs has left a thread behind


main()
