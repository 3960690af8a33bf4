package interop.jedis8;

import interop.cells.Cell;
import interop.cells.Compare;
import interop.cells.Matrix;
import interop.cells.Recipe;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisProtocol;

/** The current Jedis, with the protocol it negotiates by itself, and with either of them asked for. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        Matrix<JedisWire> matrix = Recipe.addTo(new Matrix<>("jedis " + Matrix.version(Jedis.class)));
        Compare.addTo(matrix, "redis", wire -> new JedisCompare(wire.client))
                .cell("resp2", (client, cell) -> protocol(RedisProtocol.RESP2, 2, cell))
                .cell("resp3", (client, cell) -> protocol(RedisProtocol.RESP3, 3, cell))
                .run(() -> new JedisWire("interop-jedis", null));
        System.exit(0);
    }

    private static void protocol(RedisProtocol protocol, int version, Cell cell) throws Exception {
        String name = "interop-jedis-" + protocol;
        try (JedisWire wire = new JedisWire(name, protocol)) {
            cell.speaks(name, version);
            Recipe.once(wire, cell);
        }
    }
}
