"""A cell, its time limit and its line."""

import json
import threading
import time
from dataclasses import dataclass
from typing import Callable

LIMIT = 10  # seconds; a cell that reaches it has failed, and the next one begins


@dataclass
class Cell:
    client: str
    scenario: str
    do: Callable[[], None]

    @property
    def name(self):
        return f"{self.client}/{self.scenario}"

    def run(self):
        began = time.monotonic()
        detail = _within(LIMIT, self.do)
        line = {
            "client": self.client,
            "scenario": self.scenario,
            "outcome": "fail" if detail else "pass",
            "ms": round(1000 * (time.monotonic() - began)),
            "detail": detail,
        }
        print(json.dumps(line), flush=True)


def _within(seconds, do):
    """Returns what went wrong, in a line; empty when nothing did."""
    said = [f"not done after {seconds} s"]

    def call():
        try:
            do()
            said[0] = ""
        except Exception as e:
            said[0] = (f"{type(e).__name__}: {e}").splitlines()[0]

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    return said[0]
