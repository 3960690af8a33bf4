package launchers.testcontainers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.command.LogContainerCmd;
import com.github.dockerjava.api.model.Frame;
import com.github.dockerjava.api.model.StreamType;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import launchers.rows.Redis;
import launchers.rows.Row;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.containers.wait.strategy.WaitStrategyTarget;

/** The wait of Testcontainers, without Docker: the log of a process stands in for the log of a container. */
public final class Main {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Main() {}

    public static void main(String[] args) {
        Row.launcher("Testcontainers", GenericContainer.class,
                "`Wait.forLogMessage` with the pattern of its Redis module, without Docker", () -> work(args[0]));
    }

    static void work(String program) throws Exception {
        int port = Redis.freePort();
        String[] command = {program, "--port", Integer.toString(port), "--bind", "127.0.0.1", "--save", ""};
        Process server = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .start();
        try {
            Wait.forLogMessage(".*Ready to accept connections.*\\n", 1)
                    .withStartupTimeout(PATIENCE)
                    .waitUntilReady(new Target(server));
            Redis.checkStarted(port);
        } finally {
            server.destroy();
            server.waitFor();
        }
    }

    /** The process as a container. Testcontainers asks it for its log and for nothing else. */
    private record Target(Process server) implements WaitStrategyTarget {
        @Override
        public List<Integer> getExposedPorts() {
            return List.of();
        }

        @Override
        public InspectContainerResponse getContainerInfo() {
            return null;
        }

        @Override
        public String getContainerId() {
            return "process";
        }

        @Override
        public DockerClient getDockerClient() {
            LogContainerCmd log = proxy(LogContainerCmd.class,
                    (command, method, words) -> method.getName().equals("exec") ? follow(words[0]) : command);
            return proxy(DockerClient.class, (client, method, words) -> log);
        }

        private static <T> T proxy(Class<T> type, InvocationHandler calls) {
            return type.cast(Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {type}, calls));
        }

        @SuppressWarnings("unchecked")
        private Object follow(Object callback) {
            ResultCallback<Frame> frames = (ResultCallback<Frame>) callback;
            Thread reader = new Thread(() -> {
                try (BufferedReader log = server.inputReader()) {
                    for (String line = log.readLine(); line != null; line = log.readLine()) {
                        frames.onNext(new Frame(StreamType.STDOUT, (line + "\n").getBytes(StandardCharsets.UTF_8)));
                    }
                } catch (IOException e) {
                    frames.onError(e);
                }
            });
            reader.setDaemon(true);
            reader.start();
            return callback;
        }
    }
}
