package interop.spring;

import interop.cells.Explore;
import interop.cells.Matrix;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** RedisLockRegistry in both modes, and ShedLock, for explore. */
public final class Explored {
    private Explored() {
    }

    public static void main(String[] args) throws Exception {
        String on = " (lettuce " + Matrix.version(RedisClient.class) + ")";
        String registry = Matrix.version(RedisLockRegistry.class) + on;
        String shedlock = Matrix.version(SimpleLock.class) + on;
        String atMost = "lockAtMostFor " + Explore.LEASE + " ms";
        String timeout = "commandTimeout(" + Explore.SILENCE + " ms)";
        String made = "new RedisLockRegistry(factory, prefix, " + Explore.LEASE + " ms)";
        new Explore()
                .client("spring-integration", registry,
                        (host, port, name) -> new Registry(host, port, name, RedisLockType.SPIN_LOCK), timeout, made)
                .wakingClient("spring-integration-pub-sub", registry,
                        (host, port, name) -> new Registry(host, port, name, RedisLockType.PUB_SUB_LOCK), timeout, made,
                        "setRedisLockType(PUB_SUB_LOCK)")
                .client("shedlock", shedlock, (host, port, name) -> new Shed(host, port, name, false), timeout,
                        "new RedisLockProvider.Builder(factory).build()", atMost)
                .client("shedlock-safe-update", shedlock, (host, port, name) -> new Shed(host, port, name, true), timeout,
                        "new RedisLockProvider.Builder(factory).safeUpdate(true).build()", atMost)
                .run(args);
    }

    private static LettuceConnectionFactory factory(String host, int port, String name) {
        LettuceClientConfiguration client = LettuceClientConfiguration.builder()
                .clientName(name)
                .commandTimeout(Duration.ofMillis(Explore.SILENCE))
                .shutdownTimeout(Duration.ZERO)
                .build();
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(host, port), client);
        factory.afterPropertiesSet();
        factory.start();
        factory.getConnection().close();
        return factory;
    }

    private static final class Registry implements Explore.Worker {
        private final LettuceConnectionFactory factory;
        private final RedisLockRegistry registry;
        private final Lock lock;

        Registry(String host, int port, String name, RedisLockType type) {
            factory = factory(host, port, name);
            registry = new RedisLockRegistry(factory, "lock", Duration.ofMillis(Explore.LEASE));
            registry.setRedisLockType(type);
            lock = registry.obtain("o");
        }

        @Override
        public boolean look() {
            return lock.tryLock();
        }

        @Override
        public boolean take() throws InterruptedException {
            return lock.tryLock(Explore.WAIT, TimeUnit.MILLISECONDS);
        }

        @Override
        public void release() {
            lock.unlock();
        }

        @Override
        public void close() {
            registry.destroy();
            factory.destroy();
        }
    }

    /** Locks of scheduled tasks: an attempt that fails does not wait. */
    private static final class Shed implements Explore.Worker {
        private final LettuceConnectionFactory factory;
        private final RedisLockProvider locks;
        private SimpleLock lock;

        Shed(String host, int port, String name, boolean safe) {
            factory = factory(host, port, name);
            locks = new RedisLockProvider.Builder(factory).safeUpdate(safe).build();
        }

        @Override
        public boolean look() {
            Duration most = Duration.ofMillis(Explore.LEASE);
            lock = locks.lock(new LockConfiguration(Instant.now(), "o", most, Duration.ZERO)).orElse(null);
            return lock != null;
        }

        @Override
        public boolean take() throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Explore.WAIT);
            while (!look()) {
                if (System.nanoTime() > end) {
                    return false;
                }
                Thread.sleep(100);
            }
            return true;
        }

        @Override
        public void release() {
            lock.unlock();
        }

        @Override
        public void close() {
            factory.destroy();
        }
    }
}
