package launchers.rows;

import java.nio.file.Path;

/** Prints the rows of the table, a line of JSON for each: see ../../main.go. */
public final class Row {
    /** What a launcher or an application does. It throws if that does not work. */
    public interface Work {
        void run() throws Exception;
    }

    private Row() {}

    /** Runs a program that starts a server, and prints its row. */
    public static void launcher(String name, Class<?> of, String detail, Work work) {
        print("launcher", name, of, detail, work);
    }

    /** Runs a program that uses a server, and prints its row. */
    public static void application(String name, Class<?> of, String detail, Work work) {
        print("application", name, of, detail, work);
    }

    /** Throws unless something is so. */
    public static void check(boolean isSo, String what) {
        if (!isSo) {
            throw new IllegalStateException(what);
        }
    }

    private static void print(String kind, String name, Class<?> of, String detail, Work work) {
        boolean ok = true;
        try {
            work.run();
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            ok = false;
            detail = e.toString().lines().findFirst().orElse("");
        }
        System.out.printf("{\"kind\":%s,\"name\":%s,\"version\":%s,\"ok\":%b,\"detail\":%s}%n",
                quote(kind), quote(name), quote(version(of)), ok, quote(detail));
    }

    /** Returns the version in the name of the jar that a class comes from. */
    private static String version(Class<?> of) {
        String jar = Path.of(of.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName().toString();
        return jar.replaceFirst("^.*?-(\\d.*)\\.jar$", "$1");
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\' || c < ' ') {
                quoted.append(String.format("\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }
}
