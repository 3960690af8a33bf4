package interop.cells;

import java.util.Map;
import java.util.function.Function;

/** Locks without scripts, in commands that compare the token themselves. A method says whether the server has done it. */
public interface Compare {
    boolean take(String key, String token);

    boolean renew(String key, String token);

    boolean release(String key, String token);

    boolean several(Map<String, String> tokens);

    boolean enter(String key, String holder);

    /** Adds the cell if the server plays a dialect of the family. */
    static <C> Matrix<C> addTo(Matrix<C> matrix, String family, Function<? super C, Compare> commands) {
        if (!System.getenv().getOrDefault("DIALECT", "").startsWith(family + "-")) {
            return matrix;
        }
        return matrix.cell("compare", (client, cell) -> commands.apply(client).run(cell));
    }

    /** Takes, renews and releases a lock as its owner a and as a stranger b. */
    default void run(Cell cell) {
        String key = cell.key;
        String other = key + ":other";
        String holders = key + ":holders";
        long half = Cell.LONG_LEASE / 2;
        Cell.same(true, take(key, "a"), "nobody holds the lock");
        Cell.same(false, take(key, "b"), "a takes it, then b");
        Cell.same(false, renew(key, "b"), "b renews what a holds");
        cell.server.call("PEXPIRE", key, Long.toString(half));
        Cell.same(true, renew(key, "a"), "a renews");
        Cell.check(cell.server.number("PTTL", key) > half, "the lease is not new");
        Cell.same(false, release(key, "b"), "b releases what a holds");
        Cell.same(true, release(key, "a"), "a releases");
        Cell.same(false, release(key, "a"), "a releases twice");
        Cell.same(true, several(Map.of(key, "a", other, "a")), "two locks at once");
        Cell.same(false, several(Map.of(other, "b", holders, "b")), "one of two is taken");
        Cell.same(true, enter(holders, "a"), "a enters");
        Cell.same(false, enter(holders, "a"), "a enters twice");
        Cell.same(true, enter(holders, "b"), "b enters");
    }
}
