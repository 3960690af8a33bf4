// The first tests of a lock with a lab: JUnit, Jedis. Run them with `mvn test`.

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.SetParams;

class LockTest {
    static Process server;
    static int port;
    Jedis control;

    /** The code under test: a lock with a token of its own for each holder. */
    record Lock(int port, String token) {
        static final String COMPARE_AND_DELETE =
                "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

        boolean acquire() {
            try (Jedis client = new Jedis("127.0.0.1", port)) {
                return client.set("lock:order", token, new SetParams().nx().px(30000)) != null;
            }
        }

        boolean release() {
            try (Jedis client = new Jedis("127.0.0.1", port, 10_000)) {
                return client.eval(COMPARE_AND_DELETE, List.of("lock:order"), List.of(token)).equals(1L);
            }
        }
    }

    /** One server runs for all tests, on a free port. */
    @BeforeAll
    static void start(@TempDir Path folder) throws IOException {
        String program = Objects.requireNonNullElse(System.getenv("MINIREDISD"), "miniredisd");
        server = new ProcessBuilder(program, "--lab", "yes", "--port", "0", "--port-file", "port")
                .directory(folder.toFile())
                .start();
        BufferedReader log = server.inputReader();
        while (!log.readLine().contains("Ready to accept connections")) {}
        port = Integer.parseInt(Files.readString(folder.resolve("port")).strip());
    }

    @AfterAll
    static void stop() throws InterruptedException {
        server.destroy();
        server.waitFor();
    }

    /** LAB goes over a connection of its own. Each test begins without rules and keys, and the clock stands still. */
    @BeforeEach
    void reset() {
        control = new Jedis("127.0.0.1", port, 10_000);
        lab("RESET AT 1700000000000");
        control.flushAll();
    }

    @AfterEach
    void close() {
        control.close();
    }

    Object lab(String words) {
        return control.sendCommand(() -> "LAB".getBytes(), words.split(" "));
    }

    @Test
    void aLostReplyLeavesALockBehind() {
        lab("FAULT ADD lost CMD SET KEY lock:* NTH 1 ACTION DROP-REPLY");

        assertThrows(JedisConnectionException.class, () -> new Lock(port, "token-1").acquire());
        assertFalse(new Lock(port, "token-2").acquire()); // the first SET took the lock all the same
        assertEquals(1L, lab("CLOCK ADVANCE 30001")); // one key expired: the lock of nobody
        assertTrue(new Lock(port, "token-2").acquire());
    }

    @Test
    void aLateReleaseDoesNotFreeTheNextLock() {
        Lock slow = new Lock(port, "token-1");
        Lock next = new Lock(port, "token-2");
        assertTrue(slow.acquire());
        lab("FAULT ADD pause CMD EVAL TIMES 1 ACTION HOLD");

        CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(slow::release);
        assertNotNull(lab("HOLD WAIT pause 5000")); // the release has reached the server
        lab("CLOCK ADVANCE 30001"); // its lease ends
        assertTrue(next.acquire());
        lab("HOLD RELEASE pause"); // only now does the server execute the release

        assertFalse(released.join());
        assertTrue(next.release());
    }
}
