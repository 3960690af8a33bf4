"""Locks without scripts: the commands of newer servers that compare the token themselves."""

import os
from importlib import metadata

import glide_sync as glide
import redis
import valkey

from cell import Cell
from server import ADDR, Server, host_port

LEASE = 30_000  # ms; nobody waits for its end


def cells():
    family, _, _ = os.environ.get("DIALECT", "").partition("-")
    clients = {"redis": [RedisPy], "valkey": [ValkeyPy, Glide]}.get(family, [])
    return [Cell(client.name, "compare", lambda client=client: compare(client)) for client in clients]


def compare(client):
    key = f"interop:{client.name}:compare:{os.getpid()}"
    other, holders = key + ":other", key + ":holders"
    server, c = Server(), client()
    try:
        want(c.take(key, "a"), True, "nobody holds the lock")
        want(c.take(key, "b"), False, "a takes it, then b")
        want(c.renew(key, "b"), False, "b renews what a holds")
        server.redis.pexpire(key, LEASE // 2)
        want(c.renew(key, "a"), True, "a renews")
        want(server.redis.pttl(key) > LEASE // 2, True, "the lease is new")
        want(c.release(key, "b"), False, "b releases what a holds")
        server.want_key(key, True, "after b's release")
        want(c.release(key, "a"), True, "a releases")
        server.want_key(key, False, "after a's release")
        want(c.several({key: "a", other: "a"}), True, "two locks at once")
        want(c.several({other: "b", holders: "b"}), False, "one of two is taken")
        server.want_key(holders, False, "after that")
        want(c.enter(holders, "a"), True, "a enters")
        want(c.enter(holders, "a"), False, "a enters twice")
        want(c.enter(holders, "b"), True, "b enters")
        want(server.redis.pttl(holders), -1, "only fields expire")
    finally:
        server.redis.delete(key, other, holders)
        server.close()
        c.close()


def want(got, wanted, when):
    if got is not wanted and got != wanted:
        raise AssertionError(f"{when}: {got}")


class RedisPy:
    name = f"redis-py {redis.__version__}"

    def __init__(self):
        self.client = redis.Redis(**host_port(ADDR))
        self.close = self.client.close

    def take(self, key, token):
        return bool(self.client.set(key, token, nx=True, px=LEASE))

    def renew(self, key, token):
        return bool(self.client.set(key, token, ifeq=token, px=LEASE))

    def release(self, key, token):
        return self.client.delex(key, ifeq=token) == 1

    def several(self, tokens):
        option = redis.commands.core.DataPersistOptions.NX
        return self.client.msetex(tokens, data_persist_option=option, px=LEASE) == 1

    def enter(self, key, holder):
        option = redis.commands.core.HashDataPersistOptions.FNX
        return self.client.hsetex(key, holder, "1", px=LEASE, data_persist_option=option) == 1


class ValkeyPy:
    """It has no IFEQ, DELIFEQ and MSETEX yet. Its users send them with execute_command."""

    name = f"valkey-py {valkey.__version__}"

    def __init__(self):
        self.client = valkey.Valkey(**host_port(ADDR))
        self.close = self.client.close

    def take(self, key, token):
        return bool(self.client.set(key, token, nx=True, px=LEASE))

    def renew(self, key, token):
        return bool(self.client.execute_command("SET", key, token, "IFEQ", token, "PX", LEASE))

    def release(self, key, token):
        return self.client.execute_command("DELIFEQ", key, token) == 1

    def several(self, tokens):
        pairs = [word for pair in tokens.items() for word in pair]
        return self.client.execute_command("MSETEX", len(tokens), *pairs, "NX", "PX", LEASE) == 1

    def enter(self, key, holder):
        return bool(self.client.hsetex(key, holder, "1", px=LEASE, fnx=True))


class Glide:
    """It has no MSETEX yet. Its users send it with custom_command."""

    name = f"valkey-glide {metadata.version('valkey-glide-sync')} (Python)"

    def __init__(self):
        at = host_port(ADDR)
        address = glide.NodeAddress(at["host"], at["port"])
        self.client = glide.GlideClient.create(glide.GlideClientConfiguration([address]))
        self.close = self.client.close
        self.lease = glide.ExpirySet(glide.ExpiryType.MILLSEC, LEASE)

    def take(self, key, token):
        return self.client.set(key, token, glide.ConditionalChange.ONLY_IF_DOES_NOT_EXIST, self.lease) == "OK"

    def renew(self, key, token):
        return self.client.set(key, token, glide.OnlyIfEqual(token), self.lease) == "OK"

    def release(self, key, token):
        return self.client.delifeq(key, token)

    def several(self, tokens):
        pairs = [word for pair in tokens.items() for word in pair]
        return self.client.custom_command(["MSETEX", str(len(tokens)), *pairs, "NX", "PX", str(LEASE)]) == 1

    def enter(self, key, holder):
        none = glide.HashFieldConditionalChange.ONLY_IF_NONE_EXIST
        return self.client.hsetex(key, {holder: "1"}, none, self.lease) == 1
