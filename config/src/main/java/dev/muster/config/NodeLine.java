package dev.muster.config;

import dev.muster.config.file.Pairs;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.KeyCheck;
import dev.muster.config.key.Values;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A NodeName line while it is read; the one for DEFAULT is what later lines start from. */
public final class NodeLine {
    private static final List<String> STATES = List.of(
            "UNKNOWN",
            "IDLE",
            "DOWN",
            "DRAIN",
            "FAIL",
            "FAILING",
            "FUTURE",
            "CLOUD",
            "EXTERNAL",
            "UNDRAIN",
            "RESUME",
            "NO_RESPOND");

    private static final long WEIGHT_MAX = Values.U32_MAX - 1;

    String names = "";
    private String hostnames = "";
    private String addresses = "";
    private String bcastAddresses = "";
    private String ports = "";
    private long cpus;
    private long boards;
    private long sockets;
    private long socketsPerBoard;
    private long coresPerSocket;
    private long threadsPerCore;
    private long realMemoryMb = 1;
    private long tmpDiskMb;
    private String features = "";
    private long weight = 1;
    private String gres = "";
    private String state = "UNKNOWN";
    private String reason = "";
    private long memSpecLimitMb;
    private long coreSpecCount;
    private String cpuSpecList = "";
    private String cpuBind = "";
    private String topology = "";
    private long restrictedCoresPerGpu;
    private String suspendTime = "";
    private String parameters = "";
    private String file = "";
    private int line;

    private NodeLine() {}

    static NodeLine builtIn() {
        return new NodeLine();
    }

    /** Reads the pairs after {@code NodeName=…} over a copy of the defaults. */
    static NodeLine read(NodeLine defaults, String names, Pairs pairs, Values values) {
        NodeLine node = defaults.copy();
        node.names = names;
        node.file = values.file();
        node.line = values.line();
        while (pairs.next()) {
            values.text(pairs.rest());
            pairs.warnIfRepeated(values);
            if (!node.set(pairs.key(), pairs.value(), values)) {
                values.error("Parsing error at unrecognized key: " + pairs.key());
            }
        }
        if (!pairs.atEnd()) {
            values.text(pairs.rest()).error("Parsing error");
        }
        return node;
    }

    private NodeLine copy() {
        NodeLine to = new NodeLine();
        to.hostnames = hostnames;
        to.addresses = addresses;
        to.bcastAddresses = bcastAddresses;
        to.ports = ports;
        to.cpus = cpus;
        to.boards = boards;
        to.sockets = sockets;
        to.socketsPerBoard = socketsPerBoard;
        to.coresPerSocket = coresPerSocket;
        to.threadsPerCore = threadsPerCore;
        to.realMemoryMb = realMemoryMb;
        to.tmpDiskMb = tmpDiskMb;
        to.features = features;
        to.weight = weight;
        to.gres = gres;
        to.state = state;
        to.reason = reason;
        to.memSpecLimitMb = memSpecLimitMb;
        to.coreSpecCount = coreSpecCount;
        to.cpuSpecList = cpuSpecList;
        to.cpuBind = cpuBind;
        to.topology = topology;
        to.restrictedCoresPerGpu = restrictedCoresPerGpu;
        to.suspendTime = suspendTime;
        to.parameters = parameters;
        return to;
    }

