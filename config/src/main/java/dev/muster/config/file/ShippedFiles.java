package dev.muster.config.file;

import static java.util.Objects.requireNonNull;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Files for nodes without configuration: slurm.conf, its sisters, what these include, and the prologs and epilogs that
 * are named without a leading slash. A file that is named by an absolute path must be on every node already.
 */
public final class ShippedFiles {
    private static final List<String> SISTERS = List.of(
            "acct_gather.conf",
            "burst_buffer.conf",
            "cgroup.conf",
            "cli_filter.lua",
            "gres.conf",
            "helpers.conf",
            "job_container.conf",
            "knl.conf",
            "knl_generic.conf",
            "mpi.conf",
            "namespace.yaml",
            "oci.conf",
            "plugstack.conf",
            "resources.yaml",
            "scrun.lua",
            "topology.conf",
            "topology.yaml");
    private static final Pattern INCLUDE = Pattern.compile("(?im)^[ \\t]*include[ \\t]+([^ \\t#\\r\\n]+)");
    private static final int FILES_MAX = 4096;

    private ShippedFiles() {}

    /** Files by the name under which they stand beside slurm.conf. */
    public static Map<String, File> of(SlurmConf conf) throws IOException {
        Path directory = requireNonNull(
                new File(conf.file()).getAbsoluteFile().toPath().getParent(), "slurm.conf is no root directory");
        Map<String, File> found = new TreeMap<>();
        found.put("slurm.conf", new File(conf.file()));
        for (String name : SISTERS) {
            File sister = conf.sister(name);
            if (sister.isFile()) {
                found.put(name, sister);
            }
        }
        for (File file : List.copyOf(found.values())) {
            included(file, directory, conf, found);
        }
        for (Key key : List.of(Key.PROLOG, Key.EPILOG)) {
            for (String pattern : conf.list(key)) {
                if (!pattern.startsWith("/")) {
                    add(pattern, directory, found);
                }
            }
        }
        return found;
    }

    private static void included(File file, Path directory, SlurmConf conf, Map<String, File> found)
            throws IOException {
        Matcher matcher = INCLUDE.matcher(Files.readString(file.toPath(), StandardCharsets.ISO_8859_1));
        while (matcher.find()) {
            String name = matcher.group(1).replace("%c", conf.clusterName());
            if (!name.startsWith("/")) {
                for (File one : add(name, directory, found)) {
                    included(one, directory, conf, found);
                }
            }
        }
    }

    /** Answers those that were not there yet. */
    private static List<File> add(String pattern, Path directory, Map<String, File> found) throws IOException {
        Path path = directory.resolve(pattern).normalize();
        Path parent = path.getParent();
        List<File> fresh = new ArrayList<>();
        if (!path.startsWith(directory) || parent == null || !Files.isDirectory(parent)) {
            return fresh;
        }
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(parent, path.getFileName().toString())) {
            for (Path one : all) {
                String name = directory.relativize(one).toString();
                if (Files.isRegularFile(one)
                        && found.size() < FILES_MAX
                        && found.putIfAbsent(name, one.toFile()) == null) {
                    fresh.add(one.toFile());
                }
            }
        }
        return fresh;
    }
}
