package interop.redisson;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;
import static interop.cells.Cell.same;
import static interop.cells.Cell.soon;

import interop.cells.Cell;
import interop.cells.LockScenarios;
import interop.cells.Matrix;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** The locks of one server that both versions of Redisson have. */
public final class Scenarios {
    private Scenarios() {
    }

    public static Matrix<Clients> matrix() {
        Matrix<Clients> matrix = new Matrix<>("redisson " + Matrix.version(Redisson.class));
        LockScenarios.addTo(matrix)
                .cell("wakeup", Scenarios::wakeup)
                .cell("watchdog", Scenarios::watchdog)
                .cell("fair", Scenarios::fair)
                .cell("read-write", Scenarios::readWrite)
                .cell("spin", Scenarios::spin);
        return Objects.addTo(Masters.addTo(matrix));
    }

    static void wakeup(Clients clients, Cell cell) throws Exception {
        LockScenarios.wakeup(clients, cell);
        lostSubscription(clients, cell);
    }

    /** The waiter's subscription is cut while it waits: it subscribes again and hears of the release. */
    private static void lostSubscription(Clients clients, Cell cell) throws Exception {
        clients.take(cell.key, LONG_LEASE);
        Future<?> waiter = cell.begin(() -> {
            RLock lock = clients.theirs.getLock(cell.key);
            lock.lock();
            lock.unlock();
        });
        LockScenarios.awaitSubscriber(cell);
        Set<String> cut = subscribers(cell);
        check(cell.server.number("CLIENT", "KILL", "TYPE", "pubsub") > 0, "nobody is subscribed");
        cell.await("another connection to subscribe", () -> !cut.containsAll(subscribers(cell)));
        LockScenarios.awaitSubscriber(cell);
        check(!waiter.isDone(), "the waiter got the lock that is held");
        clients.mine.getLock(cell.key).unlock();
        soon("the waiter that subscribed again", waiter);
    }

    private static Set<String> subscribers(Cell cell) {
        return cell.server.text("CLIENT", "LIST", "TYPE", "pubsub").lines()
                .map(line -> line.substring(0, line.indexOf(' ')))
                .collect(Collectors.toSet());
    }

    static void watchdog(Clients clients, Cell cell) throws Exception {
        RLock plain = clients.watched.getLock(cell.key + ":plain");
        RLock read = clients.watched.getReadWriteLock(cell.key + ":rw").readLock();
        RLock fair = clients.watched.getFairLock(cell.key + ":fair");
        List<RLock> locks = List.of(plain, read, fair);
        locks.forEach(RLock::lock);
        read.lock();
        Thread.sleep(Clients.SHORT_WATCHDOG + 800);
        for (RLock lock : locks) {
            check(lock.isHeldByCurrentThread(), lock.getName() + " ran out while it was held");
            check(cell.server.number("PTTL", lock.getName()) > 0, lock.getName() + " has no lease");
        }
        check(!clients.theirs.getLock(plain.getName()).tryLock(), "another one got the lock");
        check(!clients.theirs.getReadWriteLock(read.getName()).writeLock().tryLock(), "a writer got the lock");
        read.unlock();
        locks.forEach(RLock::unlock);
        for (RLock lock : locks) {
            check(!cell.server.exists(lock.getName()), lock.getName() + " is still there after unlock");
        }
    }

    static void fair(Clients clients, Cell cell) throws Exception {
        String queue = "redisson_lock_queue:{" + cell.key + "}";
        RLock first = clients.mine.getFairLock(cell.key);
        first.lock(LONG_LEASE, TimeUnit.MILLISECONDS);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Integer> arrival = new ArrayList<>();
        List<Future<?>> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            RedissonClient client = i % 2 == 0 ? clients.theirs : clients.mine;
            waiters.add(cell.begin(() -> {
                RLock lock = client.getFairLock(cell.key);
                lock.lock();
                order.add(number);
                lock.unlock();
            }));
            arrival.add(number);
            cell.await("a waiter in the queue", () -> cell.server.number("LLEN", queue) == number + 1);
        }
        first.unlock();
        for (Future<?> waiter : waiters) {
            soon("a waiter", waiter);
        }
        same(arrival, order, "the order of the waiters");
    }

    static void readWrite(Clients clients, Cell cell) throws Exception {
        RReadWriteLock mine = clients.mine.getReadWriteLock(cell.key);
        RReadWriteLock theirs = clients.theirs.getReadWriteLock(cell.key);
        mine.readLock().lock();
        theirs.readLock().lock();
        check(!theirs.writeLock().tryLock(), "a writer among readers");
        theirs.readLock().unlock();
        check(!theirs.writeLock().tryLock(), "a writer beside a reader");
        Future<?> writer = cell.begin(() -> {
            theirs.writeLock().lock();
            theirs.writeLock().unlock();
        });
        LockScenarios.awaitSubscriber(cell);
        mine.readLock().unlock();
        soon("the writer", writer);

        mine.writeLock().lock();
        check(!theirs.readLock().tryLock(), "a reader beside the writer");
        mine.readLock().lock();
        mine.writeLock().unlock();
        check(theirs.readLock().tryLock(), "the writer went on as a reader and keeps others out");
        check(!theirs.writeLock().tryLock(), "a writer beside two readers");
        theirs.readLock().unlock();
        mine.readLock().unlock();
        check(!cell.server.exists(cell.key), "still held after the last unlock");
    }

    static void spin(Clients clients, Cell cell) throws Exception {
        RLock mine = clients.mine.getSpinLock(cell.key);
        mine.lock();
        mine.lock();
        check(!clients.theirs.getSpinLock(cell.key).tryLock(), "another one got the lock that is held");
        Future<?> waiter = cell.begin(() -> {
            RLock lock = clients.theirs.getSpinLock(cell.key);
            lock.lock();
            lock.unlock();
        });
        mine.unlock();
        check(cell.server.exists(cell.key), "free before the last unlock");
        mine.unlock();
        soon("the one that spins", waiter);
    }
}
