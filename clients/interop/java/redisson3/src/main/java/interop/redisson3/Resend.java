package interop.redisson3;

import interop.redisson.Resends;
import java.io.IOException;

/** Single requests whose reply does not come. */
public final class Resend {
    private Resend() {
    }

    public static void main(String[] args) throws IOException {
        Resends.run();
        System.exit(0);
    }
}
