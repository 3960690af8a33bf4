package interop.redisson4;

import interop.redisson.InTopology;

/** A lock in a cluster or through Sentinel. */
public final class Topology {
    private Topology() {
    }

    public static void main(String[] args) {
        InTopology.run();
    }
}
