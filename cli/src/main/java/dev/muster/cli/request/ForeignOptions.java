package dev.muster.cli.request;

import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.model.format.Digits;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the {@code #PBS} and {@code #BSUB} lines of a batch script as options of sbatch. The whole script is searched.
 * These lines take precedence over {@code #SBATCH} lines. PBS lines are ignored in a script with a BSUB line.
 */
public final class ForeignOptions {
    private static final String PBS = "a:A:c:C:e:hIj:J:k:l:m:M:N:o:p:q:r:S:t:u:v:VW:z";
    private static final String BSUB = "c:e:J:m:M:n:o:q:W:x";

    private final JobOptions options;
    private final List<String> words = new ArrayList<>();

    private ForeignOptions(JobOptions options) {
        this.options = options;
    }

    public static void read(String script, JobOptions options) throws UsageException {
        if (options.has(JobOption.IGNORE_PBS)) {
            return;
        }
        String mark = script.startsWith("#BSUB") || script.contains("\n#BSUB") ? "#BSUB" : "#PBS";
        int number = 0;
        for (String line : script.contains(mark) ? script.split("\n", -1) : new String[0]) {
            number++;
            if (line.startsWith(mark)) {
                new ForeignOptions(options)
                        .line(mark, ScriptOptions.words(line.substring(mark.length()), number, options));
            }
        }
    }

    private void line(String mark, List<String> typed) throws UsageException {
        boolean pbs = mark.equals("#PBS");
        for (int i = 0; i < typed.size(); i++) {
            String word = !pbs && typed.get(i).equals("-cwd") ? "-c" : typed.get(i);
            if (word.length() < 2 || word.charAt(0) != '-') {
                throw wrong(List.of("error: Invalid argument: " + word));
            }
            if (readLetters(pbs, word, typed.subList(i + 1, typed.size()))) {
                i++;
            }
        }
        options.apply(GetOpt.parse(JobOption.table(options.command()), words, false), JobOptions.Origin.SCRIPT);
    }

    /**
     * Reads the options of one word; the last of them may have its value in the next word.
     *
     * @return whether the next word was such a value
     */
    private boolean readLetters(boolean pbs, String word, List<String> operands) throws UsageException {
        String table = pbs ? PBS : BSUB;
        for (int k = 1; k < word.length(); k++) {
            char letter = word.charAt(k);
            int index = letter == ':' ? -1 : table.indexOf(letter);
            if (index < 0) {
                throw wrong(
                        List.of("invalid option -- '" + letter + "'", "error: Unrecognized command line parameter ?"));
            }
            boolean takesValue = index + 1 < table.length() && table.charAt(index + 1) == ':';
            if (!takesValue) {
                read(pbs, letter, "");
                continue;
            }
            boolean isLast = k + 1 == word.length();
            if (isLast && operands.isEmpty()) {
                throw wrong(List.of(
                        "option requires an argument -- '" + letter + "'",
                        "error: Unrecognized command line parameter ?"));
            }
            read(pbs, letter, isLast ? operands.getFirst() : word.substring(k + 1));
            return isLast;
        }
        return false;
    }

    private void read(boolean pbs, char letter, String value) throws UsageException {
        if (pbs) {
            pbs(letter, value);
        } else {
            bsub(letter, value);
        }
    }

    private UsageException wrong(List<String> sentences) {
        return new UsageException(
                options.exitError(1),
                sentences.stream().map(s -> options.context().name() + ": " + s).toList());
    }

    private void put(String option, String value) {
        words.add("--" + option + (value.isEmpty() ? "" : "=" + value));
    }

    private void pbs(char letter, String value) {
        switch (letter) {
            case 'a' -> put("begin", value);
            case 'A' -> put("account", value);
            case 'e' -> put("error", value);
            case 'h' -> put("hold", "");
            case 'J', 't' -> put("array", value);
            case 'l' -> resources(value);
            case 'm' -> mail(value);
            case 'M' -> put("mail-user", value);
            case 'N' -> put("job-name", value);
            case 'o' -> put("output", value);
            case 'p' -> put("nice", value);
            case 'q' -> put("partition", value);
            case 'r' -> put(value.startsWith("n") || value.startsWith("N") ? "no-requeue" : "requeue", "");
            case 'v' -> put("export", value);
            case 'W' -> attributes(value);
            // -c, -C, -I, -j, -k, -S, -u, -V and -z ask for what is so here in any case, or mean nothing
            default -> {}
        }
    }

    private void mail(String letters) {
        List<String> types = new ArrayList<>();
        for (String pair : List.of("b:BEGIN", "e:END", "a:FAIL", "n:NONE")) {
            if (letters.indexOf(pair.charAt(0)) >= 0) {
                types.add(pair.substring(2));
            }
        }
        if (!types.isEmpty()) {
            put("mail-type", String.join(",", types));
        }
    }

    private void attributes(String text) {
        if (text.startsWith("depend=")) {
            put("dependency", text.substring("depend=".length()));
        } else {
            options.context().info("Ignored PBS attributes: " + text);
        }
    }

    /** {@code nodes=2:ppn=4,mem=1gb,walltime=…}; what is not known of it is left alone, as the original does. */
    private void resources(String list) {
        for (String item : list.split(",")) {
            int equalSign = item.indexOf('=');
            String key = equalSign < 0 ? item : item.substring(0, equalSign);
            String value = equalSign < 0 ? "" : item.substring(equalSign + 1);
            switch (key) {
                case "nodes" -> nodes(value);
                case "select" -> select(value);
                case "ncpus" -> put("mincpus", value);
                case "mem" -> put("mem", size(value));
                case "file" -> put("tmp", size(value));
                case "cput", "walltime" -> put("time", value);
                case "nice" -> put("nice", value);
                case "proc" -> put("constraint", value);
                case "mppnodes" -> put("nodelist", value);
                case "naccelerators" -> put("gres", "gpu:" + value);
                default -> {}
            }
        }
    }

    /** Parts are added up: {@code 2:ppn=2+3}; a part may also name a node. */
    private void nodes(String value) {
        long count = 0;
        long perNode = 0;
        String gpus = "";
        List<String> names = new ArrayList<>();
        for (String word : value.split("[+:]")) {
            long n = Digits.parseNumber(word);
            if (n >= 0) {
                count += n;
            } else if (word.startsWith("ppn=")) {
                perNode += Math.max(0, Digits.parseNumber(word.substring(4)));
            } else if (word.startsWith("gpus=")) {
                gpus = word.substring(5);
            } else if (!word.isEmpty()) {
                names.add(word);
            }
        }
        if (count > 0) {
            put("nodes", Long.toString(count));
        }
        if (perNode > 0) {
            put("ntasks", Long.toString(perNode * Math.max(1, count)));
        }
        if (!gpus.isEmpty()) {
            put("gpus-per-node", gpus);
        }
        if (!names.isEmpty()) {
            put("nodelist", String.join(",", names));
        }
    }

    private void select(String value) {
        for (String word : value.split("[+:]")) {
            int equalSign = word.indexOf('=');
            String key = equalSign < 0 ? "" : word.substring(0, equalSign);
            String amount = word.substring(equalSign + 1);
            switch (key) {
                case "" -> put("nodes", amount);
                case "ncpus" -> put("mincpus", amount);
                case "mem" -> put("mem", size(amount));
                case "mpiprocs" -> put("ntasks-per-node", amount);
                default -> {}
            }
        }
    }

    /** {@code 10mb} is 10 here, {@code 2gb} is 2G, kibibytes are rounded up. */
    private static String size(String value) {
        String plain = value.endsWith("b") || value.endsWith("B") ? value.substring(0, value.length() - 1) : value;
        if (plain.isEmpty()) {
            return value;
        }
        long n = Digits.parseNumber(plain.substring(0, plain.length() - 1));
        return switch (n < 0 ? ' ' : plain.charAt(plain.length() - 1)) {
            case 'k', 'K' -> Long.toString(Math.max(1, (n + 1023) / 1024));
            case 'm', 'M' -> Long.toString(n);
            case 'g', 'G' -> n + "G";
            case 't', 'T' -> n + "T";
            default -> plain;
        };
    }

    private void bsub(char letter, String value) {
        switch (letter) {
            case 'c' -> put("chdir", value);
            case 'e' -> put("error", value);
            case 'J' -> put("job-name", value);
            case 'm' -> put("nodelist", value.strip().replaceAll("\\s+", ","));
            // without a unit it is kibibytes there
            case 'M' -> put("mem-per-cpu", Digits.parseNumber(value) < 0 ? value : size(value + "k"));
            case 'n' -> put("ntasks", value.substring(value.indexOf(',') + 1));
            case 'o' -> put("output", value);
            case 'q' -> put("partition", value);
            case 'W' -> put("time", value);
            case 'x' -> put("exclusive", "");
            default -> throw new IllegalStateException("option " + letter);
        }
    }
}
