package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.CommandRunner;
import dev.muster.cli.command.UsageException;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Runs {@code qsub}: submits a batch script with PBS's options. */
public final class Qsub extends Wrapper {
    private static final int SCRIPT_BYTES_MAX = 4 << 20;

    public Qsub(CommandRunner runner) {
        super(
                runner,
                "[script [args...]]",
                "a::r",
                "A::r",
                "b::r",
                "cwd::n",
                "e::r",
                "h::n",
                "I::n",
                "J::r",
                "j::r",
                "l::r",
                "m::r",
                "M::r",
                "N::r",
                "o::r",
                "p::r",
                "P::r",
                "pe::r",
                "q::r",
                "r::r",
                "S::r",
                "t::r",
                "v::r",
                "V::n",
                "W::r",
                "wd::r");
    }

    @Override
    boolean startsProgram() {
        return true;
    }

    @Override
    int go(CommandContext context, ParsedArguments arguments) throws UsageException {
        List<String> operands = new ArrayList<>(arguments.operands());
        if (arguments.has("pe")) { // its value is two words: the kind and the number
            if (!arguments.value("pe").equals("shm") || operands.isEmpty()) {
                throw refused(context, "-pe takes the word shm and a number of CPUs for each task");
            }
            operands = rest(context, arguments, operands);
        }
        boolean wraps = arguments.value("b").equals("y");
        List<String> args = new ArrayList<>();
        options(context, arguments, args);
        if (arguments.has("I")) {
            if (!operands.isEmpty()) {
                throw refused(context, "-I takes no script");
            }
            if (args.stream().noneMatch(a -> a.startsWith("-N"))) {
                args.add("-N1");
            }
            return delegate(context, "salloc", args);
        }
        streams(context, arguments, operands, wraps, args);
        args.add("--parsable");
        if (wraps) {
            if (operands.isEmpty()) {
                throw misused(context, "-b y needs a command");
            }
            if (!arguments.has("N")) {
                args.add("-J" + base(operands.getFirst()));
            }
            args.add("--wrap=" + String.join(" ", operands));
        } else {
            args.addAll(operands);
        }
        Ran ran = capture(context, "sbatch", args);
        if (ran.rc() == 0) {
            context.out().println(ran.out().strip().replaceFirst(";.*", ""));
        }
        return ran.rc();
    }

    /** Reads the words behind the number of -pe as options again. */
    private List<String> rest(CommandContext context, ParsedArguments arguments, List<String> operands)
            throws UsageException {
        arguments.values().put("pe", List.of(operands.getFirst()));
        CommandContext more = new CommandContext(
                context.name(),
                context.program(),
                operands.subList(1, operands.size()),
                context.env(),
                context.host(),
                context.out(),
                context.err(),
                context.in());
        ParsedArguments behind = ParsedArguments.parse(this, more, true);
        arguments.values().putAll(behind.values());
        return new ArrayList<>(behind.operands());
    }

    private void options(CommandContext context, ParsedArguments arguments, List<String> args) throws UsageException {
        for (var entry : arguments.values().entrySet()) {
            for (String value : entry.getValue()) {
                option(context, entry.getKey(), value, args);
            }
        }
        if (arguments.has("v") || arguments.has("V")) {
            List<String> names = new ArrayList<>(arguments.all("v"));
            if (arguments.has("V")) {
                names.addFirst("ALL");
            }
            args.add("--export=" + String.join(",", names));
        }
    }

    private void option(CommandContext context, String name, String value, List<String> args) throws UsageException {
        switch (name) {
            case "a" -> args.add("--begin=" + begin(context, value));
            case "A" -> args.add("--account=" + value);
            case "h" -> args.add("-H");
            case "J", "t" -> args.add("--array=" + value);
            case "l" -> args.addAll(PbsResources.options(context, value));
            case "m" -> mail(context, value, args);
            case "M" -> args.add("--mail-user=" + value);
            case "N" -> args.add("-J" + value);
            case "p" -> args.add("--nice=" + value);
            case "P" -> args.add("--wckey=" + value);
            case "pe" -> args.add("--cpus-per-task=" + value);
            case "q" -> args.add("-p" + value);
            case "r" -> args.add(yes(context, "-r", value) ? "--requeue" : "--no-requeue");
            case "b" -> yes(context, "-b", value);
            case "S" -> context.err().println("option -S is ignored, specify shell via #!<shell> in the job script");
            case "W" -> attributes(context, value, args);
            case "wd" -> args.add("-D" + value);
            case "j" -> {
                if (!List.of("oe", "eo", "n", "y").contains(value)) {
                    throw refused(context, "-j: oe, eo, y or n, not " + value);
                }
            }
            default -> {} // cwd is how it is anyway; e, o, v, V and I are looked at elsewhere
        }
    }

