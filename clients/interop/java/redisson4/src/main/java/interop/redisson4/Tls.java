package interop.redisson4;

import interop.redisson.OverTls;

/** A lock over TLS. */
public final class Tls {
    private Tls() {
    }

    public static void main(String[] args) throws Exception {
        OverTls.run();
    }
}
