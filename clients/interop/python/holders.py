"""Two owners of one Redlock of pottery, who take and release it at the word of clients/interop/redlock.

A line for each order, as ../README.md has it.
"""

import sys
from importlib.metadata import version

import pottery
import redis

PATIENCE = 0.5  # seconds to wait for a master; without a limit redis-py waits without end


class Owners:
    def __init__(self):
        self.masters, self.locks = [], {}

    def open(self, addrs, key, lease):
        for name in ("a", "b"):
            masters = {
                redis.Redis.from_url(
                    f"redis://{addr}", client_name=name, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE
                )
                for addr in addrs.split(",")
            }
            self.masters.extend(masters)
            self.locks[name] = pottery.Redlock(key=key, masters=masters, auto_release_time=int(lease) / 1000)
        return "ok"

    def take(self, name):
        return "held" if self.locks[name].acquire(blocking=False) else "refused acquire returned False"

    def release(self, name):
        self.locks[name].release()
        return "released"

    def close(self):
        for master in self.masters:
            master.close()
        self.__init__()
        return "ok"


def main():
    owners = Owners()
    print(f"pottery {version('pottery')} (redis-py {redis.__version__})", flush=True)
    for line in sys.stdin:
        order, *words = line.split()
        try:
            answer = getattr(owners, order)(*words)
        except Exception as e:
            answer = f"failed {type(e).__name__}: {e}".replace("\n", " ")
        print(answer, flush=True)


main()
