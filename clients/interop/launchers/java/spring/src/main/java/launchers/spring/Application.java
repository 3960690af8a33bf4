package launchers.spring;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.stereotype.Service;

/** An application that knows of Redis what spring.data.redis.url says. */
@SpringBootApplication
@EnableCaching
public class Application {
    /** Prices that take long to compute, so they are cached. */
    @Service
    static class Prices {
        final AtomicInteger computed = new AtomicInteger();

        @Cacheable("prices")
        public int of(String article) {
            return computed.incrementAndGet();
        }

        int computations() {
            return computed.get();
        }
    }

    @Bean
    BlockingQueue<String> messages() {
        return new LinkedBlockingQueue<>();
    }

    @Bean
    RedisMessageListenerContainer listener(RedisConnectionFactory factory, BlockingQueue<String> messages) {
        var container = new RedisMessageListenerContainer();
        container.setConnectionFactory(factory);
        container.addMessageListener((message, pattern) -> messages.add(message.toString()), new ChannelTopic("news"));
        return container;
    }
}
