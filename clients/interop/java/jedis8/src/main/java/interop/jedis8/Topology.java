package interop.jedis8;

import interop.cells.Matrix;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.JedisShardedPubSub;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.SetParams;

/** A lock in a cluster or through Sentinel. */
public final class Topology {
    private static final String UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then "
            + "redis.call('publish', ARGV[2], 'free') return redis.call('del', KEYS[1]) else return 0 end";

    private Topology() {
    }

    public static void main(String[] args) {
        interop.cells.Topology.run("jedis " + Matrix.version(RedisClient.class), Topology::open);
    }

    private static UnifiedJedis connect(interop.cells.Topology topology) {
        JedisClientConfig config =
                DefaultJedisClientConfig.builder().timeoutMillis(interop.cells.Topology.PATIENCE).build();
        Set<HostAndPort> addresses = topology.addresses.stream().map(HostAndPort::from).collect(Collectors.toSet());
        if (topology.inCluster) {
            return RedisClusterClient.builder().nodes(addresses).clientConfig(config).build();
        }
        return RedisSentinelClient.builder()
                .masterName(topology.master)
                .sentinels(addresses)
                .clientConfig(config)
                .sentinelClientConfig(config)
                .build();
    }

    private static interop.cells.Topology.Client open(interop.cells.Topology topology) {
        UnifiedJedis client = connect(topology);
        return new interop.cells.Topology.ShardClient() {
            @Override
            public void set(String key, String value) {
                client.set(key, value);
            }

            @Override
            public String get(String key) {
                return client.get(key);
            }

            @Override
            public boolean tryLock(String key, String owner) {
                return "OK".equals(client.set(key, owner, SetParams.setParams().nx().px(interop.cells.Topology.LEASE)));
            }

            @Override
            public void unlock(String key, String owner) {
                Object deleted = client.eval(UNLOCK, List.of(key), List.of(owner, key + ":free"));
                if (!Long.valueOf(1).equals(deleted)) {
                    throw new IllegalStateException("the owner does not release the lock");
                }
            }

            @Override
            public boolean isWoken(String key, String owner, Callable<?> unlock) throws Exception {
                CountDownLatch listens = new CountDownLatch(1);
                CountDownLatch woken = new CountDownLatch(1);
                JedisPubSub heard = new JedisPubSub() {
                    @Override
                    public void onSubscribe(String channel, int channels) {
                        listens.countDown();
                    }

                    @Override
                    public void onMessage(String channel, String message) {
                        woken.countDown();
                    }
                };
                Thread listener = new Thread(() -> client.subscribe(heard, key + ":free"));
                listener.setDaemon(true);
                listener.start();
                listens.await(interop.cells.Topology.PATIENCE, TimeUnit.MILLISECONDS);
                unlock.call();
                return woken.await(interop.cells.Topology.PATIENCE, TimeUnit.MILLISECONDS);
            }

            /** Jedis ends a subscription with its connection. */
            @Override
            public void listen(String shardChannel, Runnable heard) throws InterruptedException {
                CountDownLatch listens = new CountDownLatch(1);
                Thread listener = new Thread(() -> {
                    while (true) {
                        try {
                            ((RedisClusterClient) client).ssubscribe(shards(listens, heard), shardChannel);
                        } catch (JedisConnectionException cut) {
                            Thread.yield();
                        }
                    }
                });
                listener.setDaemon(true);
                listener.start();
                listens.await(interop.cells.Topology.PATIENCE, TimeUnit.MILLISECONDS);
            }

            @Override
            public void publish(String shardChannel, String message) {
                ((RedisClusterClient) client).spublish(shardChannel, message);
            }
        };
    }

    private static JedisShardedPubSub shards(CountDownLatch listens, Runnable heard) {
        return new JedisShardedPubSub() {
            @Override
            public void onSSubscribe(String channel, int channels) {
                listens.countDown();
            }

            @Override
            public void onSMessage(String channel, String message) {
                heard.run();
            }
        };
    }
}
