package dev.muster.controller.config;

import dev.muster.config.SlurmConf;
import dev.muster.config.file.ShippedFiles;
import dev.muster.config.key.Key;
import dev.muster.json.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.ConfigFile;
import dev.muster.model.api.ClusterMessages.ConfigFiles;
import dev.muster.model.api.ClusterMessages.FetchConfig;
import dev.muster.transport.Hash;
import dev.muster.transport.Server.Reply;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The configuration files for machines that have none (SlurmctldParameters=enable_configless). */
public final class ConfigService {
    private static final long BYTES_MAX = 64 << 20;
    private static final int WAIT_SECONDS_MAX = 60;
    private ConfigFiles current = new ConfigFiles("", List.of());
    private boolean enabled;

    /**
     * Takes the files as they are now: of the configuration that is in force. Requests that wait for a change are
     * answered.
     */
    public synchronized void take(SlurmConf conf) throws IOException {
        enabled = conf.has(Key.SLURMCTLD_PARAMETERS, "enable_configless");
        if (!enabled) {
            return;
        }
        List<ConfigFile> files = new ArrayList<>();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Map.Entry<String, File> e : ShippedFiles.of(conf).entrySet()) {
            byte[] content = Files.readAllBytes(e.getValue().toPath());
            files.add(new ConfigFile(
                    e.getKey(),
                    Bytes.of(content),
                    e.getValue().canExecute() && !e.getKey().endsWith(".conf")));
            all.writeBytes((e.getKey() + " " + content.length + "\n").getBytes(StandardCharsets.UTF_8));
            all.writeBytes(content);
            if (all.size() > BYTES_MAX) {
                throw new IOException("more than " + (BYTES_MAX >> 20)
                        + " MiB of configuration files: enable_configless cannot serve them");
            }
        }
        current = new ConfigFiles(Hash.hex(Hash.sha256(all.toByteArray())), List.copyOf(files));
        notifyAll();
    }

    public synchronized Reply answer(FetchConfig m) {
        if (!enabled) {
            return Reply.error(
                    400,
                    SlurmErrno.NOT_SUPPORTED,
                    "slurmctld does not give its configuration away: enable_configless is not set");
        }
        long endNs = System.nanoTime() + Math.min(Math.max(m.waitSeconds(), 0), WAIT_SECONDS_MAX) * 1_000_000_000L;
        while (m.knownHash().equals(current.hash())) {
            long leftMs = (endNs - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                return Reply.of(new ConfigFiles(current.hash(), List.of()));
            }
            try {
                wait(leftMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Reply.of(new ConfigFiles(current.hash(), List.of()));
            }
        }
        return Reply.of(current);
    }
}
