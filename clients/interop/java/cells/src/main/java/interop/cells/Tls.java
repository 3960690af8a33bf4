package interop.cells;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A lock over TLS with one client, for clients/interop/tls. The files in REDIS_TLS say whom to trust and who
 * the client is.
 */
public final class Tls {
    public static final String PASSWORD = "secret";
    public static final String UNLOCK =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    public static final int LEASE = 30_000;

    public final String host;
    public final int port;

    /** The same as the files in REDIS_TLS, as Java knows it: what to trust, and the client's own key. */
    public final Path trusted;

    public final Path own;

    /** What a client does. The first tryLock succeeds, the second one fails. */
    public interface Client {
        boolean tryLock(String key, String token) throws Exception;

        void unlock(String key, String token) throws Exception;
    }

    /** Opens a client. It need not be closed, because the process ends. */
    public interface Opening {
        Client open(Tls tls) throws Exception;
    }

    private Tls() throws Exception {
        String[] address = Matrix.environment("REDIS_ADDR").split(":");
        host = address[0];
        port = Integer.parseInt(address[1]);
        Path dir = Path.of(Matrix.environment("REDIS_TLS"));
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("ca", certificate(dir.resolve("ca.crt")));
        trusted = save(trust);
        KeyStore key = KeyStore.getInstance("PKCS12");
        key.load(null, null);
        Certificate[] chain = {certificate(dir.resolve("client.crt"))};
        key.setKeyEntry("client", key(dir.resolve("client.key")), PASSWORD.toCharArray(), chain);
        own = save(key);
    }

    /** Plays the scenario, prints a line of JSON and ends the process. */
    public static void run(String client, Opening opening) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        String saw;
        try {
            saw = play(opening.open(new Tls()), "tls:" + client);
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            saw = "error: " + e;
        }
        String plain = saw.replaceAll("\\p{Cntrl}", " ").replace("\\", "\\\\").replace("\"", "\\\"");
        out.printf("{\"client\": \"%s\", \"saw\": \"%s\"}%n", client, plain);
        System.exit(0);
    }

    private static String play(Client client, String key) throws Exception {
        if (!client.tryLock(key, "one")) {
            return "error: the lock is taken";
        }
        Thread[] other = new Thread[1];
        boolean[] second = new boolean[1];
        other[0] = new Thread(() -> { // a lock of Redisson belongs to its thread
            try {
                second[0] = client.tryLock(key, "two");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        other[0].start();
        other[0].join();
        if (second[0]) {
            return "error: a second owner gets the lock";
        }
        client.unlock(key, "one");
        return client.tryLock(key, "three") ? "ok" : "error: the lock is still there";
    }

    public SSLContext context() throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(own), PASSWORD.toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(load(trusted));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static KeyStore load(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private static Path save(KeyStore store) throws Exception {
        Path file = Files.createTempFile("tls", ".p12");
        file.toFile().deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
        return file;
    }

    private static Certificate certificate(Path file) throws Exception {
        try (InputStream in = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
    }

    private static PrivateKey key(Path file) throws Exception {
        String base64 = Files.readString(file).replaceAll("-----.*-----", "").replaceAll("\\s", "");
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64));
        return KeyFactory.getInstance("EC").generatePrivate(spec);
    }
}
