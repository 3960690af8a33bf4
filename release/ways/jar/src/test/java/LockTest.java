import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.miniredisd.junit.MiniRedisd;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

class LockTest {
    @RegisterExtension
    static MiniRedisd redis = MiniRedisd.create();

    @Test
    void theLockIsFreeWhenItsLeaseIsOver() {
        try (Jedis client = new Jedis(redis.url())) {
            client.set("lock:order", "token-1", SetParams.setParams().nx().px(30_000));
            redis.clock().advance(Duration.ofMillis(30_001));
            assertEquals("OK", client.set("lock:order", "token-2", SetParams.setParams().nx().px(30_000)));
        }
        redis.assertOneHolder("lock:*");
    }
}
