package interop.jedis2;

import interop.cells.Matrix;
import redis.clients.jedis.Jedis;

/** A lock over TLS. */
public final class Tls {
    private Tls() {
    }

    public static void main(String[] args) throws Exception {
        interop.cells.Tls.run("jedis " + Matrix.version(Jedis.class), Tls::open);
    }

    private static interop.cells.Tls.Client open(interop.cells.Tls tls) throws Exception {
        Jedis jedis = new Jedis(tls.host, tls.port, true, tls.context().getSocketFactory(), null, null);
        return new interop.cells.Tls.Client() {
            @Override
            public boolean tryLock(String key, String token) {
                return "OK".equals(jedis.set(key, token, "NX", "PX", (long) interop.cells.Tls.LEASE));
            }

            @Override
            public void unlock(String key, String token) {
                jedis.eval(interop.cells.Tls.UNLOCK, 1, key, token);
            }
        };
    }
}
