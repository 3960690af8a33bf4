package interop.replicator;

import static interop.cells.Cell.same;

import com.moilioncircle.redis.replicator.RedisReplicator;
import interop.cells.Cell;
import interop.cells.Matrix;
import interop.cells.Server;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * redis-replicator follows a master as tools do that move data to other stores: it asks with PSYNC, reads RDB and the
 * stream by its own code, and acknowledges offsets.
 */
final class Main {
    public static void main(String[] args) {
        new Matrix<Void>("redis-replicator " + Matrix.version(RedisReplicator.class))
                .cell("full-sync", (none, cell) -> fullSync(cell))
                .cell("stream", (none, cell) -> stream(cell))
                .cell("partial-sync", (none, cell) -> partialSync(cell))
                .run(() -> null);
        System.exit(0);
    }

    /** Each kind of key arrives, in its small form and in its large one, and each deadline to the millisecond. */
    private static void fullSync(Cell cell) throws Exception {
        Server s = cell.server;
        Map<String, String> want = new TreeMap<>();
        want.put(cell.key + ":lock", "token until 4102444800123");
        s.call("SET", cell.key + ":lock", "token", "PXAT", "4102444800123");
        want.put(cell.key + ":bytes", "é\0\r\n");
        s.call("SET", cell.key + ":bytes", "é\0\r\n");
        for (int size : new int[] {3, 1000}) {
            String end = ":" + size;
            s.call(words("RPUSH", cell.key + ":list" + end, numbers(size).mapToObj(i -> "v" + i)));
            want.put(cell.key + ":list" + end, numbers(size).mapToObj(i -> "v" + i).toList().toString());
            s.call(words("SADD", cell.key + ":ints" + end, numbers(size).mapToObj(Integer::toString)));
            want.put(cell.key + ":ints" + end, numbers(size).mapToObj(Integer::toString).sorted().toList().toString());
            s.call(words("SADD", cell.key + ":set" + end, numbers(size).mapToObj(i -> "m" + i)));
            want.put(cell.key + ":set" + end, numbers(size).mapToObj(i -> "m" + i).sorted().toList().toString());
            s.call(words("HSET", cell.key + ":hash" + end,
                    numbers(size).boxed().flatMap(i -> Stream.of("f" + i, "v" + i))));
            Map<String, String> hash = new TreeMap<>();
            numbers(size).forEach(i -> hash.put("f" + i, "v" + i));
            want.put(cell.key + ":hash" + end, hash.toString());
            s.call(words("ZADD", cell.key + ":zset" + end,
                    numbers(size).boxed().flatMap(i -> Stream.of(i + ".5", "m" + i))));
            want.put(cell.key + ":zset" + end,
                    numbers(size).mapToObj(i -> "m" + i + "=" + i + ".5").sorted().toList().toString());
        }
        for (String id : new String[] {"1-1", "2-1", "2-2"}) {
            s.call("XADD", cell.key + ":stream", id, "field", "value");
        }
        s.call("XDEL", cell.key + ":stream", "2-1");
        s.call("XGROUP", "CREATE", cell.key + ":stream", "group", "0");
        s.call("XREADGROUP", "GROUP", "group", "me", "COUNT", "1", "STREAMS", cell.key + ":stream", ">");
        want.put(cell.key + ":stream", "[1-1, 2-2] [group [1-1]]");
        try (Follower follower = follow(cell)) {
            same(want.keySet(), new TreeMap<>(follower.keys).keySet(), "the keys");
            want.forEach((key, value) -> same(value, follower.keys.get(key), key));
        }
    }

    /** What a lock does arrives as commands that mean the same at any time. */
    private static void stream(Cell cell) throws Exception {
        Server s = cell.server;
        try (Follower follower = follow(cell)) {
            s.call("SET", cell.key, "token", "NX", "PXAT", "4102444800123");
            s.call("SET", cell.key, "stranger", "NX", "PX", "1000"); // does nothing
            String release = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) "
                    + "redis.call('HSET', KEYS[2], 'n', 1) return 1 end return 0";
            s.call("EVAL", release, "2", cell.key, cell.key + ":hash", "token");
            s.call("PUBLISH", cell.key, "released");
            cell.await("the commands", () -> {
                follower.check();
                return follower.commands.size() >= 6;
            });
            same("[SET K token PXAT 4102444800123, MULTI, DEL K, HSET K:hash n 1, EXEC, PUBLISH K released]",
                    follower.commands.toString().replace(cell.key, "K").replace(" NX", ""), "the commands");
        }
    }

    /** After a lost connection it goes on where it was. */
    private static void partialSync(Cell cell) throws Exception {
        Server s = cell.server;
        try (Follower follower = follow(cell)) {
            long before = info(s, "sync_partial_ok");
            s.call("SET", cell.key, "1");
            cell.await("the first command", () -> follower.commands.size() == 1);
            same(1L, s.number("CLIENT", "KILL", "TYPE", "replica"), "connections cut");
            s.call("SET", cell.key, "2");
            cell.await("the second command", () -> {
                follower.check();
                return follower.commands.size() == 2;
            });
            same("SET " + cell.key + " 2", follower.commands.get(1), "the second command");
            same(1, follower.begun, "full syncs");
            same(before + 1, info(s, "sync_partial_ok"), "partial syncs");
            cell.await("an acknowledgment", () -> s.number("WAIT", "1", "1000") == 1);
        }
    }

    private static Follower follow(Cell cell) throws Exception {
        cell.server.call("CONFIG", "SET", "repl-diskless-sync-delay", "0");
        Follower follower = new Follower(cell.server, cell.key);
        cell.await("the full sync", () -> {
            follower.check();
            return follower.ended == 1;
        });
        cell.await("a replica that is online", () -> cell.server.text("INFO", "replication").contains("state=online"));
        return follower;
    }

    private static long info(Server server, String field) {
        return server.text("INFO", "stats").lines().filter(line -> line.startsWith(field + ":"))
                .mapToLong(line -> Long.parseLong(line.substring(field.length() + 1))).findFirst().orElseThrow();
    }

    private static IntStream numbers(int size) {
        return IntStream.range(0, size);
    }

    private static String[] words(String command, String key, Stream<String> rest) {
        return Stream.concat(Stream.of(command, key), rest).toArray(String[]::new);
    }
}
