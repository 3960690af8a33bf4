"""What a lock library is to a scenario."""

from dataclasses import dataclass, field
from typing import Callable


class NotHeld(Exception):
    """What a library says of a lock that is not its own, in our words."""


@dataclass
class Lock:
    """One lock of one owner. acquire(seconds) waits that long, without end for None, not at all for 0."""

    key: str
    acquire: Callable[[float | None], bool]
    release: Callable[[], None]
    extend: Callable[[], None] | None = None  # None when the library renews by itself


@dataclass
class Owner:
    """A client of the library; two of them share nothing, like two processes."""

    lock: Callable[[str], Lock]
    close: Callable[[], None]
    resp: Callable[[], int] | None = None  # the protocol in use, where the client can choose


@dataclass
class Library:
    client: str
    # of lease (seconds, None: longer than any cell), protocol (2, 3, None: its own choice), and renew: whether its locks
    # renew themselves, if they can
    open: Callable[..., Owner]
    lease: float = 0.3  # seconds; the shortest it knows
    wait: float = 0.3  # seconds; the shortest time limit it knows
    wakes: bool = False  # a waiter hears of the release and does not poll
    moves: bool = False  # its lock is one key, which can go to another server
    protocols: list[int] = field(default_factory=list)
