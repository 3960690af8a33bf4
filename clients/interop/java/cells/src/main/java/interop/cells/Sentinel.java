package interop.cells;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A lock through Sentinel with one client while the master is lost, for clients/interop/sentinel. ../../README.md
 * describes the interface.
 */
public final class Sentinel {
    /** How long a client waits for a reply, in ms. */
    public static final int PATIENCE = 1_000;

    public static final int LEASE = 300_000;
    public static final String UNLOCK =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private static final long PAUSE = 20;

    public final String master = Matrix.environment("SENTINEL_MASTER");
    public final List<String> sentinels = List.of(Matrix.environment("SENTINELS").split(","));

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final String client;
    private final ExecutorService other = Executors.newSingleThreadExecutor(); // a lock of Redisson belongs to its thread
    private Client locks;
    private volatile long lost; // when the master was lost; 0 before

    /** What a client does. A token names an owner. */
    public interface Client {
        boolean tryLock(String key, String token) throws Exception;

        void unlock(String key, String token) throws Exception;
    }

    /** Opens a client. It need not be closed, because the process ends. */
    public interface Opening {
        Client open(Sentinel sentinel) throws Exception;
    }

    private static final class SecondOwner extends Exception {
        private static final long serialVersionUID = 1;

        SecondOwner() {
            super("a second owner gets the lock");
        }
    }

    private Sentinel(String client) {
        this.client = client;
        System.setOut(System.err);
    }

    /** Plays the scenario, prints lines of JSON and ends the process. */
    public static void run(String client, Opening opening) throws Exception {
        Sentinel sentinel = new Sentinel(client);
        try {
            sentinel.locks = opening.open(sentinel);
            sentinel.play();
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            sentinel.say("error: " + e, 0);
        }
        System.exit(0);
    }

    private void play() throws Exception {
        String kept = "sentinel:" + client + ":kept";
        if (!locks.tryLock(kept, "one")) {
            throw new IllegalStateException("the first lock is taken");
        }
        lockOnce(0);
        say("ready", 0);
        Thread listener = new Thread(this::listen);
        listener.setDaemon(true);
        listener.start();
        long stuck = lockUntilBack();
        refuse(kept);
        locks.unlock(kept, "one");
        say("ok", stuck);
    }

    private void listen() {
        try {
            while (System.in.read() >= ' ') { // until the end of the line
                continue;
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
        lost = System.nanoTime();
    }

    /** How many ms it took until a lock succeeded that began after the master was lost. */
    private long lockUntilBack() throws Exception {
        for (int n = 1; ; n++) {
            Thread.sleep(PAUSE);
            long since = lost;
            try {
                lockOnce(n);
            } catch (SecondOwner e) {
                throw e;
            } catch (Exception e) {
                continue; // what a client throws while it has no master
            }
            if (since != 0) {
                return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
            }
        }
    }

    /** Takes a lock with a key of its own, is refused a second time, and releases it. */
    private void lockOnce(int n) throws Exception {
        String key = "sentinel:" + client + ":" + n;
        if (!locks.tryLock(key, "one")) {
            throw new IllegalStateException("a new lock is taken"); // the client has sent its request twice
        }
        refuse(key);
        locks.unlock(key, "one");
    }

    private void refuse(String key) throws Exception {
        boolean second;
        try {
            second = other.submit(() -> locks.tryLock(key, "two")).get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
        if (second) {
            throw new SecondOwner();
        }
    }

    private void say(String saw, long stuck) {
        String plain = saw.replaceAll("\\p{Cntrl}", " ").replace("\\", "\\\\").replace("\"", "\\\"");
        out.printf("{\"client\": \"%s\", \"saw\": \"%s\", \"stuck\": %d}%n", client, plain, stuck);
    }
}
