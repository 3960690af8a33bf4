package interop.jedis8;

import interop.cells.Matrix;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.params.SetParams;

/** A lock through Sentinel. */
public final class Sentinel {
    private Sentinel() {
    }

    public static void main(String[] args) throws Exception {
        interop.cells.Sentinel.run("jedis " + Matrix.version(RedisClient.class), Sentinel::open);
    }

    private static interop.cells.Sentinel.Client open(interop.cells.Sentinel sentinel) {
        JedisClientConfig config =
                DefaultJedisClientConfig.builder().timeoutMillis(interop.cells.Sentinel.PATIENCE).build();
        Set<HostAndPort> sentinels = sentinel.sentinels.stream().map(HostAndPort::from).collect(Collectors.toSet());
        RedisSentinelClient client = RedisSentinelClient.builder()
                .masterName(sentinel.master)
                .sentinels(sentinels)
                .clientConfig(config)
                .sentinelClientConfig(config)
                .build();
        return new interop.cells.Sentinel.Client() {
            @Override
            public boolean tryLock(String key, String token) {
                SetParams taken = SetParams.setParams().nx().px(interop.cells.Sentinel.LEASE);
                return "OK".equals(client.set(key, token, taken));
            }

            @Override
            public void unlock(String key, String token) {
                client.eval(interop.cells.Sentinel.UNLOCK, List.of(key), List.of(token));
            }
        };
    }
}
