package interop.redisson4;

import interop.redisson.InTopology;
import java.util.concurrent.Callable;
import org.redisson.api.RedissonClient;

/** A lock in a cluster or through Sentinel. */
public final class Topology {
    private Topology() {
    }

    public static void main(String[] args) {
        InTopology.run(!args[0].isEmpty(), Sharded::new);
    }

    private record Sharded(RedissonClient client, interop.cells.Topology.Client locks)
            implements interop.cells.Topology.ShardClient {
        @Override
        public void set(String key, String value) {
            locks.set(key, value);
        }

        @Override
        public String get(String key) {
            return locks.get(key);
        }

        @Override
        public boolean tryLock(String key, String owner) throws Exception {
            return locks.tryLock(key, owner);
        }

        @Override
        public void unlock(String key, String owner) throws Exception {
            locks.unlock(key, owner);
        }

        @Override
        public boolean isWoken(String key, String owner, Callable<?> unlock) throws Exception {
            return locks.isWoken(key, owner, unlock);
        }

        @Override
        public void listen(String shardChannel, Runnable heard) {
            client.getShardedTopic(shardChannel).addListener(String.class, (channel, message) -> heard.run());
        }

        @Override
        public void publish(String shardChannel, String message) {
            client.getShardedTopic(shardChannel).publish(message);
        }
    }
}