    static boolean yes(CommandContext context, String option, String value) throws UsageException {
        if (!value.equals("y") && !value.equals("n")) {
            throw refused(context, option + ": y or n, not " + value);
        }
        return value.equals("y");
    }

    private static void mail(CommandContext context, String letters, List<String> args) throws UsageException {
        List<String> types = new ArrayList<>();
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            types.add(
                    switch (letter) {
                        case 'a' -> "FAIL";
                        case 'b' -> "BEGIN";
                        case 'e' -> "END";
                        case 'n' -> "NONE";
                        default -> throw refused(context, "-m: the letters a, b, e or n, not " + letter);
                    });
        }
        args.add("--mail-type=" + String.join(",", types));
    }

    /** {@code depend=afterok:1,afterany:2,block=true}: a word without = belongs to the attribute before it. */
    private static void attributes(CommandContext context, String text, List<String> args) throws UsageException {
        List<String> found = new ArrayList<>();
        for (String word : text.split(",")) {
            if (word.indexOf('=') < 0 && !found.isEmpty()) {
                found.set(found.size() - 1, found.getLast() + "," + word);
            } else {
                found.add(word);
            }
        }
        for (String one : found) {
            int equalSign = one.indexOf('=');
            String value = one.substring(equalSign + 1);
            switch (equalSign < 0 ? one : one.substring(0, equalSign)) {
                case "depend" -> args.add("--dependency=" + value);
                case "group_list" -> args.add("--account=" + value);
                case "block" -> {
                    if (value.equals("true")) {
                        args.add("--wait");
                    }
                }
                default -> throw refused(context, "-W " + one + " is not supported: depend, group_list and block are");
            }
        }
    }

    /** PBS's {@code [[[[CC]YY]MM]DD]hhmm[.SS]}; anything else is left to sbatch. */
    static String begin(CommandContext context, String text) {
        if (!Pattern.matches("(\\d{4}|\\d{6}|\\d{8}|\\d{10}|\\d{12})(\\.\\d\\d)?", text)) {
            return text;
        }
        String digits = text.substring(0, text.length() - (text.indexOf('.') < 0 ? 0 : 3));
        String seconds = text.indexOf('.') < 0 ? "" : ":" + text.substring(text.length() - 2);
        LocalDateTime now = LocalDateTime.ofInstant(
                Instant.ofEpochMilli(context.host().nowMs()), context.host().zone());
        String whole = now.getYear() + pad(now.getMonthValue()) + pad(now.getDayOfMonth());
        String d = whole.substring(0, 12 - digits.length()) + digits;
        String time = d.substring(8, 10) + ":" + d.substring(10) + seconds;
        return digits.length() == 4
                ? time
                : d.substring(0, 4) + "-" + d.substring(4, 6) + "-" + d.substring(6, 8) + "T" + time;
    }

    static String base(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** {@code job.oNNN} and {@code job.eNNN}, unless told otherwise, here or in the script. */
    private static void streams(
            CommandContext context,
            ParsedArguments arguments,
            List<String> operands,
            boolean wraps,
            List<String> args) {
        String name;
        if (arguments.has("N")) {
            name = arguments.value("N");
        } else if (operands.isEmpty()) {
            name = "STDIN";
        } else {
            name = base(operands.getFirst());
        }

        String number = arguments.has("J") || arguments.has("t") ? "%A.%a" : "%A";
        String script = "";
        if (!wraps && !operands.isEmpty()) {
            try {
                String path = operands.getFirst();
                script = new String(
                        context.host()
                                .readFile(
                                        path.startsWith("/")
                                                ? path
                                                : context.host().workDir() + "/" + path,
                                        SCRIPT_BYTES_MAX),
                        java.nio.charset.StandardCharsets.ISO_8859_1);
            } catch (IOException e) {
                script = ""; // sbatch says so
            }
        }
        if (arguments.has("o")) {
            args.add("-o" + arguments.value("o"));
        } else if (!says(script, "-o", "--output")) {
            args.add("-o" + name + ".o" + number);
        }
        boolean joined = arguments.has("j") ? !arguments.value("j").equals("n") : says(script, "-j", "-j");
        if (arguments.has("e")) {
            args.add("-e" + arguments.value("e"));
        } else if (!joined && !says(script, "-e", "--error")) {
            args.add("-e" + name + ".e" + number);
        }
    }

    private static boolean says(String script, String letter, String word) {
        return Pattern.compile("(?m)^#(PBS|SBATCH)\\s+(.*\\s)?(" + letter + "|" + word + ")([\\s=]|\\S)")
                .matcher(script)
                .find();
    }
}
