package interop.cells;

import java.util.List;

/** What a lock written by hand needs of a client that brings commands and no locks. All threads share one. */
public interface Wire {
    /** SET NX PX. */
    boolean setIfAbsent(String key, String value, long millis);

    String load(String script);

    Object evalsha(String sha, List<String> keys, List<String> args);

    Object eval(String script, List<String> keys, List<String> args);

    /** The client's own class for NOSCRIPT, by which programs recognise it. */
    Class<? extends RuntimeException> noScript();

    /** Returns when the server has confirmed the subscription. */
    AutoCloseable subscribe(String channel, Runnable onMessage) throws Exception;
}
