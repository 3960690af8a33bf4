"""A redis-server that a row starts itself, and commands."""

import contextlib
import socket
import subprocess
import tempfile
import threading


def run(*command, **options):
    """Runs a command to its end and returns its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, **options)
    if done.returncode:
        raise AssertionError(f"{words[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server process, in a folder of its own, and what it has printed."""

    def __init__(self, *command):
        words = [str(word) for word in command]
        self._folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            words, cwd=self._folder.name, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.printed = b""
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.printed += line
            if b"Ready to accept connections" in line:
                self._ready.set()

    def wait(self):
        assert self._ready.wait(20), f"not ready: {self.printed.decode()}"

    def running(self):
        return self.process.poll() is None

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.printed.decode()
        self._reader.join()
        self._folder.cleanup()


@contextlib.contextmanager
def running(server, *options):
    """A server on a free port, as soon as it is ready. Yields the port, and ends the server."""
    port = free_port()
    process = Server(server, "--port", port, "--bind", "127.0.0.1", "--save", "", *options)
    try:
        process.wait()
        yield port
    finally:
        process.stop()
