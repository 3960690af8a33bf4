package interop.cells;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** What a scenario has at hand while it runs: a key of its own, the server, other threads, and ways to insist. */
public final class Cell {
    /**
     * How long anything may take that is to happen at once. Far more than it needs, because the machine may be busy;
     * far less than the leases of 30 s, so that no lock is ever got by waiting for one to run out.
     */
    public static final long SOON = 15_000;

    /** A lease that nobody waits for. */
    public static final long LONG_LEASE = 30_000;

    private static final int WORKERS = 16;

    public final String key;
    public final Server server;
    public final List<String> masters;
    private final List<Thread> threads = new ArrayList<>();

    Cell(String key, Server server, List<String> masters) {
        this.key = key;
        this.server = server;
        this.masters = masters;
    }

    public interface Condition {
        boolean holds() throws Exception;
    }

    public interface Action {
        void run() throws Exception;
    }

    /** Runs what it is given while it holds a lock. */
    public interface Guard {
        void run(Action critical) throws Exception;
    }

    public static void check(boolean truth, String otherwise) {
        if (!truth) {
            throw new AssertionError(otherwise);
        }
    }

    public static void same(Object want, Object got, String of) {
        check(want.equals(got), of + ": " + got + " in place of " + want);
    }

    /** The action fails with one of these errors; anything else fails the cell. */
    @SafeVarargs
    public static void refused(String what, Action action, Class<? extends Exception>... with) throws Exception {
        try {
            action.run();
        } catch (Exception e) {
            for (Class<? extends Exception> expected : with) {
                if (expected.isInstance(e)) {
                    return;
                }
            }
            throw e;
        }
        throw new AssertionError(what + " was not refused");
    }

    public void await(String what, Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SOON);
        while (!condition.holds()) {
            check(System.nanoTime() < end, "waited in vain: " + what);
            Thread.sleep(5);
        }
    }

    /** Starts the task on a thread of its own, which most clients take for another owner. */
    public <T> Future<T> begin(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, key);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return future;
    }

    public Future<?> begin(Action action) {
        return begin(() -> {
            action.run();
            return null;
        });
    }

    /** The task's result, or its own exception. */
    public static <T> T soon(String what, Future<T> future) throws Exception {
        try {
            return future.get(SOON, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("waited in vain: " + what);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw (Error) e.getCause();
        }
    }

    public <T> T elsewhere(Callable<T> task) throws Exception {
        return soon("another thread", begin(task));
    }

    /**
     * Workers add to a number on the server by GET and SET, each time under the lock: two of them at a time lose one
     * of the additions.
     */
    public void contend(int rounds, Guard guard) throws Exception {
        String counter = key + ":counter";
        AtomicInteger inside = new AtomicInteger();
        server.call("SET", counter, "0");
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            workers.add(begin(() -> {
                try (Server mine = server.another()) {
                    for (int round = 0; round < rounds; round++) {
                        guard.run(() -> {
                            check(inside.incrementAndGet() == 1, "two owners at a time");
                            long n = Long.parseLong(mine.text("GET", counter));
                            mine.call("SET", counter, Long.toString(n + 1));
                            inside.decrementAndGet();
                        });
                    }
                }
            }));
        }
        for (Future<?> worker : workers) {
            soon("the workers", worker);
        }
        same(Integer.toString(WORKERS * rounds), server.text("GET", counter), "the counter");
    }

    /** Cuts every connection of every client, all but this cell's own. */
    public void cutConnections() {
        check(server.number("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") > 0, "there was no connection to cut");
    }

    /** A client without retries may notice a cut connection by one failed call, not by two. */
    public static void atSecondTry(Action action) throws Exception {
        try {
            action.run();
        } catch (Exception e) {
            action.run();
        }
    }

    /** The protocol of the connection that carries this name, as the server sees it. */
    public void speaks(String connectionName, int protocol) {
        String all = server.text("CLIENT", "LIST");
        for (String line : all.split("\n")) {
            if (line.contains(" name=" + connectionName + " ")) {
                check(line.contains(" resp=" + protocol), "another protocol than RESP" + protocol + ": " + line);
                return;
            }
        }
        throw new AssertionError("no connection is called " + connectionName);
    }

    void end() {
        for (Thread thread : threads) {
            thread.interrupt();
        }
        for (String master : masters) {
            try (Server connection = new Server(master)) {
                for (Object name : connection.list("KEYS", "*" + key + "*")) {
                    connection.call("DEL", (String) name);
                }
            }
        }
    }
}
