package interop.redisson;

import interop.cells.Explore;
import interop.cells.Matrix;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** RLock for explore, with a lease or with the watchdog. */
public final class Explores {
    private Explores() {
    }

    public static void run(String name, String[] args) throws Exception {
        String version = Matrix.version(Redisson.class);
        String timeout = "useSingleServer().setTimeout(" + Explore.SILENCE + ")";
        new Explore()
                .wakingClient(name, version, (host, port, worker) -> open(host, port, worker, Explore.LEASE), timeout,
                        "tryLock(" + Explore.WAIT + ", " + Explore.LEASE + ", MILLISECONDS)")
                .wakingClient(name + "-watchdog", version, (host, port, worker) -> open(host, port, worker, -1), timeout,
                        "tryLock(" + Explore.WAIT + ", MILLISECONDS)")
                .run(args);
    }

    private static Explore.Worker open(String host, int port, String name, long lease) {
        Config config = Clients.config(host + ":" + port, 1);
        config.setThreads(2).setNettyThreads(2);
        config.useSingleServer()
                .setClientName(name)
                .setConnectionPoolSize(4)
                .setTimeout(Explore.SILENCE);
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock("lock:o");
        return new Explore.Worker() {
            @Override
            public boolean look() throws InterruptedException {
                return lock.tryLock(0, lease, TimeUnit.MILLISECONDS);
            }

            @Override
            public boolean take() throws InterruptedException {
                return lock.tryLock(Explore.WAIT, lease, TimeUnit.MILLISECONDS);
            }

            @Override
            public void release() {
                lock.unlock();
            }

            @Override
            public void close() {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        };
    }
}
