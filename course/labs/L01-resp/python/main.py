r"""Lab 1: RESP by hand. Fill in parse and execute.

    a request         *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n
    a simple string   +OK\r\n
    an error          -ERR unknown command\r\n
    a bulk string     $5\r\nhello\r\n
    no value          $-1\r\n
"""
import os
import socket


def parse(buffer):
    """Takes the first request out of buffer, a bytearray, and returns its words as bytes.

    Returns None, and leaves buffer as it is, while the request is not complete.
    """
    # TODO
    return None


def execute(data, words):
    """Executes a command on data, a dict, and returns the reply as bytes."""
    name = words[0].upper()
    if name == b"PING":
        return b"+PONG\r\n"
    # TODO: ECHO, SET, GET, and an error for everything else
    return b""


def serve(connection, data):
    """Serves one client until it leaves."""
    buffer = bytearray()
    while chunk := connection.recv(4096):
        buffer += chunk
        while (words := parse(buffer)) is not None:
            connection.sendall(execute(data, words))


def main():
    data = {}
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                serve(connection, data)
            except OSError:
                pass  # the client has reset the connection


main()
