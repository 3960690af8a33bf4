package interop.lettuce;

import static interop.cells.Cell.LONG_LEASE;
import static interop.cells.Cell.check;
import static interop.cells.Cell.soon;

import interop.cells.Cell;
import interop.cells.Compare;
import interop.cells.Matrix;
import interop.cells.Recipe;
import io.lettuce.core.RedisClient;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.concurrent.CompletableFuture;

/** Lettuce: one connection for all threads, replies and pushes mixed on it. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        Matrix<LettuceWire> matrix = Recipe.addTo(new Matrix<>("lettuce " + Matrix.version(RedisClient.class)));
        Compare.addTo(matrix, "redis", wire -> new LettuceCompare(wire.commands))
                .cell("resp2", Main::resp2)
                .cell("resp3", Main::resp3)
                .run(() -> new LettuceWire("interop-lettuce", ProtocolVersion.newestSupported()));
        System.exit(0);
    }

    static void resp2(LettuceWire unused, Cell cell) throws Exception {
        try (LettuceWire wire = new LettuceWire("interop-lettuce-resp2", ProtocolVersion.RESP2)) {
            cell.speaks("interop-lettuce-resp2", 2);
            Recipe.once(wire, cell);
        }
    }

    /** The lock's key is cached, and the push that it is no longer true comes on the connection of the commands. */
    static void resp3(LettuceWire unused, Cell cell) throws Exception {
        try (LettuceWire wire = new LettuceWire("interop-lettuce-resp3", ProtocolVersion.RESP3)) {
            cell.speaks("interop-lettuce-resp3", 3);
            Recipe.once(wire, cell);

            CompletableFuture<String> invalidated = new CompletableFuture<>();
            wire.connection.addListener(push -> {
                if (push.getType().equals("invalidate")) {
                    invalidated.complete(push.getContent(io.lettuce.core.codec.StringCodec.UTF8::decodeKey).toString());
                }
            });
            wire.commands.clientTracking(TrackingArgs.Builder.enabled());
            String key = cell.key + ":cached";
            check(wire.setIfAbsent(key, "token", LONG_LEASE), "nobody holds the lock and it cannot be had");
            check("token".equals(wire.commands.get(key)), "the token is not there");
            cell.server.call("DEL", key);
            String keys = soon("the push of the invalidation", invalidated);
            check(keys.contains(key), "the push speaks of " + keys);
            check(wire.commands.get(key) == null, "a reply after the push is not the one it should be");
        }
    }
}
