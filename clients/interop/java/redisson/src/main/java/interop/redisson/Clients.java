package interop.redisson;

import interop.cells.Cell;
import interop.cells.LockScenarios;
import interop.cells.Matrix;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson clients as processes of their own would have them: two at the server, and two at each master. */
public final class Clients implements LockScenarios.Client {
    /** Renewals come at a third of it: a machine that stops for less than a second loses nothing. */
    public static final long SHORT_WATCHDOG = 1_500;

    public final RedissonClient mine = connect(Matrix.environment("REDIS_ADDR"), 24);
    public final RedissonClient theirs = connect(Matrix.environment("REDIS_ADDR"), 24);
    public final RedissonClient watched;
    public final List<RedissonClient> myMasters = new ArrayList<>();
    public final List<RedissonClient> theirMasters = new ArrayList<>();

    public Clients() {
        Config config = config(Matrix.environment("REDIS_ADDR"), 1);
        watched = Redisson.create(config.setLockWatchdogTimeout(SHORT_WATCHDOG));
        for (String master : Matrix.environment("REDIS_MASTERS").split(",")) {
            myMasters.add(connect(master, 1));
            theirMasters.add(connect(master, 1));
        }
    }

    private static RedissonClient connect(String address, int idle) {
        return Redisson.create(config(address, idle));
    }

    public static Config config(String address, int idle) {
        Config config = new Config();
        // Without it the old version sends the source each time, and there would be no script to lose.
        config.setUseScriptCache(true).setThreads(4).setNettyThreads(4);
        config.useSingleServer().setAddress("redis://" + address).setConnectionMinimumIdleSize(idle);
        return config;
    }

    @Override
    public Lock mine(String name) {
        return mine.getLock(name);
    }

    @Override
    public Lock theirs(String name) {
        return theirs.getLock(name);
    }

    @Override
    public void take(String name, long lease) {
        mine.getLock(name).lock(lease, TimeUnit.MILLISECONDS);
    }

    @Override
    public boolean outlast(Lock theirs) throws InterruptedException {
        return theirs.tryLock(Cell.SOON, TimeUnit.MILLISECONDS);
    }

    @Override
    public String key(String name) {
        return name;
    }
}
