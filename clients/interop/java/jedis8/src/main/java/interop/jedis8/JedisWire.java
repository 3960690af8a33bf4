package interop.jedis8;

import interop.cells.Matrix;
import interop.cells.Wire;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.params.SetParams;

final class JedisWire implements Wire, AutoCloseable {
    final RedisClient client;

    /** Without a protocol the client and the server agree on one. */
    JedisWire(String name, RedisProtocol protocol) {
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder().clientName(name);
        if (protocol != null) {
            config.protocol(protocol);
        }
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(20);
        pool.setTestOnBorrow(true);
        client = RedisClient.builder()
                .hostAndPort(HostAndPort.from(Matrix.environment("REDIS_ADDR")))
                .clientConfig(config.build())
                .poolConfig(pool)
                .build();
        client.ping();
    }

    @Override
    public boolean setIfAbsent(String key, String value, long millis) {
        return "OK".equals(client.set(key, value, SetParams.setParams().nx().px(millis)));
    }

    @Override
    public String load(String script) {
        return client.scriptLoad(script);
    }

    @Override
    public Object evalsha(String sha, List<String> keys, List<String> args) {
        return client.evalsha(sha, keys, args);
    }

    @Override
    public Object eval(String script, List<String> keys, List<String> args) {
        return client.eval(script, keys, args);
    }

    @Override
    public Class<? extends RuntimeException> noScript() {
        return JedisNoScriptException.class;
    }

    @Override
    public boolean deleteIf(String key, String value, Runnable meanwhile) {
        try (AbstractTransaction transaction = client.transaction(false)) {
            transaction.watch(key);
            if (!value.equals(client.get(key))) {
                return false;
            }
            meanwhile.run();
            transaction.multi();
            transaction.del(key);
            return transaction.exec() != null;
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
        Thread reader = new Thread(() -> client.subscribe(subscriber, channel));
        reader.setDaemon(true);
        reader.start();
        if (!confirmed.await(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the subscription was not confirmed");
        }
        return subscriber::unsubscribe;
    }

    @Override
    public void close() {
        client.close();
    }
}
