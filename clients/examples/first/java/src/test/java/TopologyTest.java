// A lock behind Sentinel and in a cluster: JUnit, Jedis. Run them with `mvn test`.

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.miniredisd.junit.Master;
import io.github.miniredisd.junit.MiniRedisd;
import io.github.miniredisd.junit.Sentinel;
import io.github.miniredisd.junit.SlotStep;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.SetParams;

class TopologyTest {
    @RegisterExtension
    static MiniRedisd servers = MiniRedisd.builder().replicas(2).sentinels(3).build();

    @RegisterExtension
    static MiniRedisd cluster = MiniRedisd.builder().cluster().replicas(1).build();

    /** The code under test: a lock with a token of its own for each holder. */
    record Lock(UnifiedJedis client, String token) {
        static final String COMPARE_AND_DELETE =
                "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

        boolean acquire() {
            return client.set("lock:order", token, new SetParams().nx().px(3_600_000)) != null;
        }

        boolean release() {
            return client.eval(COMPARE_AND_DELETE, List.of("lock:order"), List.of(token)).equals(1L);
        }
    }

    @Test
    void theOwnerReleasesItsLockAfterAFailover() {
        Set<HostAndPort> sentinels =
                servers.sentinels().stream().map(Sentinel::address).map(HostAndPort::from).collect(Collectors.toSet());
        try (UnifiedJedis client =
                RedisSentinelClient.builder().masterName("mymaster").sentinels(sentinels).build()) {
            Lock lock = new Lock(client, "token-1");
            assertTrue(lock.acquire());
            assertEquals(2, servers.awaitReplicas()); // without this line the failover may lose the lock

            servers.master(1).crash(true, Duration.ofHours(2));
            servers.clock().advance(Duration.ofMinutes(1)); // the Sentinels promote a replica
            assertNotEquals(servers.port(), servers.sentinels().get(0).master().port());

            assertFalse(acquireWhenFound(new Lock(client, "token-2")));
            assertTrue(lock.release());
        }
    }

    /** Jedis hears of the new master a moment later, from the Sentinels. */
    private static boolean acquireWhenFound(Lock lock) {
        while (true) {
            try {
                return lock.acquire();
            } catch (JedisConnectionException stillTheOldMaster) {
                Thread.yield();
            }
        }
    }

    @Test
    void theOwnerReleasesItsLockWhileItsSlotMoves() {
        try (UnifiedJedis client = RedisClusterClient.create(new HostAndPort("127.0.0.1", cluster.port()))) {
            Lock lock = new Lock(client, "token-1");
            Lock other = new Lock(client, "token-2");
            assertTrue(lock.acquire());

            Master to = cluster.master(cluster.owner("lock:order").port() == cluster.port() ? 2 : 1);
            cluster.moveSlot("lock:order", to, SlotStep.KEYS); // the old node replies ASK
            assertFalse(other.acquire());
            assertTrue(lock.release());
            cluster.moveSlot("lock:order", to, SlotStep.NODE); // and now MOVED
            assertTrue(other.acquire());
        }
    }
}
