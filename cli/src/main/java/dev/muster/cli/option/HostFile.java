package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.model.format.HostList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a file of hosts (SLURM_HOSTFILE, -F, -w FILE): one entry for each task, by lines, commas and ranges. {@code #}
 * begins a comment.
 */
public final class HostFile {
    private static final int BYTES_MAX = 4 << 20;

    private HostFile() {}

    /** Returns the entries separated by commas, with repetitions. */
    public static String list(CommandContext context, String path) throws IOException {
        StringBuilder out = new StringBuilder();
        for (String line : Texts.split(
                RawText.decode(context.host()
                        .readFile(Texts.absolute(path, context.host().workDir()), BYTES_MAX)),
                '\n')) {
            int hash = line.indexOf('#');
            for (String word : Texts.words((hash < 0 ? line : line.substring(0, hash)))) {
                out.append(out.isEmpty() ? "" : ",").append(word);
            }
        }
        return out.toString();
    }

    /** Reads SLURM_HOSTFILE like {@link #list}. */
    public static String read(CommandContext context, String path) throws UsageException {
        try {
            return list(context, path);
        } catch (IOException e) {
            throw new UsageException(
                    context.exitError(1),
                    List.of(
                            context.name() + ": error: slurm_allocate_resources error opening file "
                                    + (path.indexOf('/') < 0 ? "./" : "") + path + ", No such file or directory",
                            context.name() + ": error: Failure getting NodeNames from hostfile"));
        }
    }

    /** The hosts of a list in its order, ranges spread out. */
    public static List<String> names(String list) {
        List<String> out = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= list.length(); i++) {
            char c = i == list.length() ? ',' : list.charAt(i);
            if (c == '[') {
                depth++;
            } else if (c == ']') {
                depth--;
            }
            if (c == ',' && depth <= 0) {
                if (i > start && HostList.parse(list.substring(start, i)) instanceof HostList.Parsed.Ok ok) {
                    out.addAll(ok.list().names());
                }
                start = i + 1;
            }
        }
        return out;
    }
}
