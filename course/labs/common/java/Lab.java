import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What every lab about lock clients shares: a small client of Redis, and the orders of the grader. */
final class Lab {
    /** What you write. Both methods return false if the lock is not ours. */
    interface Lock {
        boolean take() throws IOException;

        boolean release() throws IOException;
    }

    /** What you write in lab 5. */
    interface Search {
        long count(String pattern) throws IOException;

        long purge(String pattern) throws IOException;
    }

    /** Makes the Lock of an owner, or a Search. */
    interface Maker {
        Object make(List<Redis> masters, String key, long leaseMillis);
    }

    /** An error reply. */
    static final class ServerError extends RuntimeException {
        ServerError(String text) {
            super(text);
        }
    }

    /** One connection. It connects when it is used, and again after it was lost. */
    static final class Redis {
        private final String address;
        private final String name;
        private Socket socket;
        private InputStream in;

        Redis(String address, String name) {
            this.address = address;
            this.name = name;
        }

        /** Sends a command and returns its reply: String, Long, List or null. */
        Object call(Object... words) throws IOException {
            try {
                if (socket == null) {
                    int colon = address.lastIndexOf(':');
                    socket = new Socket(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
                    in = new java.io.BufferedInputStream(socket.getInputStream());
                    call("CLIENT", "SETNAME", name);
                }
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                out.write(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
                for (Object word : words) {
                    byte[] text = word.toString().getBytes(StandardCharsets.UTF_8);
                    out.write(("$" + text.length + "\r\n").getBytes(StandardCharsets.UTF_8));
                    out.write(text);
                    out.write("\r\n".getBytes(StandardCharsets.UTF_8));
                }
                socket.getOutputStream().write(out.toByteArray());
                return reply();
            } catch (IOException lost) {
                close();
                throw lost;
            }
        }

        private Object reply() throws IOException {
            int kind = in.read();
            String rest = line();
            switch (kind) {
                case '-':
                    throw new ServerError(rest);
                case ':':
                    return Long.parseLong(rest);
                case '$': {
                    int n = Integer.parseInt(rest);
                    if (n < 0) {
                        return null;
                    }
                    byte[] text = in.readNBytes(n);
                    if (!line().isEmpty()) {
                        throw new IOException("a bulk string does not end");
                    }
                    return new String(text, StandardCharsets.UTF_8);
                }
                case '*': {
                    int n = Integer.parseInt(rest);
                    if (n < 0) {
                        return null;
                    }
                    List<Object> all = new ArrayList<>();
                    for (int i = 0; i < n; i++) {
                        all.add(reply());
                    }
                    return all;
                }
                default:
                    return rest;
            }
        }

        private String line() throws IOException {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            for (int b = in.read(); b != '\n'; b = in.read()) {
                if (b < 0) {
                    throw new EOFException("the connection is lost");
                }
                if (b != '\r') {
                    text.write(b);
                }
            }
            return text.toString(StandardCharsets.UTF_8);
        }

        void close() {
            try {
                if (socket != null) {
                    socket.close();
                }
            } catch (IOException alreadyClosed) {
                // nothing is left to close
            }
            socket = null;
        }
    }

    private interface Act {
        boolean run() throws IOException;
    }

    private static void outcome(String yes, String no, Act act) {
        try {
            System.out.println(act.run() ? yes : no);
        } catch (IOException | ServerError why) {
            System.out.println(no + " " + why.getMessage());
        }
    }

    private interface Number {
        long get() throws IOException;
    }

    private static void number(String word, Number act) {
        try {
            System.out.println(word + " " + act.get());
        } catch (IOException | ServerError why) {
            System.out.println("failed " + why.getMessage());
        }
    }

    /** Obeys the orders of the grader. */
    static void run(String name, Maker maker) throws IOException {
        System.out.println(name);
        List<Redis> connections = new ArrayList<>();
        Map<String, Object> locks = new HashMap<>();
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.trim().split(" ");
            switch (words[0]) {
                case "open":
                    for (String owner : List.of("a", "b")) {
                        List<Redis> masters = new ArrayList<>();
                        for (String address : words[1].split(",")) {
                            masters.add(new Redis(address, owner));
                        }
                        connections.addAll(masters);
                        locks.put(owner, maker.make(masters, words[2], Long.parseLong(words[3])));
                    }
                    System.out.println("ok");
                    break;
                case "take":
                    outcome("held", "refused", () -> ((Lock) locks.get(words[1])).take());
                    break;
                case "release":
                    outcome("released", "failed", () -> ((Lock) locks.get(words[1])).release());
                    break;
                case "count":
                    number("found", () -> ((Search) locks.get(words[1])).count(words[2]));
                    break;
                case "purge":
                    number("deleted", () -> ((Search) locks.get(words[1])).purge(words[2]));
                    break;
                case "close":
                    connections.forEach(Redis::close);
                    System.out.println("ok");
                    break;
                default:
                    System.out.println("unknown order");
            }
        }
    }

    private Lab() {}
}
