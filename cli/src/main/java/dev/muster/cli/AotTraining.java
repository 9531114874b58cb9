package dev.muster.cli;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Output;
import dev.muster.cli.connection.ProcessHost;
import dev.muster.cli.connection.RequestIds;
import dev.muster.transport.tls.TlsIdentity;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs the everyday commands against canned answers. The installation records the classes that they load in a start-up
 * cache, and the command service compiles them before its first caller. Only a temporary directory is touched.
 */
public final class AotTraining {
    private static final int ROUNDS = 3;
    private static final int ROUNDS_OF_SERVICE = 20;
    private static final String JOB =
            "{\"jobId\":7,\"name\":\"a\",\"userName\":\"u\",\"groupName\":\"g\",\"partition\":\"p\","
                    + "\"state\":\"RUNNING\",\"priority\":5,\"submitTime\":1795256132,\"startTime\":1795256133,"
                    + "\"runSeconds\":9,"
                    + "\"timeLimitMin\":60,\"nodes\":\"n[1-2]\",\"nodeCount\":2,\"cpus\":2,\"batch\":true,"
                    + "\"workDir\":\"/tmp\"}";
    private static final String ANSWER = "{\"now\":1795256134,\"jobId\":7,\"jobs\":[" + JOB
            + "],\"nodes\":[{\"name\":\"n1\","
            + "\"state\":\"IDLE\",\"cpus\":8,\"memoryMb\":4000,\"weight\":1,\"partitions\":[\"p\"]}],"
            + "\"partitions\":[{\"name\":\"p\","
            + "\"isDefault\":true,\"state\":\"UP\",\"nodes\":\"n[1-2]\",\"maxTimeMin\":-1}],\"lines\":[\"A = b\"]}";

    private AotTraining() {}

    /** @param args "tls" for what encrypted connections need as well */
    public static void main(String[] args) throws IOException {
        train(ROUNDS, false, env -> {
            runEveryday(env);
            runOthers(env);
        });
        if (args.length > 0) {
            // a handshake takes a thousand classes of the JDK
            train(ROUNDS, true, AotTraining::runEveryday);
        }
    }

    /** Trains in a background thread before the service has much to do. An error ends the training and nothing else. */
    public static void inBackground() {
        Thread.ofPlatform().daemon().name("warm-up").start(() -> {
            try {
                train(ROUNDS_OF_SERVICE, false, AotTraining::runEveryday);
            } catch (IOException | RuntimeException e) {
                // the first callers wait for the compiler then
            }
        });
    }

    private static void runEveryday(Map<String, String> env) {
        run(env, "squeue");
        run(env, "sinfo");
        run(env, "sbatch", "-H", "--parsable", "-n2", "-t", "5", "--mem=1G", "--wrap=true");
        run(env, "scancel", "7");
        run(env, "scontrol", "show", "job", "7");
    }

    private static void runOthers(Map<String, String> env) {
        run(env, "squeue", "-h", "-o", "%i %T %S", "-u", "root", "-t", "all");
        run(env, "squeue", "-O", "JobID:8,StateLong");
        run(env, "sinfo", "-N", "-l");
        run(env, "scontrol", "show", "node", "n1");
        run(env, "scontrol", "show", "partition");
        run(env, "scontrol", "show", "hostnames", "n[1-3]");
        run(env, "scontrol", "ping");
        run(env, "sacct", "-X", "-P", "-j", "7");
        run(env, "srun", "--test-only", "true");
    }

    private static void train(int rounds, boolean tls, Consumer<Map<String, String>> round) throws IOException {
        File dir = File.createTempFile("muster-training", "");
        if (!dir.delete() || !dir.mkdir()) {
            throw new IOException("no directory to work in: " + dir);
        }
        List<String> files = List.of("training_ca.pem", "training_cert.pem", "training_key.pem");
        try (ServerSocket server =
                tls ? secureServer(dir, files) : new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> serve(server));
            write(
                    new File(dir, "slurm.conf"),
                    "ClusterName=training\nSlurmctldHost=here(127.0.0.1)\nSlurmctldPort="
                            + server.getLocalPort() + "\nAuthType=auth/slurm\n"
                            + (tls ? "TLSType=tls/s2n\nTLSParameters=ca_cert_file=" + dir + "/training_ca.pem\n" : ""));
            write(new File(dir, "slurm.key"), "0123456789012345678901234567890123456789");
            Map<String, String> env = new LinkedHashMap<>();
            env.put("SLURM_CONF", new File(dir, "slurm.conf").getPath());
            env.put("PATH", "/bin:/usr/bin");
            Main.context(new String[] {"squeue"});
            loadRareClasses();
            for (int i = 0; i < rounds; i++) {
                round.accept(env);
            }
        } finally {
            List<String> all = new ArrayList<>(List.of("slurm.conf", "slurm.key"));
            all.addAll(tls ? files : List.of());
            all.add("");
            for (String f : all) {
                if (!new File(dir, f).delete()) {
                    dir.deleteOnExit();
                }
            }
        }
    }

    /** Opens a TLS server with a certificate and an authority for this training alone. */
    private static ServerSocket secureServer(File dir, List<String> files) throws IOException {
        for (String name : files) {
            try (InputStream in = AotTraining.class.getResourceAsStream(name)) {
                Path to = dir.toPath().resolve(name);
                Files.write(to, in.readAllBytes());
                Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rw-------"));
            }
        }
        TlsIdentity identity = new TlsIdentity(
                dir.toPath().resolve("training_cert.pem"), dir.toPath().resolve("training_key.pem"), wrong -> {});
        return identity.context().getServerSocketFactory().createServerSocket(0, 8, InetAddress.getLoopbackAddress());
    }

    /** Loads classes that a command needs only under the launcher, or if a file is missing. */
    @SuppressWarnings("DeadException") // made for its class alone
    private static void loadRareClasses() {
        new RequestIds("00000000").next();
        new java.io.FileNotFoundException();
    }

    private static void write(File file, String text) throws IOException {
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void run(Map<String, String> env, String name, String... args) {
        Output none = new Output(OutputStream.nullOutputStream(), false);
        CommandTable.run(new CommandContext(
                name,
                name,
                List.of(args),
                env,
                new ProcessHost(env, Native.launcher()),
                none,
                none,
                new ByteArrayInputStream(new byte[0])));
    }

    private static void serve(ServerSocket server) {
        byte[] body = ANSWER.getBytes(StandardCharsets.UTF_8);
        byte[] head = ("HTTP/1.1 200 OK\r\nContent-Length: " + body.length
                        + "\r\nContent-Type: application/json\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        while (!server.isClosed()) {
            try {
                Socket s = server.accept();
                Thread.ofPlatform().daemon().start(() -> answer(s, head, body));
            } catch (IOException e) {
                // the training is over
            }
        }
    }

    private static void answer(Socket socket, byte[] head, byte[] body) {
        try (socket) {
            while (readRequest(socket.getInputStream())) {
                socket.getOutputStream().write(head);
                socket.getOutputStream().write(body);
            }
        } catch (IOException e) {
            // the client hung up
        }
    }

    /** Headers and a body of the length they name; false at the end. */
    private static boolean readRequest(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        int length = 0;
        while (true) {
            int c = in.read();
            if (c < 0) {
                return false;
            }
            if (c != '\n') {
                line.append((char) c);
                continue;
            }
            String text = line.toString().strip();
            line.setLength(0);
            if (text.isEmpty()) {
                in.skipNBytes(length);
                return true;
            }
            if (text.regionMatches(true, 0, "content-length:", 0, 15)) {
                length = Integer.parseInt(text.substring(15).strip());
            }
        }
    }
}
