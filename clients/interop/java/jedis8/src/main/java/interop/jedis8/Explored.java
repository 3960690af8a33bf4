package interop.jedis8;

import interop.cells.ByHand;
import interop.cells.Explore;
import interop.cells.Matrix;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** A lock by hand, for explore. */
public final class Explored {
    private Explored() {
    }

    public static void main(String[] args) throws Exception {
        new Explore()
                .client("jedis", Matrix.version(RedisClient.class) + " by hand", Explored::open,
                        "socketTimeoutMillis(" + Explore.SILENCE + ")",
                        "set(key, token, nx().px(" + Explore.LEASE + "))", "eval(compareAndDelete)")
                .run(args);
    }

    private static Explore.Worker open(String host, int port, String name) {
        RedisClient client = RedisClient.builder()
                .hostAndPort(new HostAndPort(host, port))
                .clientConfig(DefaultJedisClientConfig.builder()
                        .clientName(name)
                        .socketTimeoutMillis(Explore.SILENCE)
                        .build())
                .build();
        client.ping();
        return new ByHand() {
            @Override
            protected boolean set(String key, String token) {
                return "OK".equals(client.set(key, token, SetParams.setParams().nx().px(Explore.LEASE)));
            }

            @Override
            protected long unlock(String script, String key, String token) {
                return (Long) client.eval(script, List.of(key), List.of(token));
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }
}
