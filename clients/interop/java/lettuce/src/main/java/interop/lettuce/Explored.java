package interop.lettuce;

import interop.cells.ByHand;
import interop.cells.Explore;
import interop.cells.Matrix;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;

/** A lock by hand, for explore. */
public final class Explored {
    private Explored() {
    }

    public static void main(String[] args) throws Exception {
        new Explore()
                .client("lettuce", Matrix.version(RedisClient.class) + " by hand", Explored::open,
                        "withTimeout(" + Explore.SILENCE + " ms)",
                        "set(key, token, nx().px(" + Explore.LEASE + "))", "eval(compareAndDelete)")
                .run(args);
    }

    private static Explore.Worker open(String host, int port, String name) {
        RedisURI uri = RedisURI.builder()
                .withHost(host)
                .withPort(port)
                .withClientName(name)
                .withTimeout(Duration.ofMillis(Explore.SILENCE))
                .build();
        RedisClient client = RedisClient.create(uri);
        RedisCommands<String, String> commands = client.connect().sync();
        return new ByHand() {
            @Override
            protected boolean set(String key, String token) {
                return "OK".equals(commands.set(key, token, SetArgs.Builder.nx().px(Explore.LEASE)));
            }

            @Override
            protected long unlock(String script, String key, String token) {
                return commands.<Long>eval(script, ScriptOutputType.INTEGER, new String[] {key}, token);
            }

            @Override
            public void close() {
                client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
            }
        };
    }
}
