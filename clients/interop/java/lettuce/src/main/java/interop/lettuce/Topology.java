package interop.lettuce;

import interop.cells.Matrix;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A lock in a cluster or through Sentinel. */
public final class Topology {
    private static final String UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then "
            + "redis.call('publish', ARGV[2], 'free') return redis.call('del', KEYS[1]) else return 0 end";

    private Topology() {
    }

    public static void main(String[] args) {
        interop.cells.Topology.run("lettuce " + Matrix.version(RedisClient.class), Topology::open);
    }

    private static interop.cells.Topology.Client open(interop.cells.Topology topology) {
        Duration patience = Duration.ofMillis(interop.cells.Topology.PATIENCE);
        if (topology.inCluster) {
            List<RedisURI> nodes = topology.addresses.stream().map(a -> RedisURI.create("redis://" + a)).toList();
            nodes.forEach(node -> node.setTimeout(patience));
            RedisClusterClient client = RedisClusterClient.create(nodes);
            client.setOptions(ClusterClientOptions.builder()
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .enablePeriodicRefresh(Duration.ofSeconds(1))
                            .enableAllAdaptiveRefreshTriggers()
                            .build())
                    .build());
            return new Locks(client.connect().sync(), client::connectPubSub);
        }
        RedisURI.Builder uri = RedisURI.builder().withSentinelMasterId(topology.master).withTimeout(patience);
        for (String address : topology.addresses) {
            String[] parts = address.split(":");
            uri.withSentinel(parts[0], Integer.parseInt(parts[1]));
        }
        RedisClient client = RedisClient.create(uri.build());
        return new Locks(client.connect().sync(), client::connectPubSub);
    }

    private record Locks(RedisClusterCommands<String, String> commands,
            Supplier<? extends StatefulRedisPubSubConnection<String, String>> subscriber)
            implements interop.cells.Topology.ShardClient {
        @Override
        public void set(String key, String value) {
            commands.set(key, value);
        }

        @Override
        public String get(String key) {
            return commands.get(key);
        }

        @Override
        public boolean tryLock(String key, String owner) {
            return "OK".equals(commands.set(key, owner, SetArgs.Builder.nx().px(interop.cells.Topology.LEASE)));
        }

        @Override
        public void unlock(String key, String owner) {
            String[] keys = {key};
            if (!Long.valueOf(1).equals(commands.eval(UNLOCK, ScriptOutputType.INTEGER, keys, owner, key + ":free"))) {
                throw new IllegalStateException("the owner does not release the lock");
            }
        }

        @Override
        public boolean isWoken(String key, String owner, Callable<?> unlock) throws Exception {
            CountDownLatch woken = new CountDownLatch(1);
            StatefulRedisPubSubConnection<String, String> connection = subscriber.get();
            connection.addListener(listener(woken::countDown));
            connection.sync().subscribe(key + ":free");
            unlock.call();
            return woken.await(interop.cells.Topology.PATIENCE, TimeUnit.MILLISECONDS);
        }

        @Override
        public void listen(String shardChannel, Runnable heard) {
            StatefulRedisPubSubConnection<String, String> connection = subscriber.get();
            connection.addListener(listener(heard));
            connection.sync().ssubscribe(shardChannel);
        }

        @Override
        public void publish(String shardChannel, String message) {
            commands.spublish(shardChannel, message);
        }

        private static RedisPubSubAdapter<String, String> listener(Runnable heard) {
            return new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String message) {
                    heard.run();
                }

                @Override
                public void smessage(String shardChannel, String message) {
                    heard.run();
                }
            };
        }
    }
}
