package interop.lettuce;

import interop.cells.Matrix;
import interop.cells.Sender;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import java.io.IOException;
import java.time.Duration;

/** Single requests whose reply does not come. */
public final class Resend {
    private Resend() {
    }

    public static void main(String[] args) throws IOException {
        new Sender("lettuce " + Matrix.version(RedisClient.class))
                .request("", (host, port, key) -> set(host, port, key, true))
                .request("autoReconnect(false)", (host, port, key) -> set(host, port, key, false));
        System.exit(0);
    }

    private static boolean set(String host, int port, String key, boolean reconnect) {
        RedisURI uri = RedisURI.builder()
                .withHost(host)
                .withPort(port)
                .withTimeout(Duration.ofMillis(Sender.PATIENCE))
                .build();
        RedisClient client = RedisClient.create(uri);
        try {
            client.setOptions(ClientOptions.builder().autoReconnect(reconnect).build());
            SetArgs taken = SetArgs.Builder.nx().px(Sender.LEASE);
            return "OK".equals(client.connect().sync().set(key, "token", taken));
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        }
    }
}
