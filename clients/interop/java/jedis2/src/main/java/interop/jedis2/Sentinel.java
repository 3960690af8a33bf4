package interop.jedis2;

import interop.cells.Matrix;
import java.util.Set;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSentinelPool;

/** A lock through Sentinel. */
public final class Sentinel {
    private Sentinel() {
    }

    public static void main(String[] args) throws Exception {
        interop.cells.Sentinel.run("jedis " + Matrix.version(Jedis.class), Sentinel::open);
    }

    private static interop.cells.Sentinel.Client open(interop.cells.Sentinel sentinel) {
        JedisSentinelPool pool = new JedisSentinelPool(sentinel.master, Set.copyOf(sentinel.sentinels),
                new GenericObjectPoolConfig(), interop.cells.Sentinel.PATIENCE);
        return new interop.cells.Sentinel.Client() {
            @Override
            public boolean tryLock(String key, String token) {
                try (Jedis jedis = pool.getResource()) {
                    return "OK".equals(jedis.set(key, token, "NX", "PX", (long) interop.cells.Sentinel.LEASE));
                }
            }

            @Override
            public void unlock(String key, String token) {
                try (Jedis jedis = pool.getResource()) {
                    jedis.eval(interop.cells.Sentinel.UNLOCK, 1, key, token);
                }
            }
        };
    }
}
