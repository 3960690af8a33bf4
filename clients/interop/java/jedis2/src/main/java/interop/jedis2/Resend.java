package interop.jedis2;

import interop.cells.Matrix;
import interop.cells.Sender;
import java.io.IOException;
import redis.clients.jedis.Jedis;

/** Single requests whose reply does not come. */
public final class Resend {
    private Resend() {
    }

    public static void main(String[] args) throws IOException {
        new Sender("jedis " + Matrix.version(Jedis.class)).request("", Resend::set);
    }

    private static boolean set(String host, int port, String key) {
        try (Jedis jedis = new Jedis(host, port, Sender.PATIENCE)) {
            return "OK".equals(jedis.set(key, "token", "NX", "PX", (long) Sender.LEASE));
        }
    }
}
