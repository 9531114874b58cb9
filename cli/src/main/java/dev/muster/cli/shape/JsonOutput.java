package dev.muster.cli.shape;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Prints {@code --json} and {@code --yaml}: a tree and its envelope. */
public final class JsonOutput {
    /** Layouts of answers, set by SLURM_JSON and SLURM_YAML. */
    private static final String LAYOUTS = "pretty|compact|no_tag|complex|";

    private JsonOutput() {}

    public static Names names(CommandContext context) {
        return new Names(cluster(context), context.host()::userName);
    }

    private static String cluster(CommandContext context) {
        return context.host().clusters().isEmpty()
                ? ""
                : context.host().clusters().getFirst();
    }

    /**
     * Checks the option while the command line is parsed. {@code list} prints the data parsers and ends the command.
     *
     * @param form json or yaml
     * @param text the option's value, behind {@code --json=}
     * @return the same text
     */
    public static String requireParser(CommandContext context, String form, String text) throws UsageException {
        if (text.equals("list")) {
            context.out().println("Possible data_parser plugins:\n" + String.join("\n", DataParser.all()));
            throw new UsageException(0, List.of());
        }
        parser(context, form, text);
        return text;
    }

    private static DataParser parser(CommandContext context, String form, String text) throws UsageException {
        Optional<DataParser> known = DataParser.parse(text);
        if (known.isPresent()) {
            return known.get();
        }
        int plus = text.indexOf('+');
        String name = (plus < 0 ? text : text.substring(0, plus)).replace("data_parser/", "");
        List<String> why = name.isEmpty()
                ? List.of("data_parser_g_new: unable to find plugin ")
                : List.of(
                        "load_plugins: unable to find plugin: data_parser/" + name,
                        "data_parser_g_new: failure loading plugins: Plugin has invalid format or unable to be loaded");
        List<String> lines = new ArrayList<>();
        why.forEach(line -> lines.add(context.name() + ": error: " + line));
        lines.add(context.name() + ": error: application/" + (form.equals("yaml") ? "x-yaml" : form)
                + " output not supported by data_parser/v0.0." + DataParser.NEWEST);
        int exit = switch (context.name()) {
            case "sacct" -> 0;
            case "sdiag", "sshare" -> 253;
            default -> 1;
        };
        throw new UsageException(exit, lines);
    }

    /** "" without accounting. */
    private static String accounting(CommandContext context) {
        String type = context.host().accountingType();
        return type.endsWith("/none") ? "" : type;
    }

    /**
     * Returns the requested version of the shapes.
     *
     * @param text the option's value, behind {@code --json=}
     */
    public static int version(String text) {
        return DataParser.parse(text).map(DataParser::version).orElse(DataParser.NEWEST);
    }

    /**
     * Refuses a data parser without a shape for the requested answer.
     *
     * @param since last part of the first version with the shape
     */
    public static void require(CommandContext context, String form, String text, int since, int exitCode)
            throws UsageException {
        if (version(text) < since) {
            throw context.bad(
                    exitCode,
                    "--" + form + "=" + text + ": data parsers before v0.0." + since + " have no shape for this");
        }
    }

    /**
     * Prints the answer with its envelope.
     *
     * @param text the option's value, behind {@code --json=}
     */
    public static int print(CommandContext context, String form, String text, Json.Obj answer) throws UsageException {
        DataParser parser = parser(context, form, text);
        String variable = context.env(form.equals("json") ? "SLURM_JSON" : "SLURM_YAML");
        List<String> words = Texts.split(Texts.lower(variable), ',');
        if (!words.stream().allMatch(word -> word.matches(LAYOUTS))) {
            throw new UsageException(
                    1,
                    List.of(context.name() + ": fatal: Unable to parse serializer \"" + variable
                            + "\" flags: Invalid argument"));
        }
        parser.notes().forEach(note -> context.err().println(context.name() + ": " + note));
        Json.Obj slurm = new Json.Obj()
                .put("version", Tree.release())
                .put("release", Release.VERSION)
                .put("cluster", cluster(context));
        List<Object> command = new ArrayList<>();
        command.add(context.name());
        command.addAll(context.args());
        Json.Obj meta = new Json.Obj()
                .put(
                        "plugin",
                        new Json.Obj()
                                .put("type", "")
                                .put("name", "")
                                .put("data_parser", parser.name())
                                .put("accounting_storage", accounting(context)))
                .put(
                        "client",
                        new Json.Obj()
                                .put("source", "")
                                .put(
                                        "user",
                                        context.host().userName(context.host().uid()))
                                .put(
                                        "group",
                                        context.host().groupName(context.host().gid())))
                .put("command", command)
                .put("slurm", slurm);
        List<Object> warnings = new ArrayList<>();
        if (answer.raw("warnings") instanceof List<?> ownWarnings) {
            warnings.addAll(ownWarnings);
        }
        answer.put("meta", meta).put("errors", new ArrayList<Object>()).put("warnings", warnings);
        Tree.document(
                form,
                parser.shaped(answer),
                words.lastIndexOf("compact") > words.lastIndexOf("pretty"),
                !words.contains("no_tag"),
                context.out()::print);
        return 0;
    }
}
