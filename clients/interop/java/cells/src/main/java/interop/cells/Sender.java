package interop.cells;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Sends single requests whose reply does not come, at the word of clients/interop/resend. */
public final class Sender {
    /** How long a client waits for a reply, in ms. */
    public static final int PATIENCE = 1_000;

    public static final int LEASE = 30_000;

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final String client;

    /** Sends SET key NX PX with a client that it opens and closes, and reports whether the key was set. */
    public interface Request {
        boolean send(String host, int port, String key) throws Exception;
    }

    public Sender(String client) {
        this.client = client;
        System.setOut(System.err);
    }

    /** The setting is the one after which the client sends a request only once; empty for the defaults. */
    public Sender request(String setting, Request request) throws IOException {
        String[] address = Matrix.environment("REDIS_ADDR").split(":");
        for (String fault : List.of("lost", "late")) {
            say(setting, fault, "");
            String key = orders.readLine();
            String saw;
            try {
                saw = request.send(address[0], Integer.parseInt(address[1]), key) ? "OK" : "nil";
            } catch (Exception e) {
                saw = "error: " + e.getClass().getSimpleName() + ": " + e.getMessage();
            }
            say(setting, fault, saw);
        }
        return this;
    }

    private void say(String setting, String fault, String saw) {
        out.printf("{\"client\": %s, \"setting\": %s, \"fault\": \"%s\", \"saw\": %s}%n",
                quoted(client), quoted(setting), fault, quoted(saw));
    }

    private static String quoted(String text) {
        String plain = text.replaceAll("\\p{Cntrl}", " ").replace("\\", "\\\\").replace("\"", "\\\"");
        return '"' + plain + '"';
    }
}
