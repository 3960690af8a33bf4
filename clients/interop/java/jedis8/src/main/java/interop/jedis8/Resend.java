package interop.jedis8;

import interop.cells.Matrix;
import interop.cells.Sender;
import java.io.IOException;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** Single requests whose reply does not come. */
public final class Resend {
    private Resend() {
    }

    public static void main(String[] args) throws IOException {
        new Sender("jedis " + Matrix.version(RedisClient.class)).request("", Resend::set);
    }

    private static boolean set(String host, int port, String key) {
        try (RedisClient client = RedisClient.builder()
                .hostAndPort(new HostAndPort(host, port))
                .clientConfig(DefaultJedisClientConfig.builder().socketTimeoutMillis(Sender.PATIENCE).build())
                .build()) {
            return "OK".equals(client.set(key, "token", SetParams.setParams().nx().px(Sender.LEASE)));
        }
    }
}
