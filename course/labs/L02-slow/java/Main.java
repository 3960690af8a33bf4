import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Lab 2: one slow client. This server works, but it serves one client after another. Change that.
 *
 * Bytes are kept in a String with one char for each byte (ISO_8859_1), so no byte is lost.
 */
final class Main {
    /** The bytes of a client that are no complete request yet. */
    private static final class Buffer {
        private final StringBuilder text = new StringBuilder();
        private int at;

        /** Takes the first request out and returns its words, or null while it is not complete. */
        List<String> parse() {
            at = 0;
            List<String> words = new ArrayList<>();
            int count = number();
            for (int i = 0; i < count; i++) {
                int size = number();
                if (size < 0 || text.length() < at + size + 2) {
                    return null;
                }
                words.add(text.substring(at, at + size));
                at += size + 2;
            }
            if (count < 0) {
                return null;
            }
            text.delete(0, at);
            return words;
        }

        private int number() {
            int end = text.indexOf("\r\n", at);
            if (end < 0) {
                return -1;
            }
            int n = Integer.parseInt(text.substring(at + 1, end));
            at = end + 2;
            return n;
        }
    }

    /** Executes a command and returns its reply. */
    private static String execute(Map<String, String> data, List<String> words) {
        switch (words.get(0).toUpperCase(Locale.ROOT)) {
            case "PING":
                return "+PONG\r\n";
            case "SET":
                data.put(words.get(1), words.get(2));
                return "+OK\r\n";
            case "GET": {
                String value = data.get(words.get(1));
                return value == null ? "$-1\r\n" : "$" + value.length() + "\r\n" + value + "\r\n";
            }
            case "DEL":
                return data.remove(words.get(1)) == null ? ":0\r\n" : ":1\r\n";
            default:
                return "-ERR unknown command\r\n";
        }
    }

    /** Serves one client until it leaves. */
    private static void serve(Socket socket, Map<String, String> data) {
        Buffer buffer = new Buffer();
        byte[] chunk = new byte[65536];
        try (Socket client = socket) {
            for (int n = client.getInputStream().read(chunk); n > 0; n = client.getInputStream().read(chunk)) {
                buffer.text.append(new String(chunk, 0, n, StandardCharsets.ISO_8859_1));
                for (List<String> words = buffer.parse(); words != null; words = buffer.parse()) {
                    client.getOutputStream().write(execute(data, words).getBytes(StandardCharsets.ISO_8859_1));
                }
            }
        } catch (IOException reset) {
            System.err.println("a client has reset its connection: " + reset.getMessage());
        }
    }

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv("PORT"));
        Map<String, String> data = new HashMap<>();
        try (ServerSocket listener = new ServerSocket(port, 256, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                serve(listener.accept(), data); // TODO: nobody is accepted meanwhile
            }
        }
    }
}
