package launchers.spring;

import static launchers.rows.Row.check;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import launchers.rows.Row;
import launchers.rows.Server;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.cache.RedisCache;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.data.redis.RedisSessionRepository;

/** Spring Boot, with the server of the first argument. */
public final class Main {
    private static final Duration CACHED = Duration.ofMillis(200);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ConfigurableApplicationContext spring;

    private Main(ConfigurableApplicationContext spring) {
        this.spring = spring;
    }

    public static void main(String[] args) throws Exception {
        try (Server server = new Server(args[0]);
                ConfigurableApplicationContext spring = SpringApplication.run(Application.class,
                        "--spring.data.redis.url=redis://127.0.0.1:" + server.port,
                        "--spring.cache.type=redis", "--spring.cache.redis.time-to-live=" + CACHED.toMillis() + "ms",
                        "--spring.main.banner-mode=off", "--logging.level.root=off")) {
            Main main = new Main(spring);
            Row.application("Spring Boot", SpringApplication.class,
                    "`spring.data.redis.url`: values, a hash, a transaction and a pipeline", main::templates);
            Row.application("Spring Cache", RedisCache.class,
                    "`@Cacheable`: an entry is cached, and expires", main::cache);
            Row.application("Spring Data Redis", RedisTemplate.class,
                    "`RedisMessageListenerContainer`: a message of a channel arrives", main::listener);
            Row.application("Spring Integration", RedisLockRegistry.class,
                    "`RedisLockRegistry`: one of two processes takes the lock", main::lock);
            Row.application("Spring Session", RedisSessionRepository.class,
                    "`RedisSessionRepository`: a session is saved, found, changed and deleted", main::session);
            Row.application("ShedLock", LockingTaskExecutor.class,
                    "`LockingTaskExecutor`: a job runs once in two processes", main::job);
        }
    }

    private void templates() {
        StringRedisTemplate redis = spring.getBean(StringRedisTemplate.class);
        redis.opsForValue().set("user:1", "Ada", Duration.ofMinutes(1));
        check("Ada".equals(redis.opsForValue().get("user:1")), "GET");
        check(redis.getExpire("user:1") > 0, "TTL");
        redis.opsForHash().putAll("order:1", Map.of("article", "tea", "amount", "2"));
        check("tea".equals(redis.opsForHash().get("order:1", "article")), "HGET");
        List<Object> counted = redis.executePipelined((RedisConnection c) -> {
            c.stringCommands().incr("n".getBytes());
            c.stringCommands().incr("n".getBytes());
            return null;
        });
        check(counted.equals(List.of(1L, 2L)), "a pipeline replied " + counted);
        check(redis.execute(new Transaction()).equals(List.of(1L, "a")), "a transaction");
    }

    /** Two commands in MULTI and EXEC. */
    private static final class Transaction implements SessionCallback<List<Object>> {
        @Override
        @SuppressWarnings("unchecked") // the template of strings calls it
        public <K, V> List<Object> execute(RedisOperations<K, V> any) {
            var redis = (RedisOperations<String, String>) any;
            redis.multi();
            redis.opsForList().rightPush("list", "a");
            redis.opsForList().leftPop("list");
            return redis.exec();
        }
    }

    private void cache() {
        Application.Prices prices = spring.getBean(Application.Prices.class);
        check(prices.of("tea") == 1 && prices.of("tea") == 1, "the second call was computed again");
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (prices.of("tea") == 1) {
            check(System.nanoTime() < end, "the entry does not expire");
        }
        check(prices.computations() == 2, "computed " + prices.computations() + " times");
    }

    private void listener() throws InterruptedException {
        spring.getBean(StringRedisTemplate.class).convertAndSend("news", "hello");
        BlockingQueue<String> messages = messages();
        check("hello".equals(messages.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)), "the message did not arrive");
    }

    @SuppressWarnings("unchecked")
    private BlockingQueue<String> messages() {
        return spring.getBean(BlockingQueue.class);
    }

    private void lock() {
        RedisConnectionFactory factory = spring.getBean(RedisConnectionFactory.class);
        RedisLockRegistry one = new RedisLockRegistry(factory, "locks");
        RedisLockRegistry other = new RedisLockRegistry(factory, "locks");
        Lock mine = one.obtain("order");
        Lock theirs = other.obtain("order");
        check(mine.tryLock(), "the lock is not free");
        check(!theirs.tryLock(), "two processes have the lock");
        mine.unlock();
        check(theirs.tryLock(), "the lock is not free after its release");
        theirs.unlock();
        one.destroy();
        other.destroy();
    }

    private void session() {
        RedisTemplate<String, Object> redis = new RedisTemplate<>();
        redis.setConnectionFactory(spring.getBean(RedisConnectionFactory.class));
        redis.setKeySerializer(RedisSerializer.string());
        redis.setHashKeySerializer(RedisSerializer.string());
        redis.afterPropertiesSet();
        store(new RedisSessionRepository(redis));
    }

    private static <S extends Session> void store(SessionRepository<S> sessions) {
        S session = sessions.createSession();
        session.setAttribute("user", "Ada");
        sessions.save(session);
        S found = sessions.findById(session.getId());
        check("Ada".equals(found.getAttribute("user")), "the session is not found");
        found.setAttribute("user", "Grace");
        sessions.save(found);
        check("Grace".equals(sessions.findById(session.getId()).getAttribute("user")), "the session did not change");
        sessions.deleteById(session.getId());
        check(sessions.findById(session.getId()) == null, "the session is not deleted");
    }

    private void job() throws InterruptedException {
        var factory = spring.getBean(RedisConnectionFactory.class);
        LockingTaskExecutor executor = new DefaultLockingTaskExecutor(new RedisLockProvider(factory));
        var lock = new LockConfiguration(Instant.now(), "report", Duration.ofMinutes(1), Duration.ofMinutes(1));
        AtomicInteger runs = new AtomicInteger();
        executor.executeWithLock((Runnable) runs::incrementAndGet, lock);
        executor.executeWithLock((Runnable) runs::incrementAndGet, lock);
        check(runs.get() == 1, "the job ran " + runs + " times");
    }
}
