package launchers.codemonstur;

import java.io.File;
import launchers.rows.Redis;
import launchers.rows.Row;
import redis.embedded.RedisServer;

/** embedded-redis, with the server of the first argument. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Row.launcher("embedded-redis (codemonstur)", RedisServer.class,
                "`executableProvider`: starts it, uses it, stops it", () -> work(args[0]));
    }

    static void work(String program) throws Exception {
        int port = Redis.freePort();
        RedisServer server = RedisServer.newRedisServer()
                .executableProvider(() -> new File(program))
                .port(port)
                .bind("127.0.0.1")
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
