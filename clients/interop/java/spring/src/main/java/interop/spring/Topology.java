package interop.spring;

import interop.cells.Matrix;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Data Redis, and its RedisLockRegistry, in a cluster or through Sentinel. */
public final class Topology {
    /** After so many ms a waiter has subscribed. If it has not, it gets the lock without a message. */
    private static final long SUBSCRIBES = 1_000;

    private static final long WAIT = 60_000;

    private Topology() {
    }

    public static void main(String[] args) {
        RedisLockType type = args[0].isEmpty() ? RedisLockType.SPIN_LOCK : RedisLockType.PUB_SUB_LOCK;
        String name = "spring-integration " + Matrix.version(RedisLockRegistry.class) + " " + type;
        interop.cells.Topology.run(name, topology -> new Locks(factory(topology), type, new ConcurrentHashMap<>()));
    }

    private static LettuceConnectionFactory factory(interop.cells.Topology topology) {
        ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
                .enablePeriodicRefresh(Duration.ofSeconds(1))
                .enableAllAdaptiveRefreshTriggers()
                .build();
        LettuceClientConfiguration client = LettuceClientConfiguration.builder()
                .commandTimeout(Duration.ofMillis(interop.cells.Topology.PATIENCE))
                .clientOptions(ClusterClientOptions.builder().topologyRefreshOptions(refresh).build())
                .build();
        Set<String> addresses = new HashSet<>(topology.addresses);
        LettuceConnectionFactory factory = topology.inCluster
                ? new LettuceConnectionFactory(new RedisClusterConfiguration(addresses), client)
                : new LettuceConnectionFactory(new RedisSentinelConfiguration(topology.master, addresses), client);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    /** Each owner has a registry, as each process of an application has one. */
    private record Locks(LettuceConnectionFactory factory, RedisLockType type, Map<String, RedisLockRegistry> owners)
            implements interop.cells.Topology.Client {
        /** The registry puts its name before the key of a lock. The braces keep the slot. */
        private Lock lock(String key, String owner) {
            return owners.computeIfAbsent(owner, name -> registry()).obtain("{" + key + "}");
        }

        private RedisLockRegistry registry() {
            Duration lease = Duration.ofMillis(interop.cells.Topology.LEASE);
            RedisLockRegistry registry = new RedisLockRegistry(factory, "registry", lease);
            registry.setRedisLockType(type);
            return registry;
        }

        @Override
        public void set(String key, String value) {
            new StringRedisTemplate(factory).opsForValue().set(key, value);
        }

        @Override
        public String get(String key) {
            return new StringRedisTemplate(factory).opsForValue().get(key);
        }

        @Override
        public boolean tryLock(String key, String owner) {
            return lock(key, owner).tryLock();
        }

        @Override
        public void unlock(String key, String owner) {
            lock(key, owner).unlock();
        }

        @Override
        public boolean isWoken(String key, String owner, Callable<?> unlock) throws Exception {
            CompletableFuture<?> release = CompletableFuture.runAsync(() -> {
                try {
                    Thread.sleep(SUBSCRIBES);
                    unlock.call();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            long since = System.nanoTime();
            boolean got = lock(key, owner).tryLock(WAIT, TimeUnit.MILLISECONDS);
            release.get(1, TimeUnit.SECONDS);
            lock(key, owner).unlock();
            return got && System.nanoTime() - since < WAIT * 500_000;
        }
    }
}
