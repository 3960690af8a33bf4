import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Lab 1: RESP by hand. Fill in parse and execute.
 *
 * <pre>
 * a request         *2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n
 * a simple string   +OK\r\n
 * an error          -ERR unknown command\r\n
 * a bulk string     $5\r\nhello\r\n
 * no value          $-1\r\n
 * </pre>
 *
 * Bytes are kept in a String with one char for each byte (ISO_8859_1), so no byte is lost.
 */
final class Main {
    /** A request, and how many bytes it took. */
    private static final class Request {
        final List<String> words;
        final int taken;

        Request(List<String> words, int taken) {
            this.words = words;
            this.taken = taken;
        }
    }

    /** Returns the first request in buffer, or null while it is not complete. */
    private static Request parse(String buffer) {
        // TODO
        return null;
    }

    /** Executes a command and returns the reply. */
    private static String execute(Map<String, String> data, List<String> words) {
        switch (words.get(0).toUpperCase(Locale.ROOT)) {
            case "PING":
                return "+PONG\r\n";
            default:
                // TODO: ECHO, SET, GET, and an error for everything else
                return "";
        }
    }

    /** Serves one client until it leaves. */
    private static void serve(Socket client, Map<String, String> data) throws IOException {
        StringBuilder buffer = new StringBuilder();
        byte[] chunk = new byte[65536];
        for (int n = client.getInputStream().read(chunk); n > 0; n = client.getInputStream().read(chunk)) {
            buffer.append(new String(chunk, 0, n, StandardCharsets.ISO_8859_1));
            for (Request r = parse(buffer.toString()); r != null; r = parse(buffer.toString())) {
                buffer.delete(0, r.taken);
                client.getOutputStream().write(execute(data, r.words).getBytes(StandardCharsets.ISO_8859_1));
            }
        }
    }

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv("PORT"));
        Map<String, String> data = new HashMap<>();
        try (ServerSocket listener = new ServerSocket(port, 128, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                try (Socket client = listener.accept()) {
                    serve(client, data);
                } catch (IOException reset) {
                    System.err.println("a client has reset its connection: " + reset.getMessage());
                }
            }
        }
    }
}
