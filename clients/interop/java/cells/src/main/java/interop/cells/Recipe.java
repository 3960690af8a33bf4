package interop.cells;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;
import static interop.cells.Cell.soon;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The lock that people write by hand on Jedis and Lettuce: a random token by SET NX PX, a script that deletes the key
 * if the token is still there, and a message to those who wait.
 */
public final class Recipe {
    private static final String UNLOCK = String.join("\n",
            "if redis.call('get', KEYS[1]) ~= ARGV[1] then",
            "  return 0",
            "end",
            "redis.call('del', KEYS[1])",
            "redis.call('publish', KEYS[1] .. ':released', ARGV[1])",
            "return 1");

    private final Wire wire;
    private final String key;
    private final String token = UUID.randomUUID().toString();
    private final String unlockSha;

    private Recipe(Wire wire, String key) {
        this.wire = wire;
        this.key = key;
        unlockSha = wire.load(UNLOCK);
    }

    boolean tryLock(long lease) {
        return wire.setIfAbsent(key, token, lease);
    }

    boolean unlock() {
        try {
            return (Long) wire.evalsha(unlockSha, List.of(key), List.of(token)) == 1;
        } catch (RuntimeException e) {
            if (!wire.noScript().isInstance(e)) {
                throw e;
            }
            return (Long) wire.eval(UNLOCK, List.of(key), List.of(token)) == 1;
        }
    }

    /** Asks again each 5 ms. */
    boolean poll(long lease, long patience) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patience);
        while (!tryLock(lease)) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(5);
        }
        return true;
    }

    public static <W extends Wire> Matrix<W> addTo(Matrix<W> matrix) {
        return matrix
                .cell("acquire-release", Recipe::acquireRelease)
                .cell("contention", Recipe::contention)
                .cell("expiry", Recipe::expiry)
                .cell("stranger", Recipe::stranger)
                .cell("wakeup", Recipe::wakeup)
                .cell("try-timeout", Recipe::tryTimeout)
                .cell("script-lost", Recipe::scriptLost)
                .cell("reconnect", Recipe::reconnect);
    }

    static void acquireRelease(Wire wire, Cell cell) {
        Recipe mine = new Recipe(wire, cell.key);
        Recipe theirs = new Recipe(wire, cell.key);
        check(mine.tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had");
        check(cell.server.number("PTTL", cell.key) > 0, "the lock would never run out");
        check(!theirs.tryLock(LONG_LEASE), "another one got the lock that is held");
        check(mine.unlock(), "its owner cannot free it");
        check(!cell.server.exists(cell.key), "the key is still there after unlock");
    }

    static void contention(Wire wire, Cell cell) throws Exception {
        cell.contend(8, critical -> {
            Recipe lock = new Recipe(wire, cell.key);
            check(lock.poll(LONG_LEASE, Cell.SOON), "waited in vain for the lock");
            try {
                critical.run();
            } finally {
                check(lock.unlock(), "its owner cannot free it");
            }
        });
    }

    static void expiry(Wire wire, Cell cell) throws Exception {
        long began = System.nanoTime();
        check(new Recipe(wire, cell.key).tryLock(250), "nobody holds the lock and it cannot be had");
        check(new Recipe(wire, cell.key).poll(LONG_LEASE, Cell.SOON), "its lease is over and it cannot be had");
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        check(millis >= 245, "got a lock of 250 ms after " + millis);
    }

    /** Who unlocks without a script watches the key, or deletes what is another one's by now. */
    static void stranger(Wire wire, Cell cell) {
        Recipe mine = new Recipe(wire, cell.key);
        check(mine.tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had");
        check(!new Recipe(wire, cell.key).unlock(), "a stranger's unlock was not refused");
        check(cell.server.exists(cell.key), "a stranger's unlock freed the lock");
        check(mine.unlock(), "its owner cannot free it");

        check(mine.tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had");
        check(!wire.deleteIf(cell.key, "another token", () -> { }), "a stranger's transaction was not refused");
        check(!wire.deleteIf(cell.key, mine.token, () -> cell.server.call("SET", cell.key, "theirs")),
                "EXEC went on though another one has the lock by now");
        check("theirs".equals(cell.server.text("GET", cell.key)), "the former owner's transaction freed the lock");
        check(wire.deleteIf(cell.key, "theirs", () -> { }), "its owner's transaction does not free it");
        check(!cell.server.exists(cell.key), "the key is still there after the transaction");
    }

    static void wakeup(Wire wire, Cell cell) throws Exception {
        Recipe mine = new Recipe(wire, cell.key);
        Recipe theirs = new Recipe(wire, cell.key);
        check(mine.tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had");
        Semaphore released = new Semaphore(0);
        try (AutoCloseable subscription = wire.subscribe(cell.key + ":released", released::release)) {
            Future<Boolean> waiter = cell.begin(() -> {
                released.acquire();
                return theirs.tryLock(LONG_LEASE);
            });
            check(mine.unlock(), "its owner cannot free it");
            check(soon("the message of the release", waiter), "the lock was released and cannot be had");
        }
        cell.await("the end of the subscription",
                () -> cell.server.list("PUBSUB", "CHANNELS", cell.key + ":released").isEmpty());
    }

    static void tryTimeout(Wire wire, Cell cell) throws Exception {
        check(new Recipe(wire, cell.key).tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had");
        check(!new Recipe(wire, cell.key).poll(LONG_LEASE, 200), "got a lock that is held");
    }

    static void scriptLost(Wire wire, Cell cell) {
        Recipe mine = new Recipe(wire, cell.key);
        for (int i = 0; i < 2; i++) {
            check(mine.tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had");
            cell.server.call("SCRIPT", "FLUSH");
            check(mine.unlock(), "unlock did nothing without its script");
            check(!cell.server.exists(cell.key), "the key is still there after unlock");
        }
    }

    static void reconnect(Wire wire, Cell cell) throws Exception {
        Recipe mine = new Recipe(wire, cell.key);
        for (int i = 0; i < 2; i++) {
            cell.cutConnections();
            Cell.atSecondTry(() -> check(mine.tryLock(LONG_LEASE), "nobody holds the lock and it cannot be had"));
            cell.cutConnections();
            Cell.atSecondTry(() -> check(mine.unlock(), "its owner cannot free it"));
        }
    }

    /** One turn of the lock, for a cell about something else. */
    public static void once(Wire wire, Cell cell) throws Exception {
        acquireRelease(wire, cell);
        wakeup(wire, cell);
    }
}
