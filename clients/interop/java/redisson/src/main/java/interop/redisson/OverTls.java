package interop.redisson;

import interop.cells.Matrix;
import interop.cells.Tls;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A lock over TLS. */
public final class OverTls {
    private OverTls() {
    }

    public static void run() throws Exception {
        Tls.run("redisson " + Matrix.version(Redisson.class), OverTls::open);
    }

    private static Tls.Client open(Tls tls) throws Exception {
        Config config = Clients.config(tls.host + ":" + tls.port, 1);
        config.useSingleServer()
                .setAddress("rediss://" + tls.host + ":" + tls.port)
                .setSslTruststore(tls.trusted.toUri().toURL())
                .setSslTruststorePassword(Tls.PASSWORD)
                .setSslKeystore(tls.own.toUri().toURL())
                .setSslKeystorePassword(Tls.PASSWORD);
        RedissonClient client = Redisson.create(config);
        return new Tls.Client() {
            @Override
            public boolean tryLock(String key, String token) throws InterruptedException {
                return client.getLock(key).tryLock(0, Tls.LEASE, TimeUnit.MILLISECONDS);
            }

            @Override
            public void unlock(String key, String token) {
                client.getLock(key).unlock();
            }
        };
    }
}
