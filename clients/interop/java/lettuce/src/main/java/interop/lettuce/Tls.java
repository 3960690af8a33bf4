package interop.lettuce;

import interop.cells.Matrix;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.sync.RedisCommands;

/** A lock over TLS. */
public final class Tls {
    private Tls() {
    }

    public static void main(String[] args) throws Exception {
        interop.cells.Tls.run("lettuce " + Matrix.version(RedisClient.class), Tls::open);
    }

    private static interop.cells.Tls.Client open(interop.cells.Tls tls) {
        RedisURI uri = RedisURI.builder().withHost(tls.host).withPort(tls.port).withSsl(true).build();
        RedisClient client = RedisClient.create(uri);
        char[] password = interop.cells.Tls.PASSWORD.toCharArray();
        SslOptions ssl = SslOptions.builder()
                .jdkSslProvider()
                .keyStoreType("PKCS12")
                .truststore(tls.trusted.toFile(), interop.cells.Tls.PASSWORD)
                .keystore(tls.own.toFile(), password)
                .build();
        client.setOptions(ClientOptions.builder().sslOptions(ssl).build());
        RedisCommands<String, String> commands = client.connect().sync();
        return new interop.cells.Tls.Client() {
            @Override
            public boolean tryLock(String key, String token) {
                return "OK".equals(commands.set(key, token, SetArgs.Builder.nx().px(interop.cells.Tls.LEASE)));
            }

            @Override
            public void unlock(String key, String token) {
                String[] keys = {key};
                commands.eval(interop.cells.Tls.UNLOCK, ScriptOutputType.INTEGER, keys, token);
            }
        };
    }
}
