package dev.muster.cli.submit;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.json.Json;
import dev.muster.model.job.X11;
import dev.muster.transport.Frames;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Forwards X11 for {@code --x11} on the caller's side: finds the display and connects programs on the nodes to it. */
public final class X11Forward {
    private static final int PORT_OF_DISPLAY_0 = 6000;
    private static final int RETRY_MS = 300;
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int LIST_BYTES_MAX = 1 << 20;
    private static final int XAUTH_SECONDS = 30;
    private static final int CONNECT_MS = 10_000;
    private static final int NO_DISPLAY_EXIT = 255;
    private static final Pattern DISPLAY = Pattern.compile("(?<host>[^/]*):(?<number>[0-9]{1,5})(\\.[0-9]+)?");
    private static final Pattern COOKIE = Pattern.compile("MIT-MAGIC-COOKIE-1\\s+([0-9a-fA-F]+)");

    private final CommandContext context;
    private final X11.Nodes nodes;
    private final String host;
    private final int number;

    private X11Forward(CommandContext context, X11.Nodes nodes, String host, int number) {
        this.context = context;
        this.nodes = nodes;
        this.host = host;
        this.number = number;
    }

    /** Looks for the caller's display and its cookie, and puts them into what is asked for; empty without --x11. */
    public static Optional<X11Forward> of(CommandContext context, JobOptions options) throws UsageException {
        if (!options.has(JobOption.X11)) {
            return Optional.empty();
        }
        int code = options.exitError(NO_DISPLAY_EXIT);
        String display = context.env("DISPLAY");
        if (display.isEmpty()) {
            throw context.bad(code, "No DISPLAY variable set, cannot setup x11 forwarding.");
        }
        Matcher matcher = DISPLAY.matcher(display);
        if (!matcher.matches()) {
            throw context.bad(code, "Error parsing DISPLAY environment variable. Cannot use X11 forwarding.");
        }
        String host = matcher.group("host").equals("unix") ? "" : matcher.group("host");
        X11Forward forward = new X11Forward(
                context,
                X11.nodes(options.text(JobOption.X11)).orElseThrow(),
                host,
                Integer.parseInt(matcher.group("number")));
        if (host.isEmpty() && !Files.exists(forward.socket())) {
            throw context.bad(code, "Cannot stat() local X11 socket `" + forward.socket() + "`");
        }
        options.forwardDisplay(new X11(forward.nodes, cookie(context, code, display)).text());
        return Optional.of(forward);
    }

    /** Only the nodes of one component would be led to the display. */
    public static void refuseForComponents(CommandContext context, JobOptions options, int components)
            throws UsageException {
        if (options.has(JobOption.X11) && components > 1) {
            throw context.bad(options.exitError(1), "--x11 is for jobs of one component in this version of Muster");
        }
    }

    private static String cookie(CommandContext context, int code, String display) throws UsageException {
        String list;
        try {
            ProcessBuilder builder = new ProcessBuilder("xauth", "list", display)
                    .directory(new File("/"))
                    .redirectInput(new File("/dev/null"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            Process process = builder.start();
            list = new String(process.getInputStream().readNBytes(LIST_BYTES_MAX), StandardCharsets.UTF_8);
            if (!process.waitFor(XAUTH_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException("xauth failed");
            }
        } catch (IOException e) {
            throw context.bad(code, "Problem running xauth command. Cannot use X11 forwarding.");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw context.bad(code, "Problem running xauth command. Cannot use X11 forwarding.");
        }
        Matcher matcher = COOKIE.matcher(list);
        if (!matcher.find()) {
            throw context.bad(code, "x11_get_xauth: Could not retrieve magic cookie. Cannot use X11 forwarding.");
        }
        return matcher.group(1);
    }

    private Path socket() {
        return Path.of("/tmp/.X11-unix/X" + number);
    }

    /** Serves the nodes of the allocation until the command ends. */
    public void serve(Json.Obj allocation) {
        List<Json.Obj> shares = allocation.objects("shares");
        for (int i = 0; i < shares.size(); i++) {
            Json.Obj share = shares.get(i);
            if (new X11(nodes, "").covers(i, shares.size())) {
                context.host().startBackground("x11-" + share.text("node"), () -> follow(allocation, share));
            }
        }
    }

    private static Json.Obj attach(Json.Obj allocation, int connection) {
        return new Json.Obj().put("jobId", allocation.number("jobId")).put("connection", (long) connection);
    }

    /** slurmd opens the display with the job's first step, and may be restarted. */
    private void follow(Json.Obj allocation, Json.Obj share) {
        do {
            try (Frames control = context.host().openStream(share.text("address"), share.integer("port"), "x11")) {
                control.send(Json.print(attach(allocation, 0)));
                while (true) {
                    int connection = Json.object(control.receive()).integer("connection");
                    context.host().startBackground("x11-connection", () -> connect(allocation, share, connection));
                }
            } catch (IOException | SlurmException | Json.MalformedException e) {
                // asked again
            }
        } while (context.host().pause(RETRY_MS));
    }

    /** A display that cannot be reached ends the connection, as it would on this host. */
    private void connect(Json.Obj allocation, Json.Obj share, int connection) {
        try (Frames frames = context.host().openStream(share.text("address"), share.integer("port"), "x11")) {
            frames.send(Json.print(attach(allocation, connection)));
            try (SocketChannel display = open()) {
                OutputStream out = Channels.newOutputStream(display);
                Thread.ofVirtual().start(() -> downwards(display, frames));
                while (true) {
                    out.write(frames.receive());
                    out.flush();
                }
            }
        } catch (IOException | SlurmException e) {
            // either side is gone: both are closed
        }
    }

    private SocketChannel open() throws IOException {
        if (host.isEmpty()) {
            SocketChannel local = SocketChannel.open(StandardProtocolFamily.UNIX);
            local.connect(UnixDomainSocketAddress.of(socket()));
            return local;
        }
        SocketChannel far = SocketChannel.open();
        far.socket().connect(new InetSocketAddress(host, PORT_OF_DISPLAY_0 + number), CONNECT_MS);
        far.socket().setTcpNoDelay(true);
        return far;
    }

    private static void downwards(SocketChannel display, Frames frames) {
        byte[] chunk = new byte[CHUNK_BYTES];
        try (frames;
                InputStream in = Channels.newInputStream(display)) {
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                frames.send(Arrays.copyOf(chunk, n));
            }
        } catch (IOException e) {
            // either side is gone: both are closed
        }
    }
}
