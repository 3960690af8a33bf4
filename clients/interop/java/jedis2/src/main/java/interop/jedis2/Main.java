package interop.jedis2;

import interop.cells.Matrix;
import interop.cells.Recipe;
import interop.cells.Wire;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** The Jedis of countless posts about locks: no handshake, a pool, SET with its options as words. */
public final class Main implements Wire {
    private final JedisPool pool;

    private Main() {
        JedisPoolConfig config = new JedisPoolConfig();
        config.setMaxTotal(20);
        config.setTestOnBorrow(true);
        String[] address = Matrix.environment("REDIS_ADDR").split(":");
        pool = new JedisPool(config, address[0], Integer.parseInt(address[1]));
        pool.getResource().close();
    }

    public static void main(String[] args) {
        Recipe.addTo(new Matrix<Main>("jedis " + Matrix.version(Jedis.class))).run(Main::new);
        System.exit(0);
    }

    @Override
    public boolean setIfAbsent(String key, String value, long millis) {
        try (Jedis jedis = pool.getResource()) {
            return "OK".equals(jedis.set(key, value, "NX", "PX", millis));
        }
    }

    @Override
    public String load(String script) {
        try (Jedis jedis = pool.getResource()) {
            return jedis.scriptLoad(script);
        }
    }

    @Override
    public Object evalsha(String sha, List<String> keys, List<String> args) {
        try (Jedis jedis = pool.getResource()) {
            return jedis.evalsha(sha, keys, args);
        }
    }

    @Override
    public Object eval(String script, List<String> keys, List<String> args) {
        try (Jedis jedis = pool.getResource()) {
            return jedis.eval(script, keys, args);
        }
    }

    @Override
    public Class<? extends RuntimeException> noScript() {
        return JedisNoScriptException.class;
    }

    @Override
    public boolean deleteIf(String key, String value, Runnable meanwhile) {
        try (Jedis jedis = pool.getResource()) {
            jedis.watch(key);
            if (!value.equals(jedis.get(key))) {
                jedis.unwatch();
                return false;
            }
            meanwhile.run();
            Transaction transaction = jedis.multi();
            transaction.del(key);
            return !transaction.exec().isEmpty();
        }
    }

    @Override
    public AutoCloseable subscribe(String channel, Runnable onMessage) throws Exception {
        CountDownLatch confirmed = new CountDownLatch(1);
        JedisPubSub subscriber = new JedisPubSub() {
            @Override
            public void onSubscribe(String name, int count) {
                confirmed.countDown();
            }

            @Override
            public void onMessage(String name, String message) {
                onMessage.run();
            }
        };
        Thread reader = new Thread(() -> {
            try (Jedis jedis = pool.getResource()) {
                jedis.subscribe(subscriber, channel);
            }
        });
        reader.setDaemon(true);
        reader.start();
        if (!confirmed.await(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the subscription was not confirmed");
        }
        return subscriber::unsubscribe;
    }
}
