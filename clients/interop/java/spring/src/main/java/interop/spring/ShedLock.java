package interop.spring;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;

import interop.cells.Cell;
import interop.cells.Matrix;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Locks of scheduled tasks: each attempt is an owner of its own, and an attempt that fails does not wait. */
final class ShedLock {
    private final RedisLockProvider locks;

    ShedLock(RedisConnectionFactory factory) {
        // Without safeUpdate it deletes whatever lock is there.
        locks = new RedisLockProvider.Builder(factory)
                .environment("interop")
                .keyPrefix("shedlock")
                .safeUpdate(true)
                .build();
    }

    static Matrix<ShedLock> addTo(Matrix<ShedLock> matrix) {
        return matrix
                .cell("acquire-release", ShedLock::acquireRelease)
                .cell("contention", ShedLock::contention)
                .cell("expiry", ShedLock::expiry)
                .cell("watchdog", ShedLock::watchdog)
                .cell("stranger", ShedLock::stranger)
                .cell("script-lost", ShedLock::scriptLost)
                .cell("reconnect", ShedLock::reconnect);
    }

    private static Optional<SimpleLock> attempt(LockProvider locks, Cell cell, long lease) {
        return locks.lock(new LockConfiguration(Instant.now(), cell.key, Duration.ofMillis(lease), Duration.ZERO));
    }

    private Optional<SimpleLock> attempt(Cell cell, long lease) {
        return attempt(locks, cell, lease);
    }

    private static String key(Cell cell) {
        return "shedlock:interop:" + cell.key;
    }

    static void acquireRelease(ShedLock client, Cell cell) {
        SimpleLock lock = client.attempt(cell, LONG_LEASE).orElseThrow();
        check(cell.server.number("PTTL", key(cell)) > 0, "the lock would never run out");
        check(client.attempt(cell, LONG_LEASE).isEmpty(), "another one got the lock that is held");
        lock.unlock();
        check(!cell.server.exists(key(cell)), "the key is still there after unlock");
    }

    private SimpleLock poll(Cell cell, long lease) throws Exception {
        SimpleLock[] lock = new SimpleLock[1];
        cell.await("the lock", () -> {
            attempt(cell, lease).ifPresent(got -> lock[0] = got);
            return lock[0] != null;
        });
        return lock[0];
    }

    static void contention(ShedLock client, Cell cell) throws Exception {
        cell.contend(8, critical -> {
            SimpleLock lock = client.poll(cell, LONG_LEASE);
            try {
                critical.run();
            } finally {
                lock.unlock();
            }
        });
    }

    static void expiry(ShedLock client, Cell cell) throws Exception {
        long began = System.nanoTime();
        client.attempt(cell, 250).orElseThrow();
        client.poll(cell, LONG_LEASE).unlock();
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        check(millis >= 245, "got a lock of 250 ms after " + millis);
    }

    /** It keeps alive leases of 30 s and more only, so its clock is made to run, and the lease is cut to match. */
    static void watchdog(ShedLock client, Cell cell) throws Exception {
        ScheduledThreadPoolExecutor fast = new ScheduledThreadPoolExecutor(1) {
            @Override
            public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long delay, long period, TimeUnit unit) {
                return super.scheduleAtFixedRate(task, 200, 200, TimeUnit.MILLISECONDS);
            }
        };
        try {
            LockProvider alive = new KeepAliveLockProvider(client.locks, fast);
            SimpleLock lock = attempt(alive, cell, LONG_LEASE).orElseThrow();
            for (int i = 0; i < 2; i++) {
                check(cell.server.number("PEXPIRE", key(cell), "2000") == 1, "the lease was not renewed in time");
                cell.await("a renewed lease", () -> cell.server.number("PTTL", key(cell)) > 2_000);
            }
            check(client.attempt(cell, LONG_LEASE).isEmpty(), "another one got the lock that is held");
            lock.unlock();
            check(!cell.server.exists(key(cell)), "the key is still there after unlock");
        } finally {
            fast.shutdownNow();
        }
    }

    static void stranger(ShedLock client, Cell cell) throws Exception {
        SimpleLock former = client.attempt(cell, 100).orElseThrow();
        SimpleLock owner = client.poll(cell, LONG_LEASE);
        former.unlock();
        check(cell.server.exists(key(cell)), "the former owner's unlock freed the lock");
        owner.unlock();
        check(!cell.server.exists(key(cell)), "the key is still there after unlock");

        SimpleLock expired = client.attempt(cell, 100).orElseThrow();
        client.poll(cell, LONG_LEASE);
        check(expired.extend(Duration.ofSeconds(90), Duration.ZERO).isEmpty(), "the former owner's lease was extended");
        check(cell.server.number("PTTL", key(cell)) <= LONG_LEASE, "the former owner made the owner's lease longer");
    }

    static void scriptLost(ShedLock client, Cell cell) {
        for (int i = 0; i < 2; i++) {
            SimpleLock lock = client.attempt(cell, LONG_LEASE).orElseThrow();
            cell.server.call("SCRIPT", "FLUSH");
            SimpleLock extended = lock.extend(Duration.ofSeconds(60), Duration.ZERO).orElseThrow();
            check(cell.server.number("PTTL", key(cell)) > LONG_LEASE, "extend did nothing without its script");
            cell.server.call("SCRIPT", "FLUSH");
            extended.unlock();
            check(!cell.server.exists(key(cell)), "unlock did nothing without its script");
        }
    }

    static void reconnect(ShedLock client, Cell cell) throws Exception {
        SimpleLock lock = client.attempt(cell, LONG_LEASE).orElseThrow();
        cell.cutConnections();
        // A second unlock of one SimpleLock is refused by the client itself, so a failed call is a plain command's.
        Cell.atSecondTry(() -> check(client.attempt(cell, LONG_LEASE).isEmpty(), "got the lock that is held"));
        lock.unlock();
        check(!cell.server.exists(key(cell)), "unlock did nothing on a new connection");
        cell.cutConnections();
        Cell.atSecondTry(() -> client.attempt(cell, LONG_LEASE).orElseThrow().unlock());
    }
}
