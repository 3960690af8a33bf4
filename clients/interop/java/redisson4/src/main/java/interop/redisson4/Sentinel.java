package interop.redisson4;

import interop.redisson.ThroughSentinel;

/** A lock through Sentinel. */
public final class Sentinel {
    private Sentinel() {
    }

    public static void main(String[] args) throws Exception {
        ThroughSentinel.run();
    }
}
