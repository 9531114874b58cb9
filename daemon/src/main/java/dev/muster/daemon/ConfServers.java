package dev.muster.daemon;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.InitialDirContext;

/**
 * Finds the servers of the configuration for a daemon without options and without a file: SLURM_CONF_SERVER names them,
 * else the records {@code _slurmctld._tcp} of this machine's domains, the lowest priority value first.
 */
public final class ConfServers {
    private static final String SERVICE = "_slurmctld._tcp.";
    private static final String TIMEOUT_MS = "1000";
    private static final String TRIES = "2";
    /** Priority, weight, port, target. */
    private static final Pattern RECORD = Pattern.compile("(\\d+) (\\d+) (\\d+) (\\S+?)\\.?");

    private final Map<String, String> environment;
    private final Path resolver;
    private final String nameServer;

    /** @param nameServer as a URL; {@code dns:} for the one that this machine uses */
    ConfServers(Map<String, String> environment, Path resolver, String nameServer) {
        this.environment = environment;
        this.resolver = resolver;
        this.nameServer = nameServer;
    }

    /**
     * The servers to ask, {@code host[:port]} with commas; empty where a file is to be read.
     *
     * @param configured of {@code --conf-server}, "" for nothing: it goes before all
     * @param file the file that would be read; one that is named, by {@code -f} or SLURM_CONF, goes before all but that
     */
    public static Optional<String> of(String configured, boolean isNamed, File file) {
        return configured.isEmpty() && !isNamed && !file.exists()
                ? new ConfServers(System.getenv(), Path.of("/etc/resolv.conf"), "dns:").find()
                : Optional.of(configured).filter(t -> !t.isEmpty());
    }

    Optional<String> find() {
        String named = environment.getOrDefault("SLURM_CONF_SERVER", "");
        if (!named.isEmpty()) {
            return Optional.of(named);
        }
        for (String domain : domains()) {
            List<String> servers = records(SERVICE + domain);
            if (!servers.isEmpty()) {
                return Optional.of(String.join(",", servers));
            }
        }
        return Optional.empty();
    }

    /** Returns the domains of the last line that names some, as the C library does. */
    private List<String> domains() {
        List<String> domains = List.of();
        try {
            for (String line : Files.readAllLines(resolver, StandardCharsets.ISO_8859_1)) {
                String[] words = line.strip().split("\\s+");
                if (words.length > 1 && (words[0].equals("search") || words[0].equals("domain"))) {
                    domains = List.of(words).subList(1, words.length);
                }
            }
        } catch (IOException e) {
            return List.of(); // no resolver, no domains
        }
        return domains;
    }

    private record Server(int priority, int weight, String place) {}

    @SuppressWarnings({"BanJNDI", "JdkObsolete"
    }) // asks DNS for SRV records, which are no objects; a context takes a Hashtable
    private List<String> records(String name) {
        Hashtable<String, String> how = new Hashtable<>(Map.of(
                Context.INITIAL_CONTEXT_FACTORY,
                "com.sun.jndi.dns.DnsContextFactory",
                Context.PROVIDER_URL,
                nameServer,
                "com.sun.jndi.dns.timeout.initial",
                TIMEOUT_MS,
                "com.sun.jndi.dns.timeout.retries",
                TRIES));
        List<Server> servers = new ArrayList<>();
        try {
            InitialDirContext context = new InitialDirContext(how);
            try {
                Attribute all =
                        context.getAttributes(name, new String[] {"SRV"}).get("SRV");
                for (int i = 0; all != null && i < all.size(); i++) {
                    Matcher matcher = RECORD.matcher(String.valueOf(all.get(i)));
                    if (matcher.matches()) {
                        servers.add(new Server(
                                Integer.parseInt(matcher.group(1)),
                                Integer.parseInt(matcher.group(2)),
                                matcher.group(4) + ":" + matcher.group(3)));
                    }
                }
            } finally {
                context.close();
            }
        } catch (NamingException e) {
            return List.of(); // no such name, or no name server
        }
        return servers.stream()
                .sorted(Comparator.comparingInt(Server::priority)
                        .thenComparing(Server::weight, Comparator.reverseOrder()))
                .map(Server::place)
                .collect(Collectors.toList());
    }
}
