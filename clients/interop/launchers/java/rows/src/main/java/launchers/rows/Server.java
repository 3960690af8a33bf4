package launchers.rows;

import java.io.BufferedReader;
import java.io.IOException;

/** A server for applications, on a free port. */
public final class Server implements AutoCloseable {
    public final int port = Redis.freePort();
    private final Process process;

    public Server(String program) throws IOException {
        process = new ProcessBuilder(program, "--port", Integer.toString(port), "--bind", "127.0.0.1", "--save", "")
                .redirectErrorStream(true)
                .start();
        BufferedReader log = process.inputReader();
        for (String line = ""; !line.contains("Ready to accept connections"); ) {
            line = log.readLine();
            Row.check(line != null, "the server did not start");
        }
        // Nobody reads the rest of the log: its few lines fit into the pipe.
    }

    @Override
    public void close() throws Exception {
        process.destroy();
        Row.check(process.waitFor() == 0, "the server ended with an error");
    }
}
