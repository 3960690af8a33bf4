"""Lab 12: I/O threads. Fill in the barrier, and take accept, read, parse and write from your lab 4.

    epoll_wait ──> collect ──> share out ──┬── main reads and parses ──┬── barrier ──> execute ──> write
                                           ├── thread 1 does, too      │
                                           └── thread 2 does, too ─────┘
"""
import os
import queue
import select
import socket
import threading

# The reply to EXPLAIN. Its first line is "cores N".
EXPLANATION = """cores 0
TODO: which part of a request gets faster with more threads here, which does not, and why?"""


class Connection:
    """A client. During the phase of the threads only its thread touches it, and else only main."""

    def __init__(self, sock):
        self.sock = sock
        self.input = bytearray()
        self.output = bytearray()
        self.requests = []  # parsed, and not executed yet
        self.ended = False
        self.broken = False


class Pool:
    """The threads besides main."""

    def __init__(self, threads, serve):
        self.serve = serve
        self.work = [queue.SimpleQueue() for _ in range(threads - 1)]  # one for each thread
        # TODO: what the barrier needs
        for share in self.work:
            threading.Thread(target=self.thread, args=(share,), daemon=True).start()

    def thread(self, share):
        while True:
            for c in share.get():
                self.serve(c)
            # TODO: this thread has come to the barrier

    def run(self, clients):
        """Shares clients out, serves main's own share, and returns when every thread is done."""
        n = len(self.work) + 1
        for i, share in enumerate(self.work):
            share.put(clients[i + 1 :: n])
        for c in clients[::n]:
            self.serve(c)
        # TODO: wait here until every thread has come to the barrier


class Server:
    """The loop and its data. Only main executes."""

    def __init__(self, port, threads):
        self.data = {}
        self.connections = {}
        self.pool = Pool(threads, self.read_and_parse)
        self.listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.listener.setblocking(False)
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)

    def run(self):
        """The loop. Each turn is a pass."""
        while True:
            ready, readable = [], []
            for fd, events in self.epoll.poll():
                if fd == self.listener.fileno():
                    self.accept()
                elif fd in self.connections:
                    ready.append(self.connections[fd])
                    if events & ~select.EPOLLOUT:
                        readable.append(self.connections[fd])
            self.pool.run(readable)
            for c in ready:
                for words in c.requests:
                    c.output += self.execute(words)
                c.requests = []
                self.finish(c)

    def read_and_parse(self, c):
        """What the threads do for a client. It touches nothing but the client."""
        try:
            self.read(c)
        except OSError:
            c.broken = True
        while (words := self.parse(c)) is not None:
            c.requests.append(words)

    def finish(self, c):
        """Writes, and ends a connection or asks for its next events."""
        try:
            if not c.broken:
                self.write(c)
        except OSError:
            c.broken = True
        if c.broken or (c.ended and not c.output):
            del self.connections[c.sock.fileno()]
            self.epoll.unregister(c.sock)
            c.sock.close()
            return
        self.epoll.modify(c.sock, (0 if c.ended else select.EPOLLIN) | (select.EPOLLOUT if c.output else 0))

    def accept(self):
        raise SystemExit("accept: take it from your lab 4")

    def read(self, c):
        raise SystemExit("read: take it from your lab 4")

    def parse(self, c):
        raise SystemExit("parse: take it from your lab 4")

    def write(self, c):
        raise SystemExit("write: take it from your lab 4")

    def execute(self, words):
        """Executes a command: those of lab 4, INCR, and EXPLAIN."""
        if words[0] == b"EXPLAIN":
            text = EXPLANATION.encode()
            return b"$%d\r\n%s\r\n" % (len(text), text)
        raise SystemExit("execute: take it from your lab 4, and add INCR")


Server(int(os.environ["PORT"]), int(os.environ["IO_THREADS"])).run()
