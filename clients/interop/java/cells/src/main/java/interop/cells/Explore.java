package interop.cells;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Runs one lock client again and again, for clients/interop/explore: without an argument it prints its clients, with
 * the name of one it runs the scenario for each address that it reads. ../../README.md describes the interface.
 */
public final class Explore {
    /** How long a client waits for a reply, in ms, as the others here. */
    public static final int SILENCE = 1_000;

    public static final int LEASE = 30_000;

    /** How long a worker waits for the lock. */
    public static final int WAIT = 3_000;

    /** How long a worker waits for the other one, where it usually need not wait. */
    private static final long TURN = 600;

    public static final String UNLOCK =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final List<Client> clients = new ArrayList<>();

    /** One owner of the lock. One thread calls it. */
    public interface Worker {
        /** Tries without waiting. */
        boolean look() throws Exception;

        /** Waits. */
        boolean take() throws Exception;

        void release() throws Exception;

        void close() throws Exception;
    }

    /** Opens the connections of a worker, and gives them its name. */
    public interface Opener {
        Worker open(String host, int port, String name) throws Exception;
    }

    private record Client(String name, String version, Opener opener, boolean wakes, List<String> arguments) {
        String json() {
            String all = arguments.stream().map(Explore::quoted).collect(Collectors.joining(","));
            return String.format("{\"name\":%s,\"version\":%s,\"arguments\":[%s]}", quoted(name), quoted(version), all);
        }
    }

    public Explore() {
        System.setOut(System.err);
    }

    public Explore client(String name, String version, Opener opener, String... arguments) {
        clients.add(new Client(name, version, opener, false, List.of(arguments)));
        return this;
    }

    /** A client whose waiters hear of a release by a channel or a pattern. */
    public Explore wakingClient(String name, String version, Opener opener, String... arguments) {
        clients.add(new Client(name, version, opener, true, List.of(arguments)));
        return this;
    }

    public void run(String[] args) throws Exception {
        if (args.length == 0) {
            out.print(clients.stream().map(Client::json).collect(Collectors.joining(",")));
            out.flush();
            System.exit(0);
        }
        Client client = clients.stream().filter(c -> c.name.equals(args[0])).findFirst().orElseThrow();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] address = line.split(":");
            out.printf("{\"failed\":%s}%n", quoted(new Scenario(client, address[0], Integer.parseInt(address[1])).run()));
        }
        System.exit(0);
    }

    /** a takes the lock, b tries, a releases, b takes. Each waits a moment for the other, and then goes on alone. */
    private static final class Scenario {
        private final Client client;
        private final String host;
        private final int port;
        private final CountDownLatch open = new CountDownLatch(1);
        private final CountDownLatch has = new CountDownLatch(1);
        private final CountDownLatch tried = new CountDownLatch(1);
        private final CountDownLatch done = new CountDownLatch(1);

        Scenario(Client client, String host, int port) {
            this.client = client;
            this.host = host;
            this.port = port;
        }

        private interface Part {
            void play(Worker worker) throws Exception;
        }

        String run() throws InterruptedException {
            String[] failed = {"", ""};
            Thread a = new Thread(() -> failed[0] = guarded("a", this::a));
            Thread b = new Thread(() -> failed[1] = guarded("b", this::b));
            a.start();
            b.start();
            a.join();
            b.join();
            return (failed[0] + " " + failed[1]).strip();
        }

        private String guarded(String name, Part part) {
            try {
                Worker worker = client.opener.open(host, port, name);
                try {
                    part.play(worker);
                } finally {
                    worker.close();
                }
                return "";
            } catch (Exception e) {
                return name + ": " + e + ";";
            } finally {
                tried.countDown();
                if (name.equals("a")) {
                    open.countDown();
                    has.countDown();
                    done.countDown();
                }
            }
        }

        private void a(Worker worker) throws Exception {
            open.countDown();
            got(worker.take());
            has.countDown();
            wait(tried);
            if (client.wakes) {
                untilBWaits();
            }
            worker.release();
        }

        private void b(Worker worker) throws Exception {
            open.await(20 * TURN, TimeUnit.MILLISECONDS);
            wait(has);
            boolean taken = worker.look();
            tried.countDown();
            if (!taken) {
                if (!client.wakes) {
                    wait(done);
                }
                got(worker.take());
            }
            wait(done);
            worker.release();
        }

        private static void wait(CountDownLatch latch) throws InterruptedException {
            latch.await(TURN, TimeUnit.MILLISECONDS);
        }

        private static void got(boolean taken) {
            if (!taken) {
                throw new IllegalStateException("not acquired");
            }
        }

        /** Asks the server until b listens. Without an answer a goes on. */
        private void untilBWaits() throws InterruptedException {
            try (Socket socket = new Socket(host, port)) {
                socket.setSoTimeout(SILENCE);
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                for (int i = 0; i < 20; i++) {
                    socket.getOutputStream().write("PUBSUB NUMPAT\r\nPUBSUB CHANNELS\r\n".getBytes(StandardCharsets.UTF_8));
                    String patterns = in.readLine();
                    if (!":0".equals(patterns) || !"*0".equals(in.readLine())) {
                        Thread.sleep(TURN / 8); // b asks once more when it listens
                        return;
                    }
                    Thread.sleep(TURN / 20);
                }
            } catch (IOException e) {
                // the server may be restarting
            }
        }
    }

    private static String quoted(String text) {
        String plain = text.replaceAll("\\p{Cntrl}", " ").replace("\\", "\\\\").replace("\"", "\\\"");
        return '"' + plain + '"';
    }
}
