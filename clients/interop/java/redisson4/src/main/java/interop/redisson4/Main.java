package interop.redisson4;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;
import static interop.cells.Cell.refused;
import static interop.cells.Cell.soon;

import interop.cells.Cell;
import interop.cells.LockScenarios;
import interop.cells.Matrix;
import interop.redisson.Clients;
import interop.redisson.Masters;
import interop.redisson.Scenarios;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.Protocol;

/** The current version: what both have, and what is new. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        Scenarios.matrix()
                .cell("reentrancy", Main::reentrancy)
                .cell("multi", Main::multi)
                .cell("fenced", Main::fenced)
                .cell("resp2", (clients, cell) -> protocol(Protocol.RESP2, cell))
                .cell("resp3", (clients, cell) -> protocol(Protocol.RESP3, cell))
                .run(Clients::new);
        System.exit(0);
    }

    /** The locks that refuse their own owner, beside the one that lets it in again. */
    static void reentrancy(Clients clients, Cell cell) throws Exception {
        LockScenarios.reentrancy(clients, cell);
        RLock plain = clients.mine.getNonReentrantLock(cell.key + ":once");
        RLock fair = clients.mine.getNonReentrantFairLock(cell.key + ":once-fair");
        for (RLock lock : List.of(plain, fair)) {
            lock.lock();
            refused("taking " + lock.getName() + " twice", lock::lock, IllegalMonitorStateException.class);
            lock.unlock();
            check(!cell.server.exists(lock.getName()), lock.getName() + " is still held after unlock");
        }
    }

    /** The new kind of lock for several values is one hash on one server. */
    static void multi(Clients clients, Cell cell) throws Exception {
        Masters.multi(clients, cell);
        String group = cell.key + ":group";
        RLock mine = clients.mine.getMultiLock(group, List.of("a", "b"));
        RLock overlapping = clients.theirs.getMultiLock(group, List.of("b", "c"));
        RLock apart = clients.theirs.getMultiLock(group, List.of("c", "d"));
        mine.lock();
        check(!overlapping.tryLock(), "one value is held and the lock of it and another one was got");
        check(apart.tryLock(), "other values are free and their lock cannot be had");
        apart.unlock();
        Future<?> waiter = cell.begin(() -> {
            overlapping.lock();
            overlapping.unlock();
        });
        LockScenarios.awaitSubscriber(cell);
        mine.unlock();
        soon("the waiter for two values", waiter);
        check(!cell.server.exists(group), "the values are still held");
    }

    static void fenced(Clients clients, Cell cell) throws Exception {
        RFencedLock mine = clients.mine.getFencedLock(cell.key);
        RFencedLock theirs = clients.theirs.getFencedLock(cell.key);
        long first = mine.lockAndGetToken();
        check(mine.getToken() == first, "another token than at lock");
        // Not tryLockAndGetToken, which in 4.7.0 never returns while another one holds the lock, on any server.
        check(!theirs.tryLock(), "another one got the lock that is held");
        Future<Long> waiter = cell.begin(() -> {
            long token = theirs.lockAndGetToken();
            theirs.unlock();
            return token;
        });
        LockScenarios.awaitSubscriber(cell);
        mine.unlock();
        long second = soon("the waiter", waiter);
        check(second > first, "the token did not grow: " + first + ", then " + second);
    }

    private static void protocol(Protocol protocol, Cell cell) throws Exception {
        String name = cell.key.replaceAll("[^A-Za-z0-9]", "-");
        Config config = Clients.config(Matrix.environment("REDIS_ADDR"), 2).setProtocol(protocol);
        config.useSingleServer().setClientName(name);
        RedissonClient client = Redisson.create(config);
        try {
            cell.speaks(name, protocol == Protocol.RESP3 ? 3 : 2);
            RLock lock = client.getLock(cell.key);
            lock.lock(LONG_LEASE, TimeUnit.MILLISECONDS);
            Future<?> waiter = cell.begin(() -> {
                RLock again = client.getLock(cell.key);
                again.lock();
                again.unlock();
            });
            LockScenarios.awaitSubscriber(cell);
            lock.unlock();
            soon("the waiter", waiter);
        } finally {
            client.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }
}