    private boolean set(String key, String value, Values values) {
        switch (key.toLowerCase(Locale.ROOT)) {
            case "nodehostname" -> hostnames = value;
            case "nodeaddr" -> addresses = value;
            case "bcastaddr" -> bcastAddresses = value;
            case "port" -> ports = value;
            case "cpus", "procs" -> cpus = atLeastOne(key, value, values);
            case "boards" -> boards = values.number(key, value, Values.U16_MAX);
            case "sockets" -> sockets = values.number(key, value, Values.U16_MAX);
            case "socketsperboard" -> socketsPerBoard = values.number(key, value, Values.U16_MAX);
            case "corespersocket" -> coresPerSocket = values.number(key, value, Values.U16_MAX);
            case "threadspercore" -> threadsPerCore = values.number(key, value, Values.U16_MAX);
            case "realmemory" -> realMemoryMb = values.number(key, value, Long.MAX_VALUE);
            case "tmpdisk" -> tmpDiskMb = values.number(key, value, Values.U32_MAX);
            case "feature", "features" -> features = value;
            case "weight" -> weight = weight(key, value, values);
            case "gres" -> gres = value;
            case "state" -> state = state(value, names, values);
            case "reason" -> reason = value;
            case "memspeclimit" -> memSpecLimitMb = values.number(key, value, Long.MAX_VALUE);
            case "corespeccount" -> coreSpecCount = values.number(key, value, Values.U16_MAX);
            case "cpuspeclist" -> cpuSpecList = value;
            case "cpubind" -> cpuBind = KeyCheck.cpuBind(value, values);
            case "topology" -> topology = value;
            case "restrictedcorespergpu" -> restrictedCoresPerGpu = values.number(key, value, Values.U32_MAX);
            case "suspendtime" -> suspendTime = KeyCheck.suspendTime(value, values);
            case "parameters" -> parameters = value;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** A number of CPUs; the line leaves it open where this is 0. */
    private long atLeastOne(String key, String value, Values values) {
        long number = values.number(key, value, Values.U16_MAX);
        if (number == 0 && Values.count(value) == 0) {
            values.warning("NodeNames=" + names + " " + key + "=0 is invalid, reset to 1");
            return 1;
        }
        return number;
    }

    private static long weight(String key, String value, Values values) {
        long weight = values.number(key, value, Values.U32_MAX);
        return weight == Values.UNLIMITED ? WEIGHT_MAX : Math.min(weight, WEIGHT_MAX);
    }

    static String state(String value, String names, Values values) {
        String upper = value.toUpperCase(Locale.ROOT);
        if (!STATES.contains(upper)) {
            values.error("Invalid state " + value + " from " + names);
        }
        return upper;
    }

    /** Adds a node for every name of the line. */
    void expand(int defaultPort, List<NodeConf> to, List<ConfigError> warnings, Values values) {
        values.at(file, line, names);
        HostList all = values.hosts(names, "NodeName");
        if (names.equalsIgnoreCase("ALL")) {
            values.error("'" + names + "' is a reserved word disallowed for use with NodeName");
        }
        HostList hosts = perNode(hostnames, "NodeHostname", all.size(), values);
        HostList addrs = perNode(addresses, "NodeAddr", all.size(), values);
        HostList bcasts = perNode(bcastAddresses, "BcastAddr", all.size(), values);
        String bracketed = ports.isEmpty() || ports.startsWith("[")
                ? ports
                : "[".concat(ports).concat("]");
        HostList portList = perNode(bracketed, "Port", all.size(), values);
        derive(warnings);
        deriveSpecialized(warnings);
        List<String> featureList = Values.list(features);
        List<NodeConf.Gres> gresList = gres(gres, values);
        List<String> nameList = all.names();
        List<String> hostList = hosts.names();
        List<String> addrList = addrs.names();
        List<String> bcastList = bcasts.names();
        List<String> ports = portList.names();
        for (int i = 0; i < nameList.size(); i++) {
            String name = nameList.get(i);
            String host = pick(hostList, i, name);
            int port = ports.isEmpty() ? defaultPort : port(pick(ports, i, ""), values);
            to.add(new NodeConf(
                    name,
                    host,
                    pick(addrList, i, host),
                    pick(bcastList, i, ""),
                    port,
                    (int) cpus,
                    (int) boards,
                    (int) sockets,
                    (int) coresPerSocket,
                    (int) threadsPerCore,
                    realMemoryMb,
                    tmpDiskMb,
                    featureList,
                    (int) weight,
                    gresList,
                    gres,
                    state,
                    reason,
                    memSpecLimitMb,
                    (int) coreSpecCount,
                    cpuSpecList,
                    cpuBind,
                    topology,
                    (int) restrictedCoresPerGpu,
                    suspendTime,
                    parameters,
                    file,
                    line));
        }
    }

    private static String pick(List<String> from, int index, String otherwise) {
        if (from.isEmpty()) {
            return otherwise;
        }
        if (from.size() == 1) {
            return from.getFirst();
        }
        return from.get(index);
    }

    private static int port(String text, Values values) {
        long port = Values.count(text);
        if (port < 1 || port > Values.U16_MAX) {
            values.error("Invalid Port " + text);
            return 0;
        }
        return (int) port;
    }

    private static HostList perNode(String text, String key, int count, Values values) {
        if (text.isEmpty()) {
            return HostList.empty();
        }
        HostList list = values.hosts(text, key);
        if (list.size() > 1 && list.size() != count) {
            values.error(key + " count must equal that of NodeName records or there must be no more than one ("
                    + list.size() + " != " + count + ")");
            return HostList.empty();
        }
        return list;
    }

    /** Fills in what the line leaves open about sockets and CPUs, as Slurm does. */
    private void derive(List<ConfigError> warnings) {
        boards = Math.max(boards, 1);
        coresPerSocket = Math.max(coresPerSocket, 1);
        threadsPerCore = Math.max(threadsPerCore, 1);
        if (socketsPerBoard > 0) {
            if (sockets > 0) {
                warnings.add(new ConfigError(
                        file,
                        line,
                        "NodeNames=" + names + " Sockets=# and SocketsPerBoard=# is invalid , using SocketsPerBoard",
                        names));
            }
            sockets = boards * socketsPerBoard;
        }
        long perSocket = coresPerSocket * threadsPerCore;
        if (sockets <= 0) {
            sockets = cpus > 0 ? Math.max(cpus / perSocket, 1) : boards;
        }
        long all = sockets * perSocket;
        if (cpus <= 0) {
            cpus = all;
        } else if (cpus != sockets && cpus != sockets * coresPerSocket && cpus != all) {
            warnings.add(new ConfigError(
                    file,
                    line,
                    "NodeNames=" + names + " CPUs=" + cpus + " match no Sockets, "
                            + "Sockets*CoresPerSocket or Sockets*CoresPerSocket*ThreadsPerCore. Resetting CPUs.",
                    names));
            cpus = all;
        }
    }

    /** Corrects numbers of specialized cores and memory that leave nothing for jobs, as Slurm does. */
    private void deriveSpecialized(List<ConfigError> warnings) {
        if (coreSpecCount > 0 && !cpuSpecList.isEmpty()) {
            reset(warnings, "CoreSpecCount=" + coreSpecCount + " is invalid with CPUSpecList, reset to 0");
            coreSpecCount = 0;
        } else if (coreSpecCount > 0 && coreSpecCount >= sockets * coresPerSocket) {
            reset(warnings, "CoreSpecCount=" + coreSpecCount + " is invalid, reset to 1");
            coreSpecCount = 1;
        }
        if (memSpecLimitMb > 0 && memSpecLimitMb >= realMemoryMb) {
            reset(warnings, "MemSpecLimit=" + memSpecLimitMb + " is invalid, reset to 0");
            memSpecLimitMb = 0;
        }
        if (!cpuSpecList.isEmpty() && !areCpus(cpuSpecList)) {
            reset(
                    warnings,
                    "CpuSpecList=" + cpuSpecList + " - unable to convert it to bitmap of size CPUs=" + cpus
                            + ". Ignoring CpuSpecList.");
            cpuSpecList = "";
        }
    }

    private void reset(List<ConfigError> warnings, String sentence) {
        warnings.add(new ConfigError(file, line, "NodeNames=" + names + " " + sentence, names));
    }

    /** Returns whether a list such as 0,2-3 has only numbers of this node's CPUs. */
    private boolean areCpus(String list) {
        for (String range : Values.list(list)) {
            int dash = range.indexOf('-');
            long first = Values.count(dash < 0 ? range : range.substring(0, dash));
            long last = dash < 0 ? first : Values.count(range.substring(dash + 1));
            if (first < 0 || last < first || last >= cpus) {
                return false;
            }
        }
        return true;
    }

    /** Reads {@code name[:type][:no_consume][:count]} parts. */
    static List<NodeConf.Gres> gres(String text, Values values) {
        if (text.isEmpty() || text.equalsIgnoreCase("(null)")) {
            return List.of();
        }
        List<NodeConf.Gres> found = new ArrayList<>();
        for (String part : Values.list(text)) {
            int paren = part.indexOf('(');
            String[] words = split(paren < 0 ? part : part.substring(0, paren));
            String type = "";
            boolean noConsume = false;
            long count = 1;
            for (int i = 1; i < words.length; i++) {
                long number = Values.count(words[i]);
                if (words[i].equalsIgnoreCase("no_consume")) {
                    noConsume = true;
                } else if (number >= 0 && i == words.length - 1) {
                    count = number;
                } else if (type.isEmpty()) {
                    type = words[i];
                } else {
                    values.error("Invalid GRES data for " + words[0] + ", " + part);
                    break;
                }
            }
            found.add(new NodeConf.Gres(words[0], type, count, noConsume));
        }
        return List.copyOf(found);
    }

    private static String[] split(String part) {
        List<String> words = new ArrayList<>();
        int from = 0;
        for (int colon = part.indexOf(':'); colon >= 0; colon = part.indexOf(':', from)) {
            words.add(part.substring(from, colon));
            from = colon + 1;
        }
        words.add(part.substring(from));
        return words.toArray(new String[0]);
    }
}
