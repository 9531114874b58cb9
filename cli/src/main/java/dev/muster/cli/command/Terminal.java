package dev.muster.cli.command;

import dev.muster.model.format.Digits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Switches the caller's terminal by stty, raw for {@code --pty} and key by key for questions, and restores it. */
public final class Terminal {
    private static final int STTY_BYTES_MAX = 4096;

    /** State that stty printed before, "" without a terminal. */
    private final String saved;

    private Terminal(String saved) {
        this.saved = saved;
    }

    public static Terminal raw() {
        Terminal terminal = new Terminal(stty("-g"));
        if (!terminal.saved.isEmpty()) {
            stty("raw", "-echo");
        }
        return terminal;
    }

    /** Switches the terminal to pass typed keys on at once, without the end of their line. */
    public static Terminal keys() {
        Terminal terminal = new Terminal(stty("-g"));
        if (!terminal.saved.isEmpty()) {
            stty("-icanon");
        }
        return terminal;
    }

    /** Like {@link #keys}, without echo. An interrupt still reaches the process. */
    public static Terminal silentKeys() {
        Terminal terminal = new Terminal(stty("-g"));
        if (!terminal.saved.isEmpty()) {
            stty("-icanon", "-echo");
        }
        return terminal;
    }

    public void restore() {
        if (!saved.isEmpty()) {
            stty(saved);
        }
    }

    /** Rows and columns; zeros if there is no terminal. */
    public static int[] size() {
        List<String> words = Texts.words(stty("size"));
        if (words.size() != 2) {
            return new int[] {0, 0};
        }
        return new int[] {(int) Digits.parseNumber(words.get(0)), (int) Digits.parseNumber(words.get(1))};
    }

    private static String stty(String... arguments) {
        String[] command = new String[arguments.length + 3];
        command[0] = "stty";
        command[1] = "-F";
        command[2] = "/dev/tty";
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            try (InputStream in = process.getInputStream()) {
                String out = new String(in.readNBytes(STTY_BYTES_MAX), StandardCharsets.US_ASCII).strip();
                return process.waitFor() == 0 ? out : "";
            }
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
