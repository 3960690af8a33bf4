package interop.cells;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A lock in a cluster or through Sentinel, for clients/interop/topology. ../../README.md describes the interface. */
public final class Topology {
    /** How long a client waits for a reply, in ms. */
    public static final int PATIENCE = 2_000;

    public static final int LEASE = 300_000;

    private static final long RECOVERY = 30_000;

    public final boolean inCluster = Matrix.environment("MODE").equals("cluster");
    public final String master = Matrix.environment("MASTER");
    public final List<String> addresses = List.of(Matrix.environment("ADDRESSES").split(","));
    public final List<String> nodes = List.of(Matrix.environment("NODES").split(","));

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final BufferedReader answers =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final Map<String, ExecutorService> owners = new ConcurrentHashMap<>(); // a lock of Redisson has a thread
    private final String name;
    private Client client;

    /** What a client does. An owner is a thread. */
    public interface Client {
        void set(String key, String value);

        String get(String key);

        boolean tryLock(String key, String owner) throws Exception;

        void unlock(String key, String owner) throws Exception;

        /** Waits for a lock that is held until unlock is called, woken by a message. Returns whether it came. */
        boolean isWoken(String key, String owner, Callable<?> unlock) throws Exception;
    }

    /** A client that has shard channels, too. */
    public interface ShardClient extends Client {
        /** Returns once the subscription stands. Without the client's own help it is made anew when it ends. */
        void listen(String shardChannel, Runnable heard) throws Exception;

        void publish(String shardChannel, String message);
    }

    /** Opens a client. It need not be closed, because the process ends. */
    public interface Opening {
        Client open(Topology topology) throws Exception;
    }

    private interface Scene {
        void play() throws Exception;
    }

    private Topology(String name) {
        this.name = name;
        System.setOut(System.err);
    }

    /** Plays all scenes, prints lines of JSON and ends the process. */
    public static void run(String name, Opening opening) {
        Topology t = new Topology(name);
        t.scene("connect", () -> {
            t.client = opening.open(t);
            t.connect();
        });
        t.scene("lock", t::lock);
        t.scene("contention", t::contention);
        t.scene("wake-up", t::wakeUp);
        if (t.inCluster) {
            if (t.client instanceof ShardClient shards) {
                t.scene("shard", () -> t.shard(shards));
            }
            t.scene("slot", t::slot);
        }
        t.scene("failover", t::failover);
        System.exit(0);
    }

    private void scene(String scene, Scene it) {
        String saw = "ok";
        try {
            it.play();
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            saw = "error: " + e;
        }
        String plain = saw.replaceAll("\\p{Cntrl}", " ").replace("\\", "\\\\").replace("\"", "\\\"");
        out.printf("{\"client\": \"%s\", \"scene\": \"%s\", \"saw\": \"%s\"}%n", name, scene, plain);
    }

    private void ask(String what, String key) throws Exception {
        out.printf("{\"ask\": \"%s\", \"key\": \"%s\"}%n", what, key);
        answers.readLine();
    }

    private static void check(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException(what);
        }
    }

    /** Calls something in the thread of an owner. */
    private <T> T as(String owner, Callable<T> it) throws Exception {
        try {
            return owners.computeIfAbsent(owner, o -> Executors.newSingleThreadExecutor()).submit(it).get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private boolean take(String key, String owner) throws Exception {
        return as(owner, () -> client.tryLock(key, owner));
    }

    private void release(String key, String owner) throws Exception {
        as(owner, () -> {
            client.unlock(key, owner);
            return null;
        });
    }

    private void connect() {
        client.set("connect", "1");
        check("1".equals(client.get("connect")), "a value comes back");
    }

    private void lock() throws Exception {
        check(take("lock", "one"), "a free lock is taken");
        check(!take("lock", "two"), "a held lock is refused");
        release("lock", "one");
        check(take("lock", "two"), "a free lock is taken");
        release("lock", "two");
    }

    private void contention() throws Exception {
        List<Future<?>> workers = new ArrayList<>();
        ExecutorService all = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            String owner = "worker-" + i;
            workers.add(all.submit(() -> {
                for (int n = 0; n < 10; n++) {
                    while (!take("busy", owner)) {
                        Thread.sleep(5);
                    }
                    String count = client.get("{busy}:n");
                    client.set("{busy}:n", String.valueOf((count == null ? 0 : Integer.parseInt(count)) + 1));
                    release("busy", owner);
                }
                return null;
            }));
        }
        for (Future<?> worker : workers) {
            worker.get();
        }
        check("40".equals(client.get("{busy}:n")), "an update is lost");
    }

    private void wakeUp() throws Exception {
        check(take("woken", "one"), "a free lock is taken");
        boolean woken = as("two", () -> client.isWoken("woken", "two", () -> {
            release("woken", "one");
            return null;
        }));
        check(woken, "there is no message");
    }

    private void shard(ShardClient shards) throws Exception {
        Semaphore messages = new Semaphore(0);
        shards.listen("shard", messages::release);
        shards.publish("shard", "free");
        check(messages.tryAcquire(PATIENCE, TimeUnit.MILLISECONDS), "there is no message");
        ask("cut", "shard");
        for (long end = System.nanoTime() + RECOVERY * 1_000_000;;) {
            shards.publish("shard", "free");
            if (messages.tryAcquire(100, TimeUnit.MILLISECONDS)) {
                return;
            }
            check(System.nanoTime() < end, "after a cut there is no message");
        }
    }

    private void slot() throws Exception {
        for (String step : new String[] {"move", "finish"}) { // ASK, then MOVED
            check(take("moved", "one"), "a free lock is taken");
            ask(step, "moved");
            check(!take("moved", "two"), "a held lock is refused");
            release("moved", "one");
        }
    }

    private void failover() throws Exception {
        check(take("kept", "one"), "a free lock is taken");
        ask("failover", "kept");
        long end = System.nanoTime() + RECOVERY * 1_000_000;
        while (true) {
            boolean taken;
            try {
                taken = take("kept", "two");
                release("kept", "one");
            } catch (Exception e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
                Thread.sleep(100);
                continue;
            }
            check(!taken, "a held lock is refused");
            return;
        }
    }
}
