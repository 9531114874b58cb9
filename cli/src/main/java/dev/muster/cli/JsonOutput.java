package dev.muster.cli;

import dev.muster.cli.shape.Names;
import dev.muster.cli.shape.Tree;
import dev.muster.model.Json;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;

/** What commands print for {@code --json} and {@code --yaml}: a tree and its envelope. */
public final class JsonOutput {
    /** The shapes are those of data parser v0.0.45. */
    private static final String PARSER = "data_parser/v0.0.45";
    private static final String[] PARSERS = {"", "v0.0.45", "data_parser/v0.0.45", "latest"};
    private static final List<String> OLDER = List.of("data_parser/v0.0.42", "data_parser/v0.0.43", "data_parser/v0.0.44");

    private JsonOutput() {}

    static Names names(CommandContext c) {
        return new Names(cluster(c), c.host()::userName);
    }

    private static String cluster(CommandContext c) {
        return c.host().clusters().isEmpty() ? "" : c.host().clusters().getFirst();
    }

    /** Prints the answer with its envelope. @param parser what was written behind {@code --json=} */
    public static int print(CommandContext c, String form, String parser, Json.Obj answer) throws UsageException {
        if (parser.equals("list")) {
            c.out().println("Possible data_parser plugins:\n" + PARSER);
            return 0;
        }
        boolean known = false;
        for (String p : PARSERS) {
            known |= p.equals(parser) || parser.startsWith(p + "+") && !p.isEmpty();
        }
        if (!known) {
            String plugin = parser.startsWith("data_parser/") ? parser : "data_parser/" + parser;
            if (OLDER.contains(plugin)) {
                throw c.bad(1, "--" + form + "=" + parser + ": only data parser v0.0.45 is served");
            }
            throw new UsageException(1, List.of(c.name() + ": error: load_plugins: unable to find plugin: " + plugin,
                    c.name() + ": error: data_parser_g_new: failure loading plugins: Plugin has invalid format or unable to be loaded",
                    c.name() + ": error: application/" + (form.equals("yaml") ? "x-yaml" : form) + " output not supported by " + PARSER));
        }
        String flags = parser.indexOf('+') < 0 ? "" : parser.substring(parser.indexOf('+') + 1);
        if (flags.equalsIgnoreCase("complex")) {
            throw c.bad(1, "--" + form + "=" + parser + ": the flag complex is not supported by this version");
        }
        if (!flags.isEmpty() && !Texts.lower(flags).matches("none|fast")) {
            c.err().println(c.name() + ": warning: " + PARSER + " ignoring unknown flag " + flags);
        }
        Json.Obj slurm = new Json.Obj()
                .put("version", Tree.release())
                .put("release", Release.VERSION).put("cluster", cluster(c));
        List<Object> command = new ArrayList<>();
        command.add(c.name());
        command.addAll(c.args());
        Json.Obj meta = new Json.Obj()
                .put("plugin", new Json.Obj().put("type", "").put("name", "").put("data_parser", PARSER)
                        .put("accounting_storage", ""))
                .put("client", new Json.Obj().put("source", "").put("user", c.host().userName(c.host().uid()))
                        .put("group", ""))
                .put("command", command).put("slurm", slurm);
        answer.put("meta", meta).put("errors", new ArrayList<Object>()).put("warnings", new ArrayList<Object>());
        List<String> words = Texts.split(Texts.lower(c.env(form.equals("json") ? "SLURM_JSON" : "SLURM_YAML")), ',');
        Tree.document(form, answer, words.lastIndexOf("compact") > words.lastIndexOf("pretty"), !words.contains("no_tag"),
                c.out()::print);
        return 0;
    }
}
