package launchers.ozimov;

import launchers.rows.Redis;
import launchers.rows.Row;
import redis.embedded.RedisExecProvider;
import redis.embedded.RedisServer;
import redis.embedded.util.OS;

/** embedded-redis, with the server of the first argument. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Row.launcher("embedded-redis (ozimov)", RedisServer.class,
                "`RedisExecProvider.override`: starts it, uses it, stops it", () -> work(args[0]));
    }

    static void work(String program) throws Exception {
        int port = Redis.freePort();
        RedisServer server = RedisServer.builder()
                .redisExecProvider(RedisExecProvider.defaultProvider().override(OS.UNIX, program))
                .port(port)
                .setting("bind 127.0.0.1")
                .setting("maxmemory 128M")
                .build();
        server.start();
        try {
            Redis.checkStarted(port);
        } finally {
            server.stop();
        }
        Redis.checkStopped(port);
    }
}
