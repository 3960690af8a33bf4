package interop.lettuce;

import interop.cells.Matrix;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;

/** A lock through Sentinel. */
public final class Sentinel {
    private Sentinel() {
    }

    public static void main(String[] args) throws Exception {
        interop.cells.Sentinel.run("lettuce " + Matrix.version(RedisClient.class), Sentinel::open);
    }

    private static interop.cells.Sentinel.Client open(interop.cells.Sentinel sentinel) {
        Duration patience = Duration.ofMillis(interop.cells.Sentinel.PATIENCE);
        RedisURI.Builder uri = RedisURI.builder().withSentinelMasterId(sentinel.master).withTimeout(patience);
        for (String address : sentinel.sentinels) {
            String[] parts = address.split(":");
            uri.withSentinel(parts[0], Integer.parseInt(parts[1]));
        }
        RedisCommands<String, String> commands = RedisClient.create(uri.build()).connect().sync();
        return new interop.cells.Sentinel.Client() {
            @Override
            public boolean tryLock(String key, String token) {
                return "OK".equals(commands.set(key, token, SetArgs.Builder.nx().px(interop.cells.Sentinel.LEASE)));
            }

            @Override
            public void unlock(String key, String token) {
                String[] keys = {key};
                commands.eval(interop.cells.Sentinel.UNLOCK, ScriptOutputType.INTEGER, keys, token);
            }
        };
    }
}
