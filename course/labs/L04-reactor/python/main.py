"""Lab 4: the reactor. Fill in accept, read, parse and write.

    epoll_wait ──> listening socket is readable ──> accept
        ^     ├──> a client is readable         ──> read ──> parse ──> execute ──> write
        │     └──> a client has room again      ──> write
        └── no client is ready: sleep here, and nowhere else
"""
import os
import select
import socket
import time


class Connection:
    """A client: its socket, and what waits in either direction."""

    def __init__(self, sock):
        self.sock = sock
        self.input = bytearray()  # bytes that are no complete request yet
        self.output = bytearray()  # replies that the socket has not taken yet
        self.ended = False  # the client will send no more: it has ended its half


class Server:
    def __init__(self, port):
        self.data = {}
        self.connections = {}  # by file descriptor
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(1024)
        self.listener.setblocking(False)
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)

    def run(self):
        """The loop. Each turn is one pass over what is ready."""
        while True:
            for fd, events in self.epoll.poll():
                if fd == self.listener.fileno():
                    self.accept()
                elif fd in self.connections:
                    self.handle(self.connections[fd], events)

    def handle(self, c, events):
        """Serves one client as far as possible without waiting for it."""
        try:
            if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                self.read(c)
            while (words := self.parse(c)) is not None:
                c.output += self.execute(words)
            self.write(c)
        except OSError:  # the client has reset the connection
            self.close(c)
            return
        if c.ended and not c.output:
            self.close(c)
            return
        self.ask(c)

    def accept(self):
        """Takes all connections that wait. The listening socket does not block."""
        # TODO: until BlockingIOError: accept, setblocking(False), a Connection into self.connections,
        # and self.epoll.register(sock, select.EPOLLIN)
        raise SystemExit("accept is not written yet")

    def read(self, c):
        """Reads what there is into c.input. At the end of input it sets c.ended."""
        # TODO: c.sock.recv raises BlockingIOError when nothing is left, and returns b"" at the end of input
        raise SystemExit("read is not written yet")

    def parse(self, c):
        r"""Takes one request out of c.input and returns its words, or None while it is not complete.

        *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n  is  [b"ECHO", b"hello"]

        A word may have any bytes in it, \r\n as well: only its length says where it ends.
        """
        # TODO
        raise SystemExit("parse is not written yet")

    def write(self, c):
        """Sends as much of c.output as the socket takes, and keeps the rest."""
        # TODO: c.sock.send returns how many bytes it took, and raises BlockingIOError when there is no room
        raise SystemExit("write is not written yet")

    def ask(self, c):
        """Tells epoll what c waits for: input, or room for output, or both."""
        # TODO: self.epoll.modify(c.sock, events). Ask for nothing that you do not need, or the loop never sleeps.
        raise SystemExit("ask is not written yet")

    def close(self, c):
        del self.connections[c.sock.fileno()]
        self.epoll.unregister(c.sock)
        c.sock.close()

    def execute(self, words):
        """Executes a command and returns its reply. This is complete."""
        name, *args = words
        name = name.upper()
        if name == b"PING":
            return b"+PONG\r\n"
        if name == b"ECHO":
            return bulk(args[0])
        if name == b"SET":
            self.data[args[0]] = args[1]
            return b"+OK\r\n"
        if name == b"GET":
            return bulk(self.data.get(args[0]))
        if name == b"DEBUG":  # DEBUG SLEEP seconds
            time.sleep(float(args[1]))
            return b"+OK\r\n"
        return b"-ERR unknown command\r\n"


def bulk(value):
    if value is None:
        return b"$-1\r\n"
    return b"$%d\r\n%s\r\n" % (len(value), value)


Server(int(os.environ["PORT"])).run()
