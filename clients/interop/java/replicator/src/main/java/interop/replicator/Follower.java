package interop.replicator;

import com.moilioncircle.redis.replicator.Configuration;
import com.moilioncircle.redis.replicator.RedisReplicator;
import com.moilioncircle.redis.replicator.Replicator;
import com.moilioncircle.redis.replicator.cmd.Command;
import com.moilioncircle.redis.replicator.cmd.CommandName;
import com.moilioncircle.redis.replicator.cmd.impl.DefaultCommand;
import com.moilioncircle.redis.replicator.cmd.impl.PingCommand;
import com.moilioncircle.redis.replicator.cmd.impl.SelectCommand;
import com.moilioncircle.redis.replicator.cmd.parser.DefaultCommandParser;
import com.moilioncircle.redis.replicator.event.Event;
import com.moilioncircle.redis.replicator.event.PostRdbSyncEvent;
import com.moilioncircle.redis.replicator.event.PreRdbSyncEvent;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyStringValueHash;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyStringValueList;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyStringValueSet;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyStringValueStream;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyStringValueString;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyStringValueZSet;
import com.moilioncircle.redis.replicator.rdb.datatype.KeyValuePair;
import interop.cells.Server;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A replica of a server, on a thread of its own. It notes what it gets. */
final class Follower implements AutoCloseable {
    /** The keys of the full sync, without those of other cells: key => value. The deadline stands behind the value. */
    final Map<String, String> keys = new ConcurrentHashMap<>();

    /** The commands behind it, without SELECT and PING. */
    final List<String> commands = new CopyOnWriteArrayList<>();

    volatile int begun;
    volatile int ended;
    private volatile Throwable failure;
    private final Replicator replicator;

    Follower(Server master, String prefix) {
        Configuration often = Configuration.defaultSetting().setRetryTimeInterval(20).setHeartbeatPeriod(100);
        replicator = new RedisReplicator(master.host, master.port, often);
        for (String name : List.of("SET", "DEL", "HSET", "MULTI", "EXEC", "PUBLISH")) { // each as its words
            replicator.addCommandParser(CommandName.name(name), new DefaultCommandParser());
        }
        replicator.addEventListener((r, event) -> note(event, prefix));
        Thread thread = new Thread(() -> {
            try {
                replicator.open();
            } catch (Throwable e) {
                failure = e;
            }
        }, "replica");
        thread.setDaemon(true);
        thread.start();
    }

    private void note(Event event, String prefix) {
        if (event instanceof PreRdbSyncEvent) {
            begun++;
        } else if (event instanceof PostRdbSyncEvent) {
            ended++;
        } else if (event instanceof KeyValuePair<?, ?> pair && text(pair.getKey()).startsWith(prefix)) {
            String deadline = pair.getExpiredMs() == null ? "" : " until " + pair.getExpiredMs();
            keys.put(text(pair.getKey()), value(pair) + deadline);
        } else if (event instanceof DefaultCommand command) {
            commands.add(Stream.concat(Stream.of(command.getCommand()), Stream.of(command.getArgs()))
                    .map(Follower::text).collect(Collectors.joining(" ")));
        } else if (event instanceof Command && !(event instanceof SelectCommand || event instanceof PingCommand)) {
            commands.add(event.getClass().getSimpleName());
        }
    }

    private static String value(KeyValuePair<?, ?> pair) {
        if (pair instanceof KeyStringValueString string) {
            return text(string.getValue());
        } else if (pair instanceof KeyStringValueList list) {
            return list.getValue().stream().map(Follower::text).toList().toString();
        } else if (pair instanceof KeyStringValueSet set) {
            return set.getValue().stream().map(Follower::text).sorted().toList().toString();
        } else if (pair instanceof KeyStringValueHash hash) {
            Map<String, String> fields = new TreeMap<>();
            hash.getValue().forEach((field, value) -> fields.put(text(field), text(value)));
            return fields.toString();
        } else if (pair instanceof KeyStringValueZSet zset) {
            return zset.getValue().stream().map(e -> text(e.getElement()) + "=" + e.getScore()).sorted().toList()
                    .toString();
        } else if (pair instanceof KeyStringValueStream stream) {
            return stream.getValue().getEntries().values().stream().filter(entry -> !entry.isDeleted())
                    .map(entry -> entry.getId().toString()).toList() + " " + stream.getValue().getGroups().stream()
                    .map(group -> text(group.getName()) + " " + group.getPendingEntries().keySet()).toList();
        }
        return pair.getClass().getSimpleName();
    }

    private static String text(Object bytes) {
        return new String((byte[]) bytes, StandardCharsets.UTF_8);
    }

    /** Fails as the connection did, if it is given up. */
    void check() {
        if (failure != null) {
            throw new AssertionError("the replica has given up: " + failure);
        }
    }

    @Override
    public void close() throws Exception {
        replicator.close();
    }
}
