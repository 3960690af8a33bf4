// The first tests of a lock with a lab: JUnit, Jedis. Run them with `mvn test`.

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.miniredisd.junit.Hold;
import io.github.miniredisd.junit.MiniRedisd;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.SetParams;

class LockTest {
    @RegisterExtension
    static MiniRedisd redis = MiniRedisd.create();

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

    @Test
    void aLostReplyLeavesALockBehind() {
        redis.fault("lost").command("SET").key("lock:*").nth(1).dropReply();

        assertThrows(JedisConnectionException.class, () -> new Lock(redis.port(), "token-1").acquire());
        assertFalse(new Lock(redis.port(), "token-2").acquire()); // the first SET took the lock all the same
        assertEquals(1, redis.clock().advance(Duration.ofMillis(30_001))); // one key expired: the lock of nobody
        assertTrue(new Lock(redis.port(), "token-2").acquire());
    }

    @Test
    void aLateReleaseDoesNotFreeTheNextLock() {
        Lock slow = new Lock(redis.port(), "token-1");
        Lock next = new Lock(redis.port(), "token-2");
        assertTrue(slow.acquire());
        Hold pause = redis.fault("pause").command("EVAL").times(1).hold();

        CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(slow::release);
        pause.await(); // the release has reached the server
        redis.clock().advance(Duration.ofMillis(30_001)); // its lease ends
        assertTrue(next.acquire());
        pause.release(); // only now does the server execute the release

        assertFalse(released.join());
        assertTrue(next.release());
        redis.assertOneHolder("lock:*");
    }
}
