package interop.redisson;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.SOON;
import static interop.cells.Cell.check;
import static interop.cells.Cell.same;
import static interop.cells.Cell.soon;

import interop.cells.Cell;
import interop.cells.LockScenarios;
import interop.cells.Matrix;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;

/** Redisson's other means to coordinate. */
final class Objects {
    private Objects() {
    }

    static Matrix<Clients> addTo(Matrix<Clients> matrix) {
        return matrix
                .cell("semaphore", Objects::semaphore)
                .cell("permits", Objects::permits)
                .cell("latch", Objects::latch)
                .cell("rate-limiter", Objects::rateLimiter);
    }

    static void semaphore(Clients clients, Cell cell) throws Exception {
        RSemaphore mine = clients.mine.getSemaphore(cell.key);
        RSemaphore theirs = clients.theirs.getSemaphore(cell.key);
        check(mine.trySetPermits(2), "the permits of a new semaphore cannot be set");
        check(!theirs.trySetPermits(5), "the permits were set twice");
        mine.acquire();
        theirs.acquire();
        check(!theirs.tryAcquire(), "a third of two permits");
        check(!theirs.tryAcquire(200, TimeUnit.MILLISECONDS), "a third of two permits after a while");
        Future<?> waiter = cell.begin(() -> theirs.acquire());
        LockScenarios.awaitSubscriber(cell);
        mine.release();
        soon("the waiter for a permit", waiter);
        same(0, mine.availablePermits(), "permits");
        theirs.release(2);
        same(2, mine.drainPermits(), "permits drained");
        mine.addPermits(3);
        same(3, theirs.availablePermits(), "permits");
    }

    static void permits(Clients clients, Cell cell) throws Exception {
        RPermitExpirableSemaphore mine = clients.mine.getPermitExpirableSemaphore(cell.key);
        RPermitExpirableSemaphore theirs = clients.theirs.getPermitExpirableSemaphore(cell.key);
        check(mine.trySetPermits(1), "the permits of a new semaphore cannot be set");
        String endless = mine.acquire();
        check(theirs.tryAcquire() == null, "a second of one permit");
        Future<String> waiter = cell.begin(() -> theirs.acquire());
        LockScenarios.awaitSubscriber(cell);
        mine.release(endless);
        theirs.release(soon("the waiter for the permit", waiter));

        long began = System.nanoTime();
        String lent = mine.acquire(300, TimeUnit.MILLISECONDS);
        String next = theirs.tryAcquire(SOON, LONG_LEASE, TimeUnit.MILLISECONDS);
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        check(next != null, "the permit's lease is over and it cannot be had");
        check(millis >= 290, "got a permit of 300 ms after " + millis);
        check(!mine.tryRelease(lent), "released a permit whose lease was over");
        check(theirs.updateLeaseTime(next, 2 * LONG_LEASE, TimeUnit.MILLISECONDS), "the lease cannot be made longer");
        check(theirs.tryRelease(next), "the permit cannot be released");
        same(1, mine.availablePermits(), "permits");
    }

    static void latch(Clients clients, Cell cell) throws Exception {
        RCountDownLatch mine = clients.mine.getCountDownLatch(cell.key);
        RCountDownLatch theirs = clients.theirs.getCountDownLatch(cell.key);
        check(mine.trySetCount(3), "the count of a new latch cannot be set");
        check(!theirs.trySetCount(5), "the count was set twice");
        check(!theirs.await(100, TimeUnit.MILLISECONDS), "open at 3");
        Future<?> waiter = cell.begin(() -> theirs.await());
        LockScenarios.awaitSubscriber(cell);
        mine.countDown();
        theirs.countDown();
        same(1L, mine.getCount(), "the count");
        check(!waiter.isDone(), "open at 1");
        mine.countDown();
        soon("the waiter at the latch", waiter);
        check(!cell.server.exists(cell.key), "the key of an open latch is still there");
    }

    static void rateLimiter(Clients clients, Cell cell) throws Exception {
        RRateLimiter mine = clients.mine.getRateLimiter(cell.key);
        RRateLimiter theirs = clients.theirs.getRateLimiter(cell.key);
        check(mine.trySetRate(RateType.OVERALL, 3, 2, RateIntervalUnit.SECONDS), "the rate cannot be set");
        check(!theirs.trySetRate(RateType.OVERALL, 9, 2, RateIntervalUnit.SECONDS), "the rate was set twice");
        same(3L, mine.availablePermits(), "permits before the first");
        check(mine.tryAcquire(2), "refused 2 of 3");
        check(theirs.tryAcquire(), "refused the third of 3");
        check(!mine.tryAcquire(), "a fourth of 3");
        check(theirs.tryAcquire(1, SOON, TimeUnit.MILLISECONDS), "refused after the interval");
    }
}
