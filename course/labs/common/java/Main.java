import java.io.IOException;
import java.util.List;

/** A lock. The task of the lab says what take and release must do. */
final class Main implements Lab.Lock {
    private final Lab.Redis redis;
    private final String key;
    private final long leaseMillis;

    Main(List<Lab.Redis> masters, String key, long leaseMillis) {
        this.redis = masters.get(0);
        this.key = key;
        this.leaseMillis = leaseMillis;
    }

    /** Takes the lock, and returns whether it is ours. */
    @Override
    public boolean take() throws IOException {
        // TODO: redis.call("SET", ...) returns "OK", or null
        return false;
    }

    /** Releases the lock, and returns false if it was not ours any more. */
    @Override
    public boolean release() throws IOException {
        // TODO
        return false;
    }

    public static void main(String[] args) throws IOException {
        Lab.run("my lock in Java", Main::new);
    }
}
