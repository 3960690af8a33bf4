"""Lab 3: threads that share a map. Each client has a thread of its own. Find the races and repair them."""
import os
import socket
import threading
import time


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


def pause():
    """Stands for any other work of a command. Leave it in."""
    time.sleep(0.001)


def execute(data, words):
    """Executes a command and returns its reply. Several threads are in here at the same time."""
    name, *args = words
    name = name.upper()
    if name == b"PING":
        return b"+PONG\r\n"
    if name == b"GET":
        return bulk(data.get(args[0]))
    if name == b"INCR":
        value = int(data.get(args[0], 0))
        pause()
        data[args[0]] = b"%d" % (value + 1)
        return b":%d\r\n" % (value + 1)
    if name == b"SETNX":
        if args[0] in data:
            return b":0\r\n"
        pause()
        data[args[0]] = args[1]
        return b":1\r\n"
    if name == b"MSET":
        for key, value in zip(args[::2], args[1::2]):
            data[key] = value
            pause()
        return b"+OK\r\n"
    if name == b"MGET":
        reply = b"*%d\r\n" % len(args)
        for key in args:
            reply += bulk(data.get(key))
            pause()
        return reply
    return b"-ERR unknown command\r\n"


def bulk(value):
    return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)


def serve(connection, data):
    """Serves one client until it leaves."""
    buffer = bytearray()
    with connection:
        try:
            while chunk := connection.recv(65536):
                buffer += chunk
                while (words := parse(buffer)) is not None:
                    connection.sendall(execute(data, words))  # TODO: somewhere here
        except OSError:
            pass  # the client has reset the connection


def main():
    data = {}
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=256)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, data), daemon=True).start()


main()
