package interop.jedis8;

import interop.cells.Matrix;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** A lock over TLS. */
public final class Tls {
    private Tls() {
    }

    public static void main(String[] args) throws Exception {
        interop.cells.Tls.run("jedis " + Matrix.version(RedisClient.class), Tls::open);
    }

    private static interop.cells.Tls.Client open(interop.cells.Tls tls) throws Exception {
        RedisClient client = RedisClient.builder()
                .hostAndPort(new HostAndPort(tls.host, tls.port))
                .clientConfig(DefaultJedisClientConfig.builder()
                        .ssl(true)
                        .sslSocketFactory(tls.context().getSocketFactory())
                        .build())
                .build();
        return new interop.cells.Tls.Client() {
            @Override
            public boolean tryLock(String key, String token) {
                SetParams taken = SetParams.setParams().nx().px(interop.cells.Tls.LEASE);
                return "OK".equals(client.set(key, token, taken));
            }

            @Override
            public void unlock(String key, String token) {
                client.eval(interop.cells.Tls.UNLOCK, List.of(key), List.of(token));
            }
        };
    }
}
