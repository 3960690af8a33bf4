import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Lab 4: the reactor. Fill in accept, read, parse, write and ask.
 *
 * <pre>
 * select ──> listening socket is acceptable ──> accept
 *    ^  ├──> a client is readable           ──> read ──> parse ──> execute ──> write
 *    │  └──> a client has room again        ──> write
 *    └── no client is ready: sleep here, and nowhere else
 * </pre>
 *
 * On Linux a Selector is epoll.
 */
final class Main {
    /** A client: its channel, and what waits in either direction. */
    private static final class Connection {
        final SocketChannel channel;
        byte[] input = new byte[0]; // bytes that are no complete request yet
        final ArrayDeque<ByteBuffer> output = new ArrayDeque<>(); // replies that the socket has not taken yet
        boolean ended; // the client will send no more: it has ended its half

        Connection(SocketChannel channel) {
            this.channel = channel;
        }
    }

    private final Map<String, String> data = new HashMap<>();
    private final Selector selector = Selector.open();
    private final ServerSocketChannel listener = ServerSocketChannel.open();

    private Main(int port) throws IOException {
        listener.bind(new InetSocketAddress("127.0.0.1", port), 1024);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    /** The loop. Each turn is one pass over what is ready. */
    private void run() throws IOException {
        while (true) {
            selector.select();
            Iterator<SelectionKey> fired = selector.selectedKeys().iterator();
            while (fired.hasNext()) {
                SelectionKey key = fired.next();
                fired.remove();
                if (key.isValid() && key.isAcceptable()) {
                    accept();
                } else if (key.isValid()) {
                    handle(key, (Connection) key.attachment());
                }
            }
        }
    }

    /** Serves one client as far as possible without waiting for it. */
    private void handle(SelectionKey key, Connection c) throws IOException {
        try {
            if (key.isReadable()) {
                read(c);
            }
            for (List<byte[]> words = parse(c); words != null; words = parse(c)) {
                c.output.add(ByteBuffer.wrap(execute(words)));
            }
            write(c);
        } catch (IOException reset) { // the client has reset the connection
            c.channel.close();
            return;
        }
        if (c.ended && c.output.isEmpty()) {
            c.channel.close();
            return;
        }
        ask(key, c);
    }

    /** Takes all connections that wait. The listening channel does not block. */
    private void accept() throws IOException {
        // TODO: until listener.accept() returns null: configureBlocking(false), and
        // register(selector, SelectionKey.OP_READ, new Connection(channel))
        throw new UnsupportedOperationException("accept is not written yet");
    }

    /** Reads what there is into c.input. At the end of input it sets c.ended. */
    private void read(Connection c) throws IOException {
        // TODO: c.channel.read(buffer) returns 0 when nothing is left, and -1 at the end of input
        throw new UnsupportedOperationException("read is not written yet");
    }

    /**
     * Takes one request out of c.input and returns its words, or null while it is not complete.
     *
     * <pre>*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n  is  ECHO hello</pre>
     *
     * A word may have any bytes in it, \r\n as well: only its length says where it ends.
     */
    private List<byte[]> parse(Connection c) {
        // TODO
        throw new UnsupportedOperationException("parse is not written yet");
    }

    /** Sends as much of c.output as the socket takes, and keeps the rest. */
    private void write(Connection c) throws IOException {
        // TODO: c.channel.write(c.output.peek()) moves the position of the buffer, and takes 0 bytes when
        // there is no room
        throw new UnsupportedOperationException("write is not written yet");
    }

    /** Tells the selector what c waits for: input, or room for output, or both. */
    private void ask(SelectionKey key, Connection c) {
        // TODO: key.interestOps(...). Ask for nothing that you do not need, or the loop never sleeps.
        throw new UnsupportedOperationException("ask is not written yet");
    }

    /** Executes a command and returns its reply. This is complete. */
    private byte[] execute(List<byte[]> words) {
        switch (text(words.get(0)).toUpperCase(Locale.ROOT)) {
            case "PING":
                return bytes("+PONG\r\n");
            case "ECHO":
                return bulk(text(words.get(1)));
            case "SET":
                data.put(text(words.get(1)), text(words.get(2)));
                return bytes("+OK\r\n");
            case "GET":
                return bulk(data.get(text(words.get(1))));
            case "DEBUG": // DEBUG SLEEP seconds
                try {
                    Thread.sleep((long) (Double.parseDouble(text(words.get(2))) * 1000));
                } catch (InterruptedException nobodyDoesThat) {
                    Thread.currentThread().interrupt();
                }
                return bytes("+OK\r\n");
            default:
                return bytes("-ERR unknown command\r\n");
        }
    }

    private static byte[] bulk(String value) {
        if (value == null) {
            return bytes("$-1\r\n");
        }
        ByteArrayOutputStream reply = new ByteArrayOutputStream();
        reply.writeBytes(bytes("$" + value.length() + "\r\n"));
        reply.writeBytes(bytes(value));
        reply.writeBytes(bytes("\r\n"));
        return reply.toByteArray();
    }

    // One char is one byte, so text keeps every byte.
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    public static void main(String[] args) throws IOException {
        new Main(Integer.parseInt(System.getenv("PORT"))).run();
    }
}
