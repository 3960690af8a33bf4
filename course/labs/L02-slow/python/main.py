"""Lab 2: one slow client. This server works, but it serves one client after another. Change that."""
import os
import socket


def parse(buffer):
    """Takes the first request out of buffer and returns its words, or None while it is not complete."""
    at, words = 0, []
    count, at = number(buffer, at)
    for _ in range(count or 0):
        size, at = number(buffer, at)
        if size is None or len(buffer) < at + size + 2:
            return None
        words.append(bytes(buffer[at : at + size]))
        at += size + 2
    if not words:
        return None
    del buffer[:at]
    return words


def number(buffer, at):
    """Returns the number of the line at an offset, and where the next line begins."""
    end = buffer.find(b"\r\n", at)
    return (None, at) if end < 0 else (int(buffer[at + 1 : end]), end + 2)


def execute(data, words):
    """Executes a command and returns its reply."""
    name, *args = words
    name = name.upper()
    if name == b"PING":
        return b"+PONG\r\n"
    if name == b"SET":
        data[args[0]] = args[1]
        return b"+OK\r\n"
    if name == b"GET":
        value = data.get(args[0])
        return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)
    if name == b"DEL":
        return b":%d\r\n" % (data.pop(args[0], None) is not None)
    return b"-ERR unknown command\r\n"


def serve(connection, data):
    """Serves one client until it leaves."""
    buffer = bytearray()
    with connection:
        try:
            while chunk := connection.recv(65536):
                buffer += chunk
                while (words := parse(buffer)) is not None:
                    connection.sendall(execute(data, words))
        except OSError:
            pass  # the client has reset the connection


def main():
    data = {}
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=256)
    while True:
        connection, _ = listener.accept()
        serve(connection, data)  # TODO: nobody is accepted meanwhile


main()
