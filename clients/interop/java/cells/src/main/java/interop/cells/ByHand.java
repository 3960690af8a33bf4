package interop.cells;

import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A lock written by hand for explore: SET NX PX with a token of its own for each attempt, and a script that compares. */
public abstract class ByHand implements Explore.Worker {
    private String token;

    protected abstract boolean set(String key, String token);

    /** Runs the script, and returns what it returns. */
    protected abstract long unlock(String script, String key, String token);

    @Override
    public boolean look() {
        token = UUID.randomUUID().toString();
        return set("lock:o", token);
    }

    @Override
    public boolean take() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Explore.WAIT);
        while (!look()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(100);
        }
        return true;
    }

    @Override
    public void release() {
        if (unlock(Explore.UNLOCK, "lock:o", token) != 1) {
            throw new IllegalStateException("no longer held");
        }
    }
}
