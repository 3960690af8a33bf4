package interop.lettuce;

import interop.cells.Matrix;
import interop.cells.Wire;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;

final class LettuceWire implements Wire, AutoCloseable {
    final StatefulRedisConnection<String, String> connection;
    final RedisCommands<String, String> commands;
    private final RedisClient client;

    LettuceWire(String name, ProtocolVersion protocol) {
        RedisURI uri = RedisURI.create("redis://" + Matrix.environment("REDIS_ADDR"));
        uri.setClientName(name);
        client = RedisClient.create(uri);
        client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
        connection = client.connect();
        commands = connection.sync();
    }

    @Override
    public boolean setIfAbsent(String key, String value, long millis) {
        return "OK".equals(commands.set(key, value, SetArgs.Builder.nx().px(millis)));
    }

    @Override
    public String load(String script) {
        return commands.scriptLoad(script);
    }

    @Override
    public Object evalsha(String sha, List<String> keys, List<String> args) {
        return commands.<Long>evalsha(sha, ScriptOutputType.INTEGER, keys.toArray(String[]::new),
                args.toArray(String[]::new));
    }

    @Override
    public Object eval(String script, List<String> keys, List<String> args) {
        return commands.<Long>eval(script, ScriptOutputType.INTEGER, keys.toArray(String[]::new),
                args.toArray(String[]::new));
    }

    @Override
    public Class<? extends RuntimeException> noScript() {
        return RedisNoScriptException.class;
    }

    /** On a connection of its own: what watches and queues is the connection, and all threads share the other one. */
    @Override
    public boolean deleteIf(String key, String value, Runnable meanwhile) {
        try (StatefulRedisConnection<String, String> own = client.connect()) {
            own.sync().watch(key);
            if (!value.equals(own.sync().get(key))) {
                return false;
            }
            meanwhile.run();
            own.sync().multi();
            own.sync().del(key);
            return !own.sync().exec().wasDiscarded();
        }
    }

    @Override
    public AutoCloseable subscribe(String channel, Runnable onMessage) {
        StatefulRedisPubSubConnection<String, String> subscriber = client.connectPubSub();
        subscriber.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String name, String message) {
                onMessage.run();
            }
        });
        subscriber.sync().subscribe(channel);
        return () -> {
            subscriber.sync().unsubscribe(channel);
            subscriber.close();
        };
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
