package interop.cells;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.SOON;
import static interop.cells.Cell.check;
import static interop.cells.Cell.refused;
import static interop.cells.Cell.soon;

import java.util.ConcurrentModificationException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** The scenarios of clients whose lock is a {@link Lock}: Redisson and Spring Integration. */
public final class LockScenarios {
    private LockScenarios() {
    }

    /** Two instances of the client, as two processes would have one each, with a lease that no scenario outlives. */
    public interface Client {
        Lock mine(String name);

        Lock theirs(String name);

        /** Takes my lock for so many milliseconds, without renewal. */
        void take(String name, long lease) throws Exception;

        /** Waits for their lock while the lease of mine ends, in the way that the client has for it. */
        boolean outlast(Lock theirs) throws InterruptedException;

        /** The key that exists while the lock is held. */
        String key(String name);
    }

    public static <C extends Client> Matrix<C> addTo(Matrix<C> matrix) {
        return matrix
                .cell("acquire-release", LockScenarios::acquireRelease)
                .cell("contention", LockScenarios::contention)
                .cell("reentrancy", LockScenarios::reentrancy)
                .cell("expiry", LockScenarios::expiry)
                .cell("stranger", LockScenarios::stranger)
                .cell("try-timeout", LockScenarios::tryTimeout)
                .cell("script-lost", LockScenarios::scriptLost)
                .cell("reconnect", LockScenarios::reconnect);
    }

    static void acquireRelease(Client client, Cell cell) throws Exception {
        String key = client.key(cell.key);
        Lock mine = client.mine(cell.key);
        Lock theirs = client.theirs(cell.key);
        mine.lock();
        check(cell.server.exists(key), "the lock is held and its key is not there");
        check(cell.server.number("PTTL", key) > 0, "the lock would never run out");
        check(!theirs.tryLock(), "another one got the lock that is held");
        mine.unlock();
        check(!cell.server.exists(key), "the key is still there after unlock");
        check(theirs.tryLock(), "nobody holds the lock and it cannot be had");
        theirs.unlock();
        check(!cell.server.exists(key), "the key is still there after the other one's unlock");
    }

    static void contention(Client client, Cell cell) throws Exception {
        cell.contend(8, critical -> {
            // Half of them at either instance: some meet in the process, some only on the server.
            boolean even = Thread.currentThread().getId() % 2 == 0;
            Lock lock = even ? client.mine(cell.key) : client.theirs(cell.key);
            lock.lock();
            try {
                critical.run();
            } finally {
                lock.unlock();
            }
        });
    }

    public static void reentrancy(Client client, Cell cell) throws Exception {
        Lock mine = client.mine(cell.key);
        mine.lock();
        mine.lock();
        check(mine.tryLock(), "its owner cannot take it again");
        mine.unlock();
        mine.unlock();
        check(cell.server.exists(client.key(cell.key)), "free before the last unlock");
        check(!client.theirs(cell.key).tryLock(), "another one got it before the last unlock");
        mine.unlock();
        check(!cell.server.exists(client.key(cell.key)), "still held after the last unlock");
    }

    static void expiry(Client client, Cell cell) throws Exception {
        long began = System.nanoTime();
        client.take(cell.key, 250);
        Lock theirs = client.theirs(cell.key);
        check(client.outlast(theirs), "its lease is over and it cannot be had");
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        check(millis >= 245, "got a lock of 250 ms after " + millis);
        theirs.unlock();
    }

    static void stranger(Client client, Cell cell) throws Exception {
        String key = client.key(cell.key);
        Lock theirs = client.theirs(cell.key);
        client.take(cell.key, LONG_LEASE);
        refused("their unlock", theirs::unlock, IllegalMonitorStateException.class, IllegalStateException.class);
        check(cell.server.exists(key), "a stranger's unlock freed the lock");
        client.mine(cell.key).unlock();

        client.take(cell.key, 100);
        check(client.outlast(theirs), "its lease is over and it cannot be had");
        refused("an unlock after the lease", () -> client.mine(cell.key).unlock(),
                IllegalMonitorStateException.class, ConcurrentModificationException.class);
        check(cell.server.exists(key), "the former owner's unlock freed the lock");
        theirs.unlock();
        check(!cell.server.exists(key), "still held after the owner's unlock");
    }

    static void tryTimeout(Client client, Cell cell) throws Exception {
        client.take(cell.key, LONG_LEASE);
        long began = System.nanoTime();
        check(!client.theirs(cell.key).tryLock(300, TimeUnit.MILLISECONDS), "got a lock that is held");
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        check(millis >= 250 && millis < SOON, "gave up after " + millis + " ms in place of 300");
        client.mine(cell.key).unlock();
    }

    static void scriptLost(Client client, Cell cell) throws Exception {
        Lock mine = client.mine(cell.key);
        mine.lock();
        cell.server.call("SCRIPT", "FLUSH");
        mine.unlock();
        check(!cell.server.exists(client.key(cell.key)), "unlock did nothing without its script");
        cell.server.call("SCRIPT", "FLUSH");
        mine.lock();
        check(cell.server.exists(client.key(cell.key)), "lock did nothing without its script");
        mine.unlock();
    }

    static void reconnect(Client client, Cell cell) throws Exception {
        Lock mine = client.mine(cell.key);
        mine.lock();
        cell.cutConnections();
        Cell.atSecondTry(mine::unlock);
        check(!cell.server.exists(client.key(cell.key)), "unlock did nothing on a new connection");
        cell.cutConnections();
        Cell.atSecondTry(mine::lock);
        check(!client.theirs(cell.key).tryLock(), "another one got the lock that is held");
        mine.unlock();
    }

    /** For clients that wait for a message: they would otherwise wait until the lease of 30 s is over. */
    public static void wakeup(Client client, Cell cell) throws Exception {
        client.take(cell.key, LONG_LEASE);
        Future<?> waiter = cell.begin(() -> {
            Lock theirs = client.theirs(cell.key);
            theirs.lock();
            theirs.unlock();
        });
        awaitSubscriber(cell);
        check(!waiter.isDone(), "the waiter got the lock that is held");
        client.mine(cell.key).unlock();
        soon("the waiter", waiter);
    }

    /** Some channel or pattern that speaks of this cell's key has a subscriber. */
    public static void awaitSubscriber(Cell cell) throws Exception {
        cell.await("a subscription",
                () -> !cell.server.list("PUBSUB", "CHANNELS", "*" + cell.key + "*").isEmpty()
                        || cell.server.number("PUBSUB", "NUMPAT") > 0);
    }
}
