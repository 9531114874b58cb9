package dev.muster.node;

import dev.muster.config.key.CertmgrWords;
import dev.muster.config.sister.CertmgrConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Sessions;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.ApiError;
import dev.muster.model.api.ClusterMessages.SignCertificate;
import dev.muster.model.api.ClusterMessages.SignedCertificate;
import dev.muster.model.format.ErrorSentence;
import dev.muster.node.config.Settings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.tls.TlsIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * The certificate that slurmctld has signed for this node (CertmgrType): in the spool directory, and renewed in time.
 */
final class NodeCertificate {
    private static final int TIMEOUT_MS = 60_000;
    /** slurmctld may start after its nodes. */
    private static final int TRIES = 60;

    private static final int PAUSE_MS = 1_000;
    /** So often it is looked whether it is time: clocks are set, and files are exchanged. */
    private static final int LOOK_MS = 10_000;
    /** After a renewal that failed. */
    private static final int AGAIN_MS = 60_000;

    private final Settings settings;
    private final CertmgrConf conf;
    private final Sessions sessions;
    private final DaemonLog log;
    private final Path certificate;
    private final Path key;
    /** The token of the next request, where the site's token is valid only once. */
    private final Path next;

    NodeCertificate(Settings settings, Sessions sessions, DaemonLog log) {
        this.settings = settings;
        this.conf = settings.around().certmgr();
        this.sessions = sessions;
        this.log = log;
        certificate = settings.spoolDirectory().resolve("slurmd_cert.pem");
        key = settings.spoolDirectory().resolve("slurmd_cert_key.pem");
        next = settings.spoolDirectory().resolve("slurmd_cert_token");
    }

    /**
     * The certificate of before while it is fresh, else a new one.
     *
     * @throws IOException with the sentence, if there is none to be had
     */
    TlsIdentity open() throws IOException {
        List<String> missing = conf.missing(CertmgrWords.TOKEN, CertmgrWords.REQUEST, CertmgrWords.KEY);
        if (!missing.isEmpty()) {
            throw new IOException("CertmgrParameters names no " + String.join(", ", missing));
        }
        if (untilRenewalMs() <= 0) {
            obtain(TRIES);
        }
        return new TlsIdentity(certificate, key, log::error);
    }

    /** 0 or less where there is none, or an old one. */
    private long untilRenewalMs() {
        try {
            return Files.getLastModifiedTime(certificate).toMillis()
                    + conf.renewalMinutes() * 60_000L
                    - System.currentTimeMillis();
        } catch (IOException e) {
            return 0;
        }
    }

    /** Renews it as long as the loop runs. */
    void keep(EventLoop loop) {
        loop.later(
                Math.clamp(untilRenewalMs(), PAUSE_MS, LOOK_MS),
                () -> EventLoop.aside(() -> {
                    try {
                        if (untilRenewalMs() <= 0) {
                            obtain(1);
                        }
                        keep(loop);
                    } catch (IOException e) {
                        log.error("the certificate is not renewed: " + ErrorSentence.of(e));
                        loop.later(AGAIN_MS, () -> keep(loop));
                    }
                }));
    }

    private void obtain(int tries) throws IOException {
        if (Files.exists(next)) {
            try {
                obtain(tries, Files.readString(next));
                return;
            } catch (RefusedException e) {
                // of a slurmctld that has another state, or the administrator has set a token since
                log.info(e.getMessage() + "; the site's token is shown");
                Files.deleteIfExists(next);
            }
        }
        obtain(tries, runScript(CertmgrWords.TOKEN).strip());
    }

    private void obtain(int tries, String token) throws IOException {
        String own = runScript(CertmgrWords.KEY);
        SignCertificate question = new SignCertificate(settings.nodeName(), runScript(CertmgrWords.REQUEST), token);
        IOException last = new IOException("no slurmctld is configured");
        for (int i = 0; i < tries; i++) {
            if (i > 0) {
                pause();
            }
            for (Settings.Address controller : settings.controllers()) {
                try (Client client = sessions.client(controller.host(), controller.port())
                        .to(Audience.SLURMCTLD)
                        .connectWithin(settings.connectMs())) {
                    Client.Response r = client.post("/muster/v1/SignCertificate", Codec.encode(question), TIMEOUT_MS);
                    if (r.status() != 200) {
                        throw new RefusedException("slurmctld does not sign a certificate: "
                                + Codec.decode(r.body(), ApiError.class).error());
                    }
                    SignedCertificate answer = Codec.decode(r.body(), SignedCertificate.class);
                    if (!answer.next().isEmpty()) {
                        store(next, answer.next());
                    }
                    store(key, own);
                    store(certificate, answer.certificate());
                    log.info("slurmctld has signed a certificate for " + settings.nodeName());
                    return;
                } catch (RefusedException e) {
                    throw e;
                } catch (IOException | Json.MalformedException e) {
                    last = new IOException(
                            "no certificate from " + controller.host() + ":" + controller.port() + ": "
                                    + ErrorSentence.of(e),
                            e);
                }
            }
        }
        throw last;
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String sentence) {
            super(sentence);
        }
    }

    /** Runs a script of the site for this node and returns its output. */
    private String runScript(String script) throws IOException {
        String program = conf.scripts().get(script);
        Os.Outcome o = Os.run(List.of(program, settings.nodeName()));
        if (o.exitCode() != 0 || o.output().isBlank()) {
            throw new IOException(program + ": "
                    + (o.exitCode() == 0
                            ? "it prints nothing"
                            : "exit status " + o.exitCode() + " " + o.output().strip()));
        }
        return o.output();
    }

    private static void store(Path file, String text) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(fresh, text.getBytes(StandardCharsets.UTF_8));
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
