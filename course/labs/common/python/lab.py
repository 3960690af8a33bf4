"""What every lab about lock clients shares: a small client of Redis, and the orders of the grader."""
import socket
import sys


class Redis:
    """One connection. It connects when it is used, and again after it was lost."""

    def __init__(self, address, name):
        self.address, self.name, self.file = address, name, None

    def do(self, *words):
        """Sends a command and returns its reply. Raises OSError if the connection is lost."""
        try:
            if self.file is None:
                host, port = self.address.rsplit(":", 1)
                with socket.create_connection((host, int(port))) as sock:
                    self.file = sock.makefile("rwb")
                self.do("CLIENT", "SETNAME", self.name)
            parts = [str(word).encode() for word in words]
            self.file.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
            self.file.flush()
            return self.reply()
        except OSError:
            self.close()
            raise

    def reply(self):
        """Reads a reply: str, int, list, or None. Raises RuntimeError for an error of the server."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection is lost")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise RuntimeError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return None if rest == "-1" else [self.reply() for _ in range(int(rest))]
        return rest

    def close(self):
        if self.file is not None:
            file, self.file = self.file, None
            try:
                file.close()
            except OSError:
                pass


def run(name, lock):
    """Obeys the orders of the grader. lock(masters, key, lease_ms) makes the lock of an owner, or a search."""

    def say(text):
        print(text, flush=True)

    def outcome(yes, no, act):
        try:
            say(yes if act() else no)
        except (OSError, RuntimeError) as why:
            say(f"{no} {why}")

    def number(word, act, pattern):
        try:
            say(f"{word} {act(pattern)}")
        except (OSError, RuntimeError) as why:
            say(f"failed {why}")

    say(name)
    owners = {}
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "open":
            addresses, key, lease = words
            for owner in "ab":
                masters = [Redis(address, owner) for address in addresses.split(",")]
                owners[owner] = masters, lock(masters, key, int(lease))
            say("ok")
        elif verb == "take":
            outcome("held", "refused", owners[words[0]][1].take)
        elif verb == "release":
            outcome("released", "failed", owners[words[0]][1].release)
        elif verb == "count":
            number("found", owners[words[0]][1].count, words[1])
        elif verb == "purge":
            number("deleted", owners[words[0]][1].purge, words[1])
        elif verb == "close":
            for masters, _ in owners.values():
                for redis in masters:
                    redis.close()
            say("ok")
