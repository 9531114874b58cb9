package dev.muster.cli;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.RawText;
import dev.muster.cli.connection.ProcessHost;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Starts a user command: args[0] is its name. */
public final class Main {
    private static final int NO_COMMAND = 127;
    private static final int PROC_BYTES_MAX = 16 << 20;

    private Main() {}

    public static void main(String[] args) {
        int rc = args.length == 0 ? NO_COMMAND : CommandTable.run(context(args));
        // everything is written and given back: the orderly way out would start the logging of the Java library first
        Runtime.getRuntime().halt(rc);
    }

    public static CommandContext context(String[] args) {
        Map<String, String> env = environment();
        List<String> argv = arguments(args);
        return new CommandContext(
                args[0],
                argv.getFirst(),
                argv.subList(1, argv.size()),
                env,
                new ProcessHost(env, Native.launcher()),
                new Output(new FileOutputStream(FileDescriptor.out), false),
                new Output(new FileOutputStream(FileDescriptor.err), true),
                new FileInputStream(FileDescriptor.in));
    }

    /** The program as typed and its arguments, as bytes: the Java machine's own decoding loses what is not UTF-8. */
    private static List<String> arguments(String[] args) {
        List<String> out = new ArrayList<>();
        byte[][] raw = Native.isThere() ? Native.argv() : tail(entries("/proc/self/cmdline"), args.length);
        if (raw.length == args.length) {
            for (byte[] a : raw) {
                out.add(RawText.decode(a));
            }
            return out;
        }
        return List.of(args);
    }

    private static byte[][] tail(byte[][] all, int count) {
        byte[][] out = new byte[Math.min(count, all.length)][];
        System.arraycopy(all, all.length - out.length, out, 0, out.length);
        return out;
    }

    private static Map<String, String> environment() {
        byte[][] raw = Native.isThere() ? Native.environ() : entries("/proc/self/environ");
        Map<String, String> out = new LinkedHashMap<>();
        for (byte[] entry : raw) {
            String text = RawText.decode(entry);
            int equalSign = text.indexOf('=', 1);
            if (equalSign > 0) {
                out.putIfAbsent(text.substring(0, equalSign), text.substring(equalSign + 1));
            }
        }
        out.remove("MUSTER_REQUEST_ID");
        return out;
    }

    private static byte[][] entries(String file) {
        List<byte[]> out = new ArrayList<>();
        try (FileInputStream in = new FileInputStream(file)) {
            byte[] all = in.readNBytes(PROC_BYTES_MAX);
            int from = 0;
            for (int i = 0; i < all.length; i++) {
                if (all[i] == 0) {
                    out.add(java.util.Arrays.copyOfRange(all, from, i));
                    from = i + 1;
                }
            }
        } catch (IOException e) {
            return new byte[0][];
        }
        return out.toArray(new byte[0][]);
    }
}
