"""Programs that start a redis-server. Each function gets the path of one."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import redis
from testcontainers.community.redis import RedisContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy
from testing.redis import RedisServer

from running import Server, free_port, run

HERE = Path(__file__).parent


def pytest_redis(server):
    """`redis_proc` and `redisdb` with `--redis-exec`"""
    options = ["--redis-exec", server, "-q", "-p", "no:cacheprovider"]
    run(sys.executable, "-m", "pytest", *options, HERE / "pytest_redis_tests.py")


def testing_redis(server):
    """`RedisServer(redis_server=...)`: starts it, uses it, stops it"""
    with RedisServer(redis_server=server) as launched:
        client = redis.Redis(**launched.dsn())
        assert client.set("lock:order", "token", nx=True, px=30_000)
        assert client.info("server")["config_file"].endswith("redis.conf")
    with pytest.raises(redis.ConnectionError):
        client.ping()


def pifpaf(server):
    """`pifpaf run redis --password ...`, which sends the configuration to standard input"""
    port = free_port()
    cli = f"redis-cli -p {port} -a s3cret --no-auth-warning"
    commands = f"{cli} SET lock:order token NX PX 30000 && {cli} CONFIG GET requirepass"
    pifpaf = Path(sys.executable).with_name("pifpaf")
    out = run(pifpaf, "run", "redis", "--port", port, "--password", "s3cret", "--", "sh", "-c", commands)
    assert out.split() == ["OK", "requirepass", "s3cret"], out


class LocalContainer(RedisContainer):
    """A RedisContainer with a process in the place of the container, because there is no Docker here."""

    def __init__(self, **settings):
        with mock.patch("testcontainers.core.container.DockerClient"):
            super().__init__("redis:7", **settings)
        self._free_port = free_port()

    def start(self):
        command = shlex.split(self._command or "redis-server")
        self.process = Server(*command, "--port", self._free_port)
        self._wait_strategy.wait_until_ready(self)
        return self

    def stop(self, **_):
        self.process.stop()

    def get_container_host_ip(self):
        return "127.0.0.1"

    def get_exposed_port(self, port):
        return self._free_port

    def get_wrapped_container(self):
        return mock.Mock(status="running")

    def get_logs(self):
        return self.process.printed, b""


def testcontainers(server):
    """`RedisContainer` without Docker: its command with a password, its waits for PING and for a log line"""
    for container in (
        LocalContainer(password="s3cret"),
        LocalContainer().waiting_for(LogMessageWaitStrategy("Ready to accept connections")),
    ):
        with container:
            assert container.get_client().set("lock:order", "token", nx=True, px=30_000)


def health_check(server):
    """`redis-cli ping` and `miniredisd health`, until they succeed, as a health check of a workflow's `services:`"""
    port = free_port()
    checks = ["redis-cli", "-p", str(port), "ping"], [os.environ["MINIREDISD"], "health", f"redis://127.0.0.1:{port}"]
    for check in checks:
        assert subprocess.call(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 1
    process = Server(server, "--port", port, "--bind", "127.0.0.1", "--save", "")
    try:
        for check in checks:
            while subprocess.call(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
                assert process.running(), process.printed.decode()
    finally:
        process.stop()


def redis_cli_version():
    """The major version: the rest comes with the system."""
    return run("redis-cli", "--version").split()[1].split(".")[0]
