package interop.redisson;

import interop.cells.Matrix;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Two owners of one RedLock, who take and release it at the word of clients/interop/redlock: a line for each order. */
public final class Holders {
    /** How long a master that does not answer is waited for; RedLock asks one after the other. */
    private static final int PATIENCE = 500;

    /** RedLock gives each of five masters a fifth of it. */
    private static final long WAIT = 1_500;

    private final Map<String, RLock> locks = new HashMap<>();
    private final List<RedissonClient> clients = new ArrayList<>();
    private long lease;

    private Holders() {
    }

    public static void main(String[] args) throws IOException {
        PrintStream out = System.out;
        System.setOut(System.err);
        out.println("redisson " + Matrix.version(Redisson.class));
        Holders holders = new Holders();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = in.readLine(); order != null; order = in.readLine()) {
            out.println(holders.answer(order));
        }
        System.exit(0);
    }

    private String answer(String order) {
        try {
            return obey(order.split(" "));
        } catch (Exception e) {
            e.printStackTrace();
            return "failed " + e.toString().replace('\n', ' ');
        }
    }

    private String obey(String[] order) throws Exception {
        switch (order[0]) {
            case "open":
                open(order[1].split(","), order[2], Long.parseLong(order[3]));
                return "ok";
            case "take":
                return locks.get(order[1]).tryLock(WAIT, lease, TimeUnit.MILLISECONDS)
                        ? "held"
                        : "refused tryLock returned false";
            case "release":
                locks.get(order[1]).unlock();
                return "released";
            case "close":
                close();
                return "ok";
            default:
                return "failed no such order: " + order[0];
        }
    }

    /** Connections are opened here, before anything goes wrong, as those of a running program are. */
    private void open(String[] masters, String key, long lease) {
        this.lease = lease;
        for (String name : List.of("a", "b")) {
            RLock[] parts = new RLock[masters.length];
            for (int i = 0; i < masters.length; i++) {
                RedissonClient client = Redisson.create(config(masters[i], name));
                clients.add(client);
                parts[i] = client.getLock(key);
            }
            locks.put(name, new RedissonRedLock(parts));
        }
    }

    private static Config config(String address, String name) {
        Config config = new Config();
        config.setThreads(1).setNettyThreads(1);
        config.useSingleServer().setAddress("redis://" + address).setClientName(name).setTimeout(PATIENCE)
                .setRetryAttempts(1).setRetryInterval(100).setConnectionMinimumIdleSize(1).setConnectionPoolSize(2)
                .setSubscriptionConnectionMinimumIdleSize(0);
        return config;
    }

    private void close() {
        clients.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        clients.clear();
        locks.clear();
    }
}
