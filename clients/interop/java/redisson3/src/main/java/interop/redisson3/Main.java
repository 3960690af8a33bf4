package interop.redisson3;

import interop.redisson.Clients;
import interop.redisson.Scenarios;

/** The version that many projects still run: nothing but what both have. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        Scenarios.matrix().run(Clients::new);
        System.exit(0);
    }
}
