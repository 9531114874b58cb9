package dev.muster.accounting.db;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * The site's program that prints the password of a database: StoragePassScript, JobCompPassScript. Its answer is used
 * for a time, and longer while the program fails.
 */
public final class PassScript {
    /** Seconds for which a password is used where token_duration does not say. */
    public static final int DURATION_S = 300;

    private static final int RUN_S = 10;
    private static final int OUTPUT_MAX = 16_384;
    private static final String TOKEN = "TOKEN=";

    private final String name;
    private final String script;
    private final String host;
    private final int port;
    private final String user;
    private final long durationNs;
    private String output = "";
    private long saidNs;

    /**
     * @param name the key that names the script, for sentences
     * @param durationS how long a password is used before the script is asked again
     */
    public PassScript(String name, String script, String host, int port, String user, int durationS) {
        this.name = name;
        this.script = script;
        this.host = host;
        this.port = port;
        this.user = user;
        this.durationNs = TimeUnit.SECONDS.toNanos(durationS);
    }

    /**
     * The password as of now.
     *
     * @throws IOException if the script says none and has not before
     */
    public synchronized String password() throws IOException {
        if (saidNs != 0 && System.nanoTime() - saidNs < durationNs) {
            return output;
        }
        try {
            output = run();
            saidNs = System.nanoTime();
        } catch (IOException e) {
            if (saidNs == 0) {
                throw e;
            }
        }
        return output;
    }

    private String run() throws IOException {
        ProcessBuilder call = new ProcessBuilder(script).redirectError(ProcessBuilder.Redirect.INHERIT);
        call.environment().put("SLURM_STORAGE_HOSTNAME", host);
        call.environment().put("SLURM_STORAGE_PORT", Integer.toString(port));
        call.environment().put("SLURM_STORAGE_USER", user);
        Process process = call.start();
        process.getOutputStream().close();
        try {
            if (!process.waitFor(RUN_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException(name + " does not end");
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException(name + " was interrupted", e);
        }
        if (process.exitValue() != 0) {
            throw new IOException(name + " failed");
        }
        String all = new String(process.getInputStream().readNBytes(OUTPUT_MAX), StandardCharsets.UTF_8).strip();
        return all.lines()
                .filter(line -> line.startsWith(TOKEN))
                .findFirst()
                .map(line -> line.substring(TOKEN.length()).strip())
                .orElse(all);
    }
}
