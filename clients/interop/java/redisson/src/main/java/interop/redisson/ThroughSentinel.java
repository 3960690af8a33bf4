package interop.redisson;

import interop.cells.Matrix;
import interop.cells.Sentinel;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

/** A lock through Sentinel. */
public final class ThroughSentinel {
    private ThroughSentinel() {
    }

    public static void run() throws Exception {
        Sentinel.run("redisson " + Matrix.version(Redisson.class), ThroughSentinel::open);
    }

    private static Sentinel.Client open(Sentinel sentinel) {
        Config config = new Config();
        config.setThreads(4).setNettyThreads(4);
        SentinelServersConfig servers = config.useSentinelServers()
                .setMasterName(sentinel.master)
                .setTimeout(Sentinel.PATIENCE)
                .setConnectTimeout(Sentinel.PATIENCE)
                .setMasterConnectionMinimumIdleSize(2)
                .setSlaveConnectionMinimumIdleSize(2);
        for (String address : sentinel.sentinels) {
            servers.addSentinelAddress("redis://" + address);
        }
        RedissonClient client = Redisson.create(config);
        return new Sentinel.Client() {
            @Override
            public boolean tryLock(String key, String token) throws InterruptedException {
                return client.getLock(key).tryLock(0, Sentinel.LEASE, TimeUnit.MILLISECONDS);
            }

            @Override
            public void unlock(String key, String token) {
                client.getLock(key).unlock();
            }
        };
    }
}
