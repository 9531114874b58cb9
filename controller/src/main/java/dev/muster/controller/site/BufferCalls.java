package dev.muster.controller.site;

import dev.muster.config.SlurmConf;
import dev.muster.controller.lua.BufferScript;
import dev.muster.core.state.Job;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Calls of burst_buffer.lua, each as SlurmUser in a process of its own, which ends with its time or with what it was
 * for.
 */
final class BufferCalls {
    static final String FILE = "burst_buffer.lua";
    private static final int ANSWER_BYTES_MAX = 1 << 20;

    /** @param text the second value that a function gives */
    record Answer(boolean success, String text) {
        boolean isBusy() {
            return success && text.equals(BufferScript.BUSY);
        }
    }

    private final Supplier<SlurmConf> conf;
    private final DaemonLog log;
    private final Map<Integer, Process> running = new ConcurrentHashMap<>();

    BufferCalls(Supplier<SlurmConf> conf, DaemonLog log) {
        this.conf = conf;
        this.log = log;
    }

    /** Returns the error in the script, "" without one. */
    String check(Path script, int seconds) {
        Answer answer = call(0, script, "", List.of(), new Json.Obj(), seconds);
        return answer.success ? "" : answer.text;
    }

    Answer call(String function, List<String> arguments, int seconds) {
        return call(0, function, arguments, new Json.Obj(), seconds);
    }

    /**
     * Calls a function of the site's script for a job.
     *
     * @param job as {@link #describe} has it; without fields the function gets none
     */
    Answer call(int jobId, String function, List<String> arguments, Json.Obj job, int seconds) {
        return call(jobId, conf.get().sister(FILE).toPath(), function, arguments, job, seconds);
    }

    /** Ends what runs for the job. */
    void kill(int jobId) {
        Process p = running.remove(jobId);
        if (p != null) {
            end(p);
        }
    }

    private static void end(Process p) {
        p.descendants().forEach(ProcessHandle::destroyForcibly);
        p.destroyForcibly();
    }

    /** Returns the job as a script sees it. */
    static Json.Obj describe(Job job) {
        Json.Obj numbers = new Json.Obj()
                .put("job_id", (long) job.id())
                .put("job_state", (long) job.state().ordinal())
                .put("array_job_id", (long) job.array().jobId())
                .put("submit_time", job.submitTime())
                .put("start_time", job.run().startTime())
                .put("end_time", job.run().endTime())
                .put("restart_cnt", (long) job.restarts())
                .put("exit_code", (long)
                        (job.run().exit().code() << 8 | job.run().exit().signal()));
        return new Json.Obj()
                .put("description", Json.object(Codec.encode(job.desc())))
                .put("numbers", numbers)
                .put(
                        "texts",
                        new Json.Obj()
                                .put(
                                        "nodes",
                                        job.run().allocation().isEmpty()
                                                ? ""
                                                : job.run().allocation().hostList()));
    }

    private Answer call(int jobId, Path script, String function, List<String> arguments, Json.Obj job, int seconds) {
        // the answer has a descriptor of its own: what the script prints goes to standard error
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "exec \"$@\" 3>&1 1>&2", "sh"));
        command.addAll(List.of(
                System.getProperty("java.home") + "/bin/java",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                BufferScript.class.getName(),
                script.toString()));
        Json.Obj asked = new Json.Obj().put("function", function).put("arguments", arguments);
        if (!job.fields().isEmpty()) {
            asked.put("job", job);
        }
        try {
            Process p = new ProcessBuilder(command).start();
            if (jobId != 0) {
                running.put(jobId, p);
            }
            Thread.ofVirtual().start(() -> listen(p));
            Thread.ofVirtual().start(() -> bound(p, seconds));
            byte[] out;
            int status;
            // open as long as it may go on: it ends with slurmctld
            try (OutputStream in = p.getOutputStream()) {
                in.write(Json.print(asked));
                in.write('\n');
                in.flush();
                out = p.getInputStream().readNBytes(ANSWER_BYTES_MAX);
                status = p.waitFor();
            } finally {
                running.remove(jobId, p);
            }
            if (status != 0 || out.length == 0) {
                return new Answer(false, status > 128 ? "killed" : "exit status " + status);
            }
            Json.Obj answer = Json.object(out);
            return new Answer(answer.number("rc") == 0, answer.text("text"));
        } catch (IOException | Json.MalformedException e) {
            return new Answer(false, ErrorSentence.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(false, "interrupted");
        }
    }

    private void bound(Process p, int seconds) {
        try {
            if (!p.waitFor(seconds, TimeUnit.SECONDS)) {
                log.error("burst_buffer/lua: killed after " + seconds + " seconds");
                end(p);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lines of the script begin with how loud they are; others are of the programs that it runs. */
    private void listen(Process p) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(p.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("Elua: ")) {
                    log.error(line.substring(1));
                } else {
                    log.info(line.startsWith("Ilua: ") ? line.substring(1) : "burst_buffer/lua: " + line);
                }
            }
        } catch (IOException e) {
            log.verbose("burst_buffer/lua: " + ErrorSentence.of(e));
        }
    }
}
