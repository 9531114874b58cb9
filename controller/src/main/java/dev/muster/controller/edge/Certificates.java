package dev.muster.controller.edge;

import static java.util.Objects.requireNonNull;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.CertmgrWords;
import dev.muster.config.sister.CertmgrConf;
import dev.muster.core.command.Command;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.SignCertificate;
import dev.muster.model.api.ClusterMessages.SignedCertificate;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Hash;
import dev.muster.transport.Server.Reply;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** Signs nodes' certificates (CertmgrType=certmgr/script): the site's scripts check tokens and sign. */
public final class Certificates {
    /** Scripts at the same time: a whole cluster may start at once. */
    private static final int RUNNING_MAX = 8;

    private static final int SECONDS_MAX = 30;
    private static final int SECRET_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int OUTPUT_BYTES_MAX = 1 << 20;

    private final Supplier<SlurmConf> conf;
    private final Supplier<State> state;
    private final Function<Command, Boolean> core;
    private final DaemonLog log;
    private final Semaphore running = new Semaphore(RUNNING_MAX);

    /** @param core carries a command out, and answers whether it was */
    public Certificates(
            Supplier<SlurmConf> conf, Supplier<State> state, Function<Command, Boolean> core, DaemonLog log) {
        this.conf = conf;
        this.state = state;
        this.core = core;
        this.log = log;
    }

    /** Signs the request of a caller that is a daemon of the cluster. */
    Reply sign(SignCertificate m) {
        CertmgrConf c = CertmgrConf.of(conf.get());
        List<String> missing = c.missing(CertmgrWords.VALIDATE, CertmgrWords.SIGN);
        if (!c.on() || !missing.isEmpty()) {
            return refused(
                    c.on() ? "CertmgrParameters names no " + String.join(", ", missing) : "CertmgrType is not set");
        }
        Optional<Node> node = state.get().nodes().find(m.node());
        if (node.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_NODE_NAME);
        }
        if (m.token().isEmpty()
                || m.token().startsWith("-")
                || m.request().startsWith("-") && !m.request().startsWith("-----BEGIN")) {
            return refused("no token, or no request");
        }
        running.acquireUninterruptibly();
        try {
            return sign(m, node.get(), c);
        } finally {
            running.release();
        }
    }

    private Reply sign(SignCertificate m, Node node, CertmgrConf c) {
        boolean known = node.marks().knows(m.token());
        boolean once = node.marks().renews(m.token()) || c.singleUse();
        if (!known && run(script(c, CertmgrWords.VALIDATE), m.token()).isEmpty()) {
            log.error("node " + m.node() + ": its token is not valid, its certificate is not signed");
            return refused("the token is not valid");
        }
        Optional<String> certificate =
                run(script(c, CertmgrWords.SIGN), m.request()).filter(s -> !s.isBlank());
        String next = known && once ? secret() : "";
        if (certificate.isEmpty()
                || !core.apply(
                        new Command.CertificateSigned(m.node(), next.isEmpty() ? "" : Node.CloudIdentity.hash(next)))) {
            return refused("sign_csr_script failed");
        }
        log.info("signed a certificate for node " + m.node());
        return Reply.of(new SignedCertificate(certificate.get(), next));
    }

    private static String script(CertmgrConf c, String word) {
        return requireNonNull(c.scripts().get(word), "a request is refused where a script is missing");
    }

    private static String secret() {
        byte[] bytes = new byte[SECRET_BYTES];
        RANDOM.nextBytes(bytes);
        return Hash.hex(bytes);
    }

    private static Reply refused(String sentence) {
        return Reply.error(400, SlurmErrno.ERROR, sentence);
    }

    /** Returns the output of the script; empty if it fails. */
    private Optional<String> run(String script, String argument) {
        CompletableFuture<Optional<String>> done = new CompletableFuture<>();
        // requests run on virtual threads: a read of a pipe would pin the carrier thread
        Thread.ofPlatform().daemon().name("certificate").start(() -> done.complete(output(script, argument)));
        return done.join();
    }

    private Optional<String> output(String script, String argument) {
        ProcessBuilder builder = new ProcessBuilder(script, argument)
                .redirectInput(new File("/dev/null"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        try {
            Process p = builder.start();
            CompletableFuture<Void> bound = CompletableFuture.runAsync(
                    () -> {
                        p.descendants().forEach(ProcessHandle::destroyForcibly);
                        p.destroyForcibly();
                    },
                    CompletableFuture.delayedExecutor(SECONDS_MAX, TimeUnit.SECONDS));
            byte[] out = p.getInputStream().readNBytes(OUTPUT_BYTES_MAX);
            int status = p.waitFor();
            bound.cancel(false);
            if (status != 0) {
                log.error(script + " exit status " + (status > 128 ? "0:" + (status - 128) : status + ":0"));
                return Optional.empty();
            }
            return Optional.of(new String(out, StandardCharsets.UTF_8));
        } catch (IOException e) {
            log.error(script + " cannot be run: " + ErrorSentence.of(e));
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
