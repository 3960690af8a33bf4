package interop.spring;

import interop.cells.LockScenarios;
import interop.cells.Matrix;
import io.lettuce.core.RedisClient;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** The locks that come with Spring, on the Lettuce that Spring Data Redis drives. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        String on = " (lettuce " + Matrix.version(RedisClient.class) + ")";
        String registry = "spring-integration-redis " + Matrix.version(RedisLockRegistry.class);
        LockScenarios.addTo(new Matrix<Registries>(registry + on))
                .cell("watchdog", Registries::watchdog)
                .run(() -> new Registries(factory(), RedisLockType.SPIN_LOCK));
        LockScenarios.addTo(new Matrix<Registries>(registry + " pub-sub" + on))
                .cell("watchdog", Registries::watchdog)
                .cell("wakeup", LockScenarios::wakeup)
                .run(() -> new Registries(factory(), RedisLockType.PUB_SUB_LOCK));
        ShedLock.addTo(new Matrix<ShedLock>("shedlock " + Matrix.version(SimpleLock.class) + on))
                .run(() -> new ShedLock(factory()));
        System.exit(0);
    }

    private static LettuceConnectionFactory factory() {
        String[] address = Matrix.environment("REDIS_ADDR").split(":");
        LettuceConnectionFactory factory = new LettuceConnectionFactory(address[0], Integer.parseInt(address[1]));
        factory.afterPropertiesSet();
        factory.start();
        factory.getConnection().close();
        return factory;
    }
}
