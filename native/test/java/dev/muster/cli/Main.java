package dev.muster.cli;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What launcher_test.sh runs in place of the commands. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        switch (args.length > 1 ? args[1] : "") {
            case "args" -> out.println(String.join("|", args));
            case "raw" -> out.println(Arrays.toString(Native.argv()[2]));
            case "exit" -> System.exit(Integer.parseInt(args[2]));
            case "return" -> {}
            case "throw" -> throw new IllegalStateException("thrown");
            case "signal" -> Native.exitBySignal(Integer.parseInt(args[2]));
            case "umask" -> out.println(Native.umask());
            case "environ" -> {
                for (byte[] entry : Native.environ()) {
                    out.println(new String(entry, StandardCharsets.ISO_8859_1));
                }
            }
            case "id" -> out.println(Native.requestId() + " " + System.getenv("MUSTER_REQUEST_ID"));
            case "exchange" -> {
                byte[] answer = Native.exchangeUnix(args[2], "hello".getBytes(StandardCharsets.UTF_8));
                out.println(answer == null ? "none" : new String(answer, StandardCharsets.UTF_8));
            }
            case "cat" -> System.in.transferTo(out);
            case "sleep" -> {
                out.println("ready");
                Thread.sleep(20_000);
            }
            case "thread" -> out.println(ProcessHandle.current().pid());
            default -> out.println("?");
        }
    }
}
