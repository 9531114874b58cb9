package dev.muster.node.os;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.LaunchFailed;
import dev.muster.node.step.Launcher;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * {@code --get-user-env} and {@code --export=NONE}: the variables that a fresh login of the job's user has on this
 * node.
 */
public final class UserEnvironment {
    private static final int TIMEOUT_S = 120;
    private static final int BYTES_MAX = 4 << 20;
    private static final String MARK = "MUSTER_ENVIRONMENT_BEGINS";

    private UserEnvironment() {}

    /**
     * The login's variables, then the launch's own, which win. Without them the job does not begin.
     *
     * @param unfit a node where they cannot be had takes no more jobs
     */
    public static List<Bytes> before(Launch launch, boolean unfit, DaemonLog log) throws Launcher.FailedException {
        List<Bytes> own = launch.environment();
        Set<String> named = new HashSet<>();
        own.forEach(e -> named.add(name(e)));
        List<Bytes> out = new ArrayList<>();
        try {
            for (Bytes entry : login(launch.share().owner().user())) {
                if (!named.contains(name(entry))) {
                    out.add(entry);
                }
            }
        } catch (IOException e) {
            log.error("cannot get the environment of user "
                    + launch.share().owner().user() + ": " + ErrorSentence.reason(e));
            throw unfit
                    ? Launcher.FailedException.ofUnfitNode(LaunchFailed.NO_ENVIRONMENT)
                    : new Launcher.FailedException(LaunchFailed.NO_ENVIRONMENT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        out.addAll(own);
        return out;
    }

    private static String name(Bytes entry) {
        String text = entry.text();
        int equals = text.indexOf('=');
        return equals < 0 ? text : text.substring(0, equals);
    }

    /** Runs a login shell. Output of profiles comes before the mark. */
    private static List<Bytes> login(String user) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder("su", "-", user, "-c", "echo " + MARK + "; exec env -0")
                .directory(new File("/"))
                .redirectInput(new File("/dev/null"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        Process process = builder.start();
        byte[] all;
        try (InputStream in = process.getInputStream()) {
            all = in.readNBytes(BYTES_MAX);
        }
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("su - " + user + " failed");
        }
        return entries(all);
    }

    static List<Bytes> entries(byte[] all) {
        byte[] mark = (MARK + "\n").getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        int from = 0;
        for (int i = 0; i + mark.length <= all.length; i++) {
            if (java.util.Arrays.equals(all, i, i + mark.length, mark, 0, mark.length)) {
                from = i + mark.length;
                break;
            }
        }
        List<Bytes> out = new ArrayList<>();
        for (int i = from, start = from; i < all.length; i++) {
            if (all[i] == 0) {
                out.add(Bytes.of(java.util.Arrays.copyOfRange(all, start, i)));
                start = i + 1;
            }
        }
        return out;
    }
}
