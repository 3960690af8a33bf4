package interop.redisson;

import interop.cells.Matrix;
import interop.cells.Topology;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReplicatedServersConfig;
import org.redisson.config.SentinelServersConfig;

/** A lock in a cluster or through Sentinel. */
public final class InTopology {
    /** After so many ms a waiter would ask again by itself: its lock has a lease that is longer. */
    private static final long WAIT = 60_000;

    /** After so many ms a waiter has subscribed. If it has not, it gets the lock without a message. */
    private static final long SUBSCRIBES = 1_000;

    private InTopology() {
    }

    /** How many scenes there are depends on the version: only a newer one has shard channels. */
    public interface Shards {
        Topology.Client with(RedissonClient client, Topology.Client locks);
    }

    /** By Sentinel or in a cluster, or, if replicated, with a list of servers that it asks for their roles. */
    public static void run(boolean replicated, Shards shards) {
        String name = "redisson " + Matrix.version(Redisson.class);
        if (!replicated) {
            Topology.run(name, topology -> {
                RedissonClient client = connect(topology);
                return shards.with(client, new Locks(client));
            });
        } else if (!Matrix.environment("MODE").equals("cluster")) {
            Topology.run(name + " (replicated)", topology -> new Locks(connectReplicated(topology)));
        }
    }

    private static RedissonClient connectReplicated(Topology topology) {
        Config config = new Config();
        config.setThreads(4).setNettyThreads(4).setCodec(StringCodec.INSTANCE);
        ReplicatedServersConfig servers = config.useReplicatedServers()
                .setScanInterval(1000)
                .setTimeout(Topology.PATIENCE)
                .setConnectTimeout(Topology.PATIENCE)
                .setMasterConnectionMinimumIdleSize(2)
                .setSlaveConnectionMinimumIdleSize(2);
        topology.nodes.forEach(address -> servers.addNodeAddress("redis://" + address));
        return Redisson.create(config);
    }

    private static RedissonClient connect(Topology topology) {
        Config config = new Config();
        config.setThreads(4).setNettyThreads(4).setCodec(StringCodec.INSTANCE);
        if (topology.inCluster) {
            ClusterServersConfig servers = config.useClusterServers()
                    .setScanInterval(1000)
                    .setTimeout(Topology.PATIENCE)
                    .setConnectTimeout(Topology.PATIENCE)
                    .setMasterConnectionMinimumIdleSize(2)
                    .setSlaveConnectionMinimumIdleSize(2);
            topology.addresses.forEach(address -> servers.addNodeAddress("redis://" + address));
        } else {
            SentinelServersConfig servers = config.useSentinelServers()
                    .setMasterName(topology.master)
                    .setTimeout(Topology.PATIENCE)
                    .setConnectTimeout(Topology.PATIENCE)
                    .setMasterConnectionMinimumIdleSize(2)
                    .setSlaveConnectionMinimumIdleSize(2);
            topology.addresses.forEach(address -> servers.addSentinelAddress("redis://" + address));
        }
        return Redisson.create(config);
    }

    private record Locks(RedissonClient client) implements Topology.Client {
        @Override
        public void set(String key, String value) {
            client.getBucket(key).set(value);
        }

        @Override
        public String get(String key) {
            return client.<String>getBucket(key).get();
        }

        @Override
        public boolean tryLock(String key, String owner) throws InterruptedException {
            return client.getLock(key).tryLock(0, Topology.LEASE, TimeUnit.MILLISECONDS);
        }

        @Override
        public void unlock(String key, String owner) {
            client.getLock(key).unlock();
        }

        @Override
        public boolean isWoken(String key, String owner, Callable<?> unlock) throws Exception {
            RLock lock = client.getLock(key);
            CompletableFuture<?> release = CompletableFuture.runAsync(() -> {
                try {
                    Thread.sleep(SUBSCRIBES);
                    unlock.call();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            long since = System.nanoTime();
            boolean got = lock.tryLock(WAIT, Topology.LEASE, TimeUnit.MILLISECONDS);
            release.get(1, TimeUnit.SECONDS);
            lock.unlock();
            return got && System.nanoTime() - since < WAIT * 500_000;
        }
    }
}
