package interop.redisson;

import interop.cells.Matrix;
import interop.cells.Sender;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Single requests whose reply does not come. Redisson's lock is a script. */
public final class Resends {
    private Resends() {
    }

    public static void run() throws IOException {
        new Sender("redisson " + Matrix.version(Redisson.class))
                .request("", (host, port, key) -> take(host, port, key, true))
                .request("retryAttempts: 0", (host, port, key) -> take(host, port, key, false));
    }

    private static boolean take(String host, int port, String key, boolean again) throws InterruptedException {
        Config config = Clients.config(host + ":" + port, 1);
        config.useSingleServer().setTimeout(Sender.PATIENCE);
        if (!again) {
            config.useSingleServer().setRetryAttempts(0);
        }
        RedissonClient client = Redisson.create(config);
        try {
            return client.getLock(key).tryLock(0, Sender.LEASE, TimeUnit.MILLISECONDS);
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }
}
