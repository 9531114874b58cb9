package dev.muster.node.os;

import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A program of the node's that is asked something: it runs in "/" with its own environment alone, reads nothing, and
 * writes what it has to say.
 */
public final class NodeProgram {
    private static final int OUTPUT_MAX = 1 << 20;

    private NodeProgram() {}

    /** Why there is nothing to be had of it. */
    public static final class Failed extends Exception {
        private static final long serialVersionUID = 1;

        private Failed(String why) {
            super(why);
        }
    }

    /**
     * What it wrote, as far as that is no more than a mebibyte. Whatever it started ends with it when its time is over.
     */
    public static String ask(List<String> command, Map<String, String> environment, int seconds) throws Failed {
        File output = null;
        try {
            output = File.createTempFile("muster-program", "");
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(new File("/"))
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(output)
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().putAll(environment);
            Process process = builder.start();
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new Failed("timed out after " + seconds + " s");
            }
            if (process.exitValue() != 0) {
                throw new Failed("exit status " + process.exitValue());
            }
            byte[] bytes = Files.readAllBytes(output.toPath());
            return new String(bytes, 0, Math.min(bytes.length, OUTPUT_MAX), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new Failed(ErrorSentence.reason(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failed("interrupted");
        } finally {
            if (output != null) {
                output.delete();
            }
        }
    }
}
