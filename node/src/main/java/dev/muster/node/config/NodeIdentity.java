package dev.muster.node.config;

import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.daemon.Sessions;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.ApiError;
import dev.muster.model.api.ClusterMessages.AssignNode;
import dev.muster.model.api.ClusterMessages.AssignedNode;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Hardware;
import dev.muster.node.hardware.GpuProbe;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which node this slurmd is: one of slurm.conf, one that it describes itself (-Z), or a FUTURE one that slurmctld gives
 * it (-F).
 */
public final class NodeIdentity {
    private static final int ASK_TIMEOUT_MS = 10_000;
    private static final List<String> SHAPE =
            List.of("cpus", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore");

    private NodeIdentity() {}

    public sealed interface Answer {}

    /**
     * @param line of -Z: as it would stand in slurm.conf; else ""
     * @param detected the devices in the line that the node itself has found
     */
    public record Found(NodeConf node, String line, String detected) implements Answer {
        public Found(NodeConf node, String line) {
            this(node, line, "");
        }
    }

    public record Unknown(String sentence) implements Answer {}

    public static Answer dynamic(SlurmConf conf, SlurmdOptions options, String hostname, Hardware real) {
        String name = options.nodeName().isEmpty() ? shortName(hostname) : options.nodeName();
        List<String> keys = new ArrayList<>();
        for (String word : options.dynamicConf().trim().split("[ \t]+")) {
            String key = word.toLowerCase(Locale.ROOT).split("=", 2)[0];
            if (key.equals("nodename")) {
                return new Unknown("option 'NodeName=' not allowed in --conf");
            }
            keys.add(key);
        }
        StringBuilder line = new StringBuilder("NodeName=")
                .append(name)
                .append(" NodeHostname=")
                .append(shortName(hostname));
        if (!keys.contains("port")) {
            line.append(" Port=").append(conf.slurmdPort());
        }
        if (!keys.contains("nodeaddr")) {
            line.append(" NodeAddr=").append(ownAddress(conf));
        }
        if (keys.stream().noneMatch(SHAPE::contains)) {
            line.append(" CPUs=")
                    .append(real.cpus())
                    .append(" Boards=")
                    .append(real.boards())
                    .append(" SocketsPerBoard=")
                    .append(real.sockets())
                    .append(" CoresPerSocket=")
                    .append(real.coresPerSocket())
                    .append(" ThreadsPerCore=")
                    .append(real.threadsPerCore());
        }
        if (!keys.contains("realmemory")) {
            line.append(" RealMemory=").append(real.memoryMb());
        }
        String rest = options.dynamicConf().trim();
        String gres = Stream.of(rest.split("[ \t]+"))
                .filter(w -> w.toLowerCase(Locale.ROOT).startsWith("gres="))
                .map(w -> w.substring(5))
                .findFirst()
                .orElse("");
        String gpus = GpuProbe.ofLine(conf, name, gres);
        if (!gpus.isEmpty()) {
            rest = gres.isEmpty() ? rest + " Gres=" + gpus : rest.replace(gres, gres + "," + gpus);
        }
        line.append(rest.isEmpty() ? "" : " " + rest.trim());
        return ofLine(conf, line.toString()) instanceof Found f
                ? new Found(f.node(), f.line(), gpus)
                : ofLine(conf, line.toString());
    }

    public static Answer ofLine(SlurmConf conf, String line) {
        List<ConfigError> errors = new ArrayList<>();
        List<NodeConf> nodes = conf.nodesOf(line, errors);
        if (!errors.isEmpty() || nodes.size() != 1) {
            return new Unknown("Invalid --conf: "
                    + (errors.isEmpty() ? line : errors.getFirst().sentence()));
        }
        return new Found(nodes.getFirst(), line);
    }

    /** The address from which the controller is reached: where it may reach this node. */
    private static String ownAddress(SlurmConf conf) {
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(new InetSocketAddress(
                    conf.controllers().getFirst().address(),
                    conf.slurmctldPorts().getFirst()));
            return probe.getLocalAddress().getHostAddress();
        } catch (IOException | RuntimeException e) {
            return "127.0.0.1";
        }
    }

    public static String shortName(String hostname) {
        return hostname.contains(".") ? hostname.substring(0, hostname.indexOf('.')) : hostname;
    }

    public static Answer future(
            SlurmConf conf, Sessions sessions, SlurmdOptions options, String hostname, Hardware real) {
        String name = options.nodeName().isEmpty() ? shortName(hostname) : options.nodeName();
        AssignNode question =
                new AssignNode(name, ownAddress(conf), 0, options.future().orElse(""), real);
        String why = "";
        for (var controller : conf.controllers()) {
            for (int port : conf.slurmctldPorts()) {
                try (Client client = sessions.client(controller.address(), port).to(Audience.SLURMCTLD)) {
                    Client.Response r = client.post("/muster/v1/AssignNode", Codec.encode(question), ASK_TIMEOUT_MS);
                    if (r.status() != 200) {
                        return new Unknown(
                                Codec.decode(r.body(), ApiError.class).error());
                    }
                    String given = Codec.decode(r.body(), AssignedNode.class).node();
                    Optional<NodeConf> node = conf.node(given);
                    return node.isPresent()
                            ? new Found(node.get(), "")
                            : new Unknown("node " + given + " is not in " + conf.file());
                } catch (IOException | Json.MalformedException | IllegalStateException e) {
                    why = controller.address() + ":" + port + ": " + ErrorSentence.of(e);
                }
            }
        }
        return new Unknown("slurmctld does not say which FUTURE node this is: " + why);
    }
}
