package interop.redisson;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;

import interop.cells.Cell;
import interop.cells.Matrix;
import interop.cells.Server;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** The locks made of one lock at each of three independent masters. */
public final class Masters {
    private Masters() {
    }

    static Matrix<Clients> addTo(Matrix<Clients> matrix) {
        return matrix.cell("multi", Masters::multi).cell("redlock", Masters::redlock);
    }

    private static RLock[] locks(List<RedissonClient> clients, String name) {
        return clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new);
    }

    private static long held(Cell cell) {
        return cell.masters.stream().filter(master -> {
            try (Server connection = new Server(master)) {
                return connection.exists(cell.key);
            }
        }).count();
    }

    public static void multi(Clients clients, Cell cell) throws Exception {
        RLock mine = new RedissonMultiLock(locks(clients.myMasters, cell.key));
        RLock theirs = new RedissonMultiLock(locks(clients.theirMasters, cell.key));
        mine.lock();
        check(held(cell) == 3, "held at " + held(cell) + " of 3 masters");
        check(!theirs.tryLock(), "another one got the lock that is held");
        mine.unlock();
        check(held(cell) == 0, "still held at " + held(cell) + " masters after unlock");

        // One of the three is enough to refuse it, and what was taken of the others is given back.
        RLock last = clients.theirMasters.get(2).getLock(cell.key);
        last.lock(LONG_LEASE, TimeUnit.MILLISECONDS);
        check(!mine.tryLock(), "got the lock though one of the three is held");
        cell.await("the other two to be free", () -> held(cell) == 1);
        last.unlock();
        check(mine.tryLock(3_000, LONG_LEASE, TimeUnit.MILLISECONDS), "all three are free and it cannot be had");
        mine.unlock();
    }

    static void redlock(Clients clients, Cell cell) throws Exception {
        RLock[] masters = locks(clients.myMasters, cell.key);
        RLock mine = new RedissonRedLock(masters);
        RLock theirs = new RedissonRedLock(locks(clients.theirMasters, cell.key));
        check(mine.tryLock(3_000, LONG_LEASE, TimeUnit.MILLISECONDS), "nobody holds the lock and it cannot be had");
        check(held(cell) == 3, "held at " + held(cell) + " of 3 masters");
        check(!theirs.tryLock(100, LONG_LEASE, TimeUnit.MILLISECONDS), "another one got the lock that is held");
        mine.unlock();
        cell.await("all masters to be free", () -> held(cell) == 0);

        RLock first = clients.theirMasters.get(0).getLock(cell.key);
        RLock second = clients.theirMasters.get(1).getLock(cell.key);
        first.lock(LONG_LEASE, TimeUnit.MILLISECONDS);
        check(mine.tryLock(3_000, LONG_LEASE, TimeUnit.MILLISECONDS), "two of three masters are not enough");
        mine.unlock();
        cell.await("two masters to be free", () -> held(cell) == 1);
        second.lock(LONG_LEASE, TimeUnit.MILLISECONDS);
        check(!mine.tryLock(100, LONG_LEASE, TimeUnit.MILLISECONDS), "one of three masters is enough");
        first.unlock();
        second.unlock();
        cell.await("all masters to be free", () -> held(cell) == 0);
    }
}
