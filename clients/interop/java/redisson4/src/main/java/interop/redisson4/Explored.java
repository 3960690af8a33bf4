package interop.redisson4;

import interop.redisson.Explores;

/** RLock, for explore. */
public final class Explored {
    private Explored() {
    }

    public static void main(String[] args) throws Exception {
        Explores.run("redisson-4", args);
    }
}
