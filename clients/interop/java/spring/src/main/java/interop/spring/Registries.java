package interop.spring;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;

import interop.cells.Cell;
import interop.cells.LockScenarios;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Lock registries under one name, as several processes of an application would have one each. */
final class Registries implements LockScenarios.Client {
    private static final String NAME = "interop-registry";

    /** Renewals come at a third of it: a machine that stops for less than a second loses nothing. */
    private static final int SHORT_LEASE = 1_500;

    private final RedisLockRegistry mine;
    private final RedisLockRegistry theirs;
    private final RedisLockRegistry renewing;

    Registries(RedisConnectionFactory factory, RedisLockType type) {
        mine = registry(factory, type, (int) LONG_LEASE);
        theirs = registry(factory, type, (int) LONG_LEASE);
        renewing = registry(factory, type, SHORT_LEASE);
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        scheduler.setDaemon(true);
        scheduler.initialize();
        renewing.setRenewalTaskScheduler(scheduler);
    }

    private static RedisLockRegistry registry(RedisConnectionFactory factory, RedisLockType type, int lease) {
        RedisLockRegistry registry = new RedisLockRegistry(factory, NAME, Duration.ofMillis(lease));
        registry.setRedisLockType(type);
        return registry;
    }

    @Override
    public Lock mine(String name) {
        return mine.obtain(name);
    }

    @Override
    public Lock theirs(String name) {
        return theirs.obtain(name);
    }

    @Override
    public void take(String name, long lease) {
        mine.obtain(name).lock(Duration.ofMillis(lease));
    }

    /**
     * In mode PUB_SUB_LOCK a waiter does not look at the lease: it sleeps until a message or its own time limit.
     * There tryLock() asks again and again for up to a millisecond, so it comes seldom enough to be no busy loop.
     */
    @Override
    public boolean outlast(Lock theirs) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Cell.SOON);
        while (!theirs.tryLock()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(100);
        }
        return true;
    }

    @Override
    public String key(String name) {
        return NAME + ":" + name;
    }

    static void watchdog(Registries registries, Cell cell) throws Exception {
        Lock lock = registries.renewing.obtain(cell.key);
        lock.lock();
        Thread.sleep(SHORT_LEASE + 800);
        check(cell.server.number("PTTL", registries.key(cell.key)) > 0, "ran out while it was held");
        check(!registries.theirs(cell.key).tryLock(), "another one got the lock that is held");
        lock.unlock();
        check(!cell.server.exists(registries.key(cell.key)), "still held after unlock");
    }
}
