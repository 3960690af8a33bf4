package launchers.rows;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Short requests to a server on this machine. */
public final class Redis {
    private Redis() {}

    /** Sends a command without spaces in its words, and returns the first line of the reply. */
    public static String say(int port, String command) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write((command + "\r\n").getBytes(UTF_8));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8)).readLine();
        }
    }

    /** Returns a port that is free now. */
    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Checks that a started server executes commands with its own settings. */
    public static void checkStarted(int port) throws IOException {
        Row.check("+OK".equals(say(port, "SET key value")), "SET");
        Row.check("*2".equals(say(port, "CONFIG GET maxmemory")), "CONFIG GET");
    }

    /** Checks that a stopped server is gone. */
    public static void checkStopped(int port) {
        try {
            Row.check(false, "the server still answers: " + say(port, "PING"));
        } catch (IOException e) {
            // It is gone.
        }
    }
}
