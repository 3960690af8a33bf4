import java.io.IOException;
import java.util.List;

/** Lab 5: find all keys of a pattern, and let others work meanwhile. Fill in count and purge. */
final class Main implements Lab.Search {
    private final Lab.Redis redis;

    Main(List<Lab.Redis> masters, String key, long leaseMillis) {
        this.redis = masters.get(0); // this lab has no lock: key and leaseMillis are for others
    }

    /** Returns how many keys match. */
    @Override
    public long count(String pattern) throws IOException {
        // TODO: (List<?>) redis.call("SCAN", ...) has the next cursor, and a List of names
        return 0;
    }

    /** Deletes the keys that match, and returns how many it deleted. */
    @Override
    public long purge(String pattern) throws IOException {
        // TODO: (Long) redis.call("UNLINK", ...) is how many keys were there
        return 0;
    }

    public static void main(String[] args) throws IOException {
        Lab.run("my search in Java", Main::new);
    }
}
