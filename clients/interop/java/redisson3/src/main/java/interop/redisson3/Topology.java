package interop.redisson3;

import interop.redisson.InTopology;

/** A lock in a cluster or through Sentinel. */
public final class Topology {
    private Topology() {
    }

    public static void main(String[] args) {
        InTopology.run(!args[0].isEmpty(), (client, locks) -> locks);
    }
}
