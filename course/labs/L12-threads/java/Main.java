import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Lab 12: I/O threads. Fill in the barrier, and take accept, read, parse and write from your lab 4.
 *
 * <pre>
 * select ──> collect ──> share out ──┬── main reads and parses ──┬── barrier ──> execute ──> write
 *                                    ├── thread 1 does, too      │
 *                                    └── thread 2 does, too ─────┘
 * </pre>
 */
final class Main {
    /** The reply to EXPLAIN. Its first line is "cores N". */
    private static final String EXPLANATION =
            "cores 0\nTODO: which part of a request gets faster with more threads here, which does not, and why?";

    /** A client. During the phase of the threads only its thread touches it, and else only main. */
    private static final class Connection {
        final SocketChannel channel;
        byte[] input = new byte[0];
        final ArrayDeque<ByteBuffer> output = new ArrayDeque<>();
        final List<List<byte[]>> requests = new ArrayList<>(); // parsed, and not executed yet
        boolean ended;
        boolean broken;

        Connection(SocketChannel channel) {
            this.channel = channel;
        }
    }

    /** The threads besides main. */
    private static final class Pool {
        private final List<BlockingQueue<List<Connection>>> work = new ArrayList<>(); // one for each thread
        // TODO: what the barrier needs

        Pool(int threads) {
            for (int i = 1; i < threads; i++) {
                BlockingQueue<List<Connection>> share = new LinkedBlockingQueue<>();
                work.add(share);
                Thread thread = new Thread(() -> serve(share), "io_" + i);
                thread.setDaemon(true);
                thread.start();
            }
        }

        private void serve(BlockingQueue<List<Connection>> share) {
            try {
                while (true) {
                    share.take().forEach(Main::readAndParse);
                    // TODO: this thread has come to the barrier
                }
            } catch (InterruptedException nobodyDoesThat) {
                Thread.currentThread().interrupt();
            }
        }

        /** Shares clients out, serves main's own share, and returns when every thread is done. */
        void run(List<Connection> clients) {
            int n = work.size() + 1;
            List<List<Connection>> shares = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                shares.add(new ArrayList<>());
            }
            for (int i = 0; i < clients.size(); i++) {
                shares.get(i % n).add(clients.get(i));
            }
            for (int i = 0; i < work.size(); i++) {
                work.get(i).add(shares.get(i + 1));
            }
            shares.get(0).forEach(Main::readAndParse);
            // TODO: wait here until every thread has come to the barrier
        }
    }

    private final Map<String, String> data = new HashMap<>();
    private final Selector selector = Selector.open();
    private final ServerSocketChannel listener = ServerSocketChannel.open();
    private final Pool pool;

    private Main(int port, int threads) throws IOException {
        pool = new Pool(threads);
        listener.bind(new InetSocketAddress("127.0.0.1", port), 1024);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    /** The loop. Each turn is a pass. */
    private void run() throws IOException {
        while (true) {
            selector.select();
            List<SelectionKey> ready = new ArrayList<>();
            List<Connection> readable = new ArrayList<>();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    accept();
                    continue;
                }
                ready.add(key);
                if (key.isReadable()) {
                    readable.add((Connection) key.attachment());
                }
            }
            selector.selectedKeys().clear();
            pool.run(readable);
            for (SelectionKey key : ready) {
                Connection c = (Connection) key.attachment();
                for (List<byte[]> words : c.requests) {
                    c.output.add(ByteBuffer.wrap(execute(words)));
                }
                c.requests.clear();
                finish(key, c);
            }
        }
    }

    /** What the threads do for a client. It touches nothing but the client. */
    private static void readAndParse(Connection c) {
        try {
            read(c);
        } catch (IOException reset) {
            c.broken = true;
        }
        for (List<byte[]> words = parse(c); words != null; words = parse(c)) {
            c.requests.add(words);
        }
    }

    /** Writes, and ends a connection or asks for its next events. */
    private static void finish(SelectionKey key, Connection c) throws IOException {
        try {
            if (!c.broken) {
                write(c);
            }
        } catch (IOException reset) {
            c.broken = true;
        }
        if (c.broken || c.ended && c.output.isEmpty()) {
            c.channel.close();
            return;
        }
        key.interestOps((c.ended ? 0 : SelectionKey.OP_READ) | (c.output.isEmpty() ? 0 : SelectionKey.OP_WRITE));
    }

    private void accept() throws IOException {
        throw new UnsupportedOperationException("accept: take it from your lab 4");
    }

    private static void read(Connection c) throws IOException {
        throw new UnsupportedOperationException("read: take it from your lab 4");
    }

    private static List<byte[]> parse(Connection c) {
        throw new UnsupportedOperationException("parse: take it from your lab 4");
    }

    private static void write(Connection c) throws IOException {
        throw new UnsupportedOperationException("write: take it from your lab 4");
    }

    /** Executes a command: those of lab 4, INCR, and EXPLAIN. */
    private byte[] execute(List<byte[]> words) {
        if (new String(words.get(0), StandardCharsets.ISO_8859_1).equals("EXPLAIN")) {
            byte[] text = EXPLANATION.getBytes(StandardCharsets.UTF_8);
            return ("$" + text.length + "\r\n" + EXPLANATION + "\r\n").getBytes(StandardCharsets.UTF_8);
        }
        throw new UnsupportedOperationException("execute: take it from your lab 4, and add INCR");
    }

    public static void main(String[] args) throws IOException {
        new Main(Integer.parseInt(System.getenv("PORT")), Integer.parseInt(System.getenv("IO_THREADS"))).run();
    }
}
