package interop.cells;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A connection to a server that belongs to no client under test: a cell looks at the keys with it, loses the
 * script cache, cuts connections. It speaks RESP2 on a plain socket, so that every class path has it.
 */
public final class Server implements AutoCloseable {
    public final String host;
    public final int port;
    private final Socket socket;
    private final InputStream in;

    /** An error reply, which leaves the connection as good as it was. */
    public static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String text) {
            super(text);
        }
    }

    public Server(String address) {
        int colon = address.lastIndexOf(':');
        host = address.substring(0, colon);
        port = Integer.parseInt(address.substring(colon + 1));
        try {
            socket = new Socket(host, port);
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        call("CLIENT", "SETNAME", "interop"); // or LAB DOCTOR takes what scenarios do to locks for a client's mistake
    }

    /** A further connection to the same server, for a thread of its own. */
    public Server another() {
        return new Server(host + ":" + port);
    }

    /** The reply is a String, a Long, a List of these, or null. */
    public synchronized Object call(String... words) {
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.write(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
            for (String word : words) {
                byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
                out.write(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
                out.write(bytes);
                out.write('\r');
                out.write('\n');
            }
            socket.getOutputStream().write(out.toByteArray());
            return reply();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long number(String... words) {
        return (Long) call(words);
    }

    public String text(String... words) {
        return (String) call(words);
    }

    public List<?> list(String... words) {
        return (List<?>) call(words);
    }

    public boolean exists(String key) {
        return number("EXISTS", key) == 1;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Object reply() throws IOException {
        String line = line();
        String rest = line.substring(1);
        switch (line.charAt(0)) {
            case '+':
                return rest;
            case '-':
                throw new Refused(rest);
            case ':':
                return Long.valueOf(rest);
            case '$':
                int length = Integer.parseInt(rest);
                return length < 0 ? null : bulk(length);
            case '*':
                int size = Integer.parseInt(rest);
                if (size < 0) {
                    return null;
                }
                List<Object> elements = new ArrayList<>();
                for (int i = 0; i < size; i++) {
                    elements.add(reply());
                }
                return elements;
            default:
                throw new IOException("not a RESP2 reply: " + line);
        }
    }

    private String bulk(int length) throws IOException {
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length < length + 2) {
            throw new EOFException("the server closed the connection within a reply");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (b != '\r') {
                bytes.write(b);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
