package interop.valkey;

import static interop.cells.Cell.LONG_LEASE;

import interop.cells.Compare;
import interop.cells.Matrix;
import io.valkey.HostAndPort;
import io.valkey.JedisPooled;
import io.valkey.Protocol;
import io.valkey.commands.ProtocolCommand;
import io.valkey.params.HSetExParams;
import io.valkey.params.SetParams;
import io.valkey.util.SafeEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * valkey-java, a fork of Jedis. Its setIfeq takes no expiry, so that a renewal would lose the lease, and it has no MSETEX
 * yet. Its users send these with sendCommand.
 */
record Main(JedisPooled client) implements Compare {
    private static final ProtocolCommand MSETEX = () -> SafeEncoder.encode("MSETEX");

    public static void main(String[] args) {
        Compare.addTo(new Matrix<Main>("valkey-java " + Matrix.version(JedisPooled.class)), "valkey", client -> client)
                .run(() -> new Main(new JedisPooled(HostAndPort.from(Matrix.environment("REDIS_ADDR")))));
        System.exit(0);
    }

    @Override
    public boolean take(String key, String token) {
        return "OK".equals(client.set(key, token, SetParams.setParams().nx().px(LONG_LEASE)));
    }

    @Override
    public boolean renew(String key, String token) {
        String lease = Long.toString(LONG_LEASE);
        return client.sendCommand(Protocol.Command.SET, key, token, "IFEQ", token, "PX", lease) != null;
    }

    @Override
    public boolean release(String key, String token) {
        return client.delIfeq(key, token);
    }

    @Override
    public boolean several(Map<String, String> tokens) {
        List<String> words = new ArrayList<>(List.of(Integer.toString(tokens.size())));
        tokens.forEach((key, token) -> words.addAll(List.of(key, token)));
        words.addAll(List.of("NX", "PX", Long.toString(LONG_LEASE)));
        return (Long) client.sendCommand(MSETEX, words.toArray(String[]::new)) == 1;
    }

    @Override
    public boolean enter(String key, String holder) {
        return client.hsetex(key, HSetExParams.hSetExParams().fnx().px(LONG_LEASE), holder, "1") == 1;
    }
}
