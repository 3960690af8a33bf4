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

    /**
     * Deletes the key if it has this value, by WATCH, GET, MULTI, DEL and EXEC. The other action runs between GET and
     * MULTI: if it changes the key, nothing is deleted.
     */
    boolean deleteIf(String key, String value, Runnable meanwhile);

    /** Returns when the server has confirmed the subscription. */
    AutoCloseable subscribe(String channel, Runnable onMessage) throws Exception;
}
