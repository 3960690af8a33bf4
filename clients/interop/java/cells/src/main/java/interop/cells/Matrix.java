package interop.cells;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One client's row: its scenarios, run one after another, because some of them cut every connection or empty the
 * script cache. Prints a line of JSON for each on standard output; whatever a library prints goes to standard error.
 *
 * @param <C> what the scenarios need of the client, opened once for all of them; the JVM's end closes it
 */
public final class Matrix<C> {
    /** A cell takes a second or two; this is for one that hangs, not for one on a slow machine. */
    private static final long LIMIT = 20_000;

    /** Class loading and the first connections, on a machine that does other things as well. */
    private static final long OPENING_LIMIT = 40_000;

    private static final Pattern JAR = Pattern.compile("(.+?)-(\\d.*)\\.jar");

    private final String client;
    private final Map<String, Scenario<? super C>> scenarios = new LinkedHashMap<>();
    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final List<String> masters = List.of(environment("REDIS_MASTERS").split(","));

    public interface Scenario<C> {
        void run(C client, Cell cell) throws Exception;
    }

    public Matrix(String client) {
        this.client = client;
        System.setOut(System.err);
    }

    /** The version in the name of the jar that a class of the client came from. */
    public static String version(Class<?> of) {
        Path jar = Path.of(of.getProtectionDomain().getCodeSource().getLocation().getPath());
        Matcher matcher = JAR.matcher(jar.getFileName().toString());
        if (!matcher.matches()) {
            throw new IllegalStateException(jar + " does not name its version");
        }
        return matcher.group(2);
    }

    public static String environment(String name) {
        String value = System.getenv(name);
        if (value == null) {
            throw new IllegalStateException(name + " is not set");
        }
        return value;
    }

    public Matrix<C> cell(String scenario, Scenario<? super C> body) {
        scenarios.put(scenario, body);
        return this;
    }

    public void run(Callable<C> opener) {
        String only = System.getenv().getOrDefault("ONLY", "");
        scenarios.keySet().removeIf(scenario -> !(client + "/" + scenario).contains(only));
        if (scenarios.isEmpty()) {
            return;
        }
        AtomicReference<C> opened = new AtomicReference<>();
        Throwable refused = limited(() -> opened.set(opener.call()), OPENING_LIMIT);
        try (Server server = new Server(environment("REDIS_ADDR"))) {
            for (String scenario : scenarios.keySet()) {
                long began = System.nanoTime();
                Throwable failure = refused != null ? refused : run(scenario, opened.get(), server);
                print(scenario, failure, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
            }
        }
    }

    private Throwable run(String scenario, C opened, Server server) {
        String key = ("interop:" + client + ":" + scenario + ":" + ProcessHandle.current().pid())
                .replaceAll("[^\\w.:-]+", "-");
        Cell cell = new Cell(key, server, masters);
        try {
            return limited(() -> scenarios.get(scenario).run(opened, cell), LIMIT);
        } finally {
            cell.end();
        }
    }

    /** Why the action failed, or null. One that does not end is left behind; its thread keeps no JVM alive. */
    private static Throwable limited(Cell.Action action, long millis) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            action.run();
            return null;
        });
        Thread thread = new Thread(task, "scenario");
        thread.setDaemon(true);
        thread.start();
        try {
            task.get(millis, TimeUnit.MILLISECONDS);
            return null;
        } catch (ExecutionException e) {
            e.getCause().printStackTrace();
            return e.getCause();
        } catch (TimeoutException e) {
            AssertionError error = new AssertionError("no end after " + millis + " ms");
            error.setStackTrace(thread.getStackTrace());
            error.printStackTrace();
            thread.interrupt();
            return error;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void print(String scenario, Throwable failure, long millis) {
        String detail = "";
        if (failure != null) {
            String text = failure instanceof AssertionError ? failure.getMessage() : failure.toString();
            detail = text.lines().findFirst().orElse("");
        }
        out.printf("{\"client\":%s,\"scenario\":%s,\"outcome\":\"%s\",\"ms\":%d,\"detail\":%s}%n", json(client),
                json(scenario), failure == null ? "pass" : "fail", millis, json(detail));
    }

    private static String json(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
