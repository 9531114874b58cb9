package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Options in the lines of batch scripts: those of Slurm, PBS and LSF, and what Slurm says of mistakes. */
class ScriptDirectivesTest {
    private final FakeHost host = new FakeHost().reply("Submit", "{\"jobId\":12}");

    /** Components of a script with their tasks and names, or the first line of the error, as 26.05 reads the lines. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -n1 hetjob;-n2            | 2 f
            -n1 hetjob -n3            | 1 f
            -n1 hetjob foo            | 1 f
            -n1 HetJob -J x;-n2       | 2 f
            hetjob -n1;-n2            | 1+2
            -n1;HETJOB;-n2            | 1+2
            -n1;-n2 hetjob;hetjob;-n3 | 2+3
            -n1;hetjob # more;-n2     | 1+2
            -n1 # hetjob;-n2          | 2 f
            -J 'hetjob' -n3           | 3 hetjob
            -Jhetjob -n3              | 3 hetjob
            -J hetjob -n3             | sbatch: option requires an argument -- 'J'
            -J hetjob;-n3             | 1 -n3
            -J;x;-n2                  | 2 x
            -n1 hetjobs               | sbatch: error: Invalid directive found in batch script: hetjobs
            -n1;'hetjob' -n2          | sbatch: error: Invalid directive found in batch script: hetjob
            -n1 packjob;-n2           | sbatch: warning: The "packjob" component separator is deprecated. Please use "hetjob" instead.
            """, quoteCharacter = '`')
    void hetjobLinesSeparateComponents(String lines, String expected) {
        host.files.put("/work/f", "#!/bin/sh\n#SBATCH " + lines.replace(";", "\n#SBATCH ") + "\n");
        FakeHost.Ran ran = host.run("sbatch f");
        String told = ran.err().lines().findFirst().orElse("");
        if (told.isEmpty() && host.sent.containsKey("SubmitHet")) {
            told = host.sent.get("SubmitHet").objects("parts").stream()
                    .map(part -> "" + Math.max(1, part.obj("job").obj("request").number("tasks")))
                    .collect(Collectors.joining("+"));
        } else if (told.isEmpty()) {
            Json.Obj job = host.sent.get("Submit").obj("job");
            told = Math.max(1, job.obj("request").number("tasks")) + " " + job.text("name");
        }
        assertThat(told).isEqualTo(expected);
    }

    @Test
    void invalidScriptIsRefused() {
        host.files.put("/work/a", "echo\n");
        assertThat(host.run("sbatch a").err()).startsWith("sbatch: error: This does not look like a batch script.");
        host.files.put("/work/b", "#!/bin/sh\r\necho\r\n");
        assertThat(host.run("sbatch b").err())
                .isEqualTo("sbatch: error: Batch script contains DOS line breaks (\\r\\n)\n"
                        + "sbatch: error: instead of expected UNIX line breaks (\\n).\n");
        assertThat(host.run("sbatch").err()).isEqualTo("sbatch: error: Batch script is empty!\n");
        assertThat(host.run("sbatch /nonexist").err()).isEqualTo("sbatch: error: Unable to open file /nonexist\n");
        host.files.put("/work/c", "#!/bin/sh\n#SBATCH --comment='x\n");
        assertThat(host.run("sbatch c").err()).contains("Unmatched `'` in");
        host.files.put("/work/d", "#!/bin/sh\n#SBATCH -n 1 foo\n");
        assertThat(host.run("sbatch d").err())
                .isEqualTo("sbatch: error: Invalid directive found in batch script: foo\n");
        for (String[] row : new String[][] {{"-J a : -n2", " : -n2"}, {": -n2", ": -n2"}, {"-n1 :", " :"}}) {
            host.files.put("/work/e", "#!/bin/sh\n#SBATCH " + row[0] + "\n");
            assertThat(host.run("sbatch e").err())
                    .isEqualTo("sbatch: fatal: e: line 2: Unexpected `:` in [" + row[1] + "]\n");
        }
        host.files.put("/work/f", "#!/bin/sh\n#SBATCH -n1\n#SBATCH packjob\n#SBATCH -n2\n");
        assertThat(host.run("sbatch f").err())
                .startsWith("sbatch: warning: The \"packjob\" component separator is deprecated. Please use "
                        + "\"hetjob\" instead.\n");
        assertThat(host.run("sbatch --wrap=true x").err())
                .isEqualTo("sbatch: error: Script arguments not permitted with --wrap option\n");
        assertThat(host.run("sbatch --mem=1 --mem-per-cpu=2 --wrap=true").err())
                .isEqualTo("sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            PBS -l nodes=2:ppn=2,mem=1mb | nodes=2 ntasks=4 mem=1M
            PBS -l nodes=2:ppn=2+3:ppn=1 | nodes=5 ntasks=15
            PBS -l nodes=n1+n2 | nodelist=n1,n2
            PBS -l select=1:ncpus=2:mpiprocs=2:mem=2gb | mem=2G mincpus=2 nodes=1 ntasks-per-node=2
            PBS -l mem=100kb,walltime=100,file=10mb,nice=5 | mem=1M nice=5 time=01:40:00 tmp=10M
            PBS -N bob -q main -A acc -e err | account=acc error=err job-name=bob partition=main
            PBS -m abe -M me@x -p 10 -h -t 1-3%2 | array=1-3%2 hold=set mail-type=BEGIN,END,FAIL mail-user=me@x nice=10
            PBS -W depend=afterok:5 | dependency=afterok:5
            PBS -j oe -k oe -S /bin/sh -V -z -c n -u x | ''
            BSUB -o/tmp/oo -e/tmp/ee -Jjob -M4096 -W1:30 -x -qmain |\
                error=/tmp/ee exclusive=exclusive job-name=job mem-per-cpu=4M output=/tmp/oo partition=main time=00:02:00
            BSUB -m"n1 n2" -n 2,4 -cwd /tmp | chdir=/tmp nodelist=n1,n2 ntasks=4
            """)
    void pbsAndLsfLinesAreTranslated(String line, String options) {
        host.files.put("/work/s.sh", "#!/bin/sh\n#SBATCH -J mine\ntrue\n#" + line + "\n");
        String[] words = host.run("sbatch -vv s.sh")
                .err()
                .lines()
                .filter(l -> l.contains(" : ") && !l.contains("verbose"))
                .map(l -> l.substring(l.indexOf(' ') + 1).replaceFirst(" *: ", "="))
                .toArray(String[]::new);
        String expected =
                options.contains("job-name") ? options : (options.replace("''", "") + " job-name=mine").strip();
        assertThat(words).containsExactlyInAnyOrder(expected.split(" "));
        assertThat(host.run("sbatch -vv --ignore-pbs s.sh").err().lines().filter(l -> l.contains(" : ")))
                .hasSize(3);
    }

    /** A BSUB line, also one without an option, makes sbatch ignore PBS lines wherever they stand. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            @PBS -l walltime=9             | time=00:09
            @BSUB -W7;@PBS -l walltime=9   | time=7
            @PBS -N p;@BSUB -W7            | time=7
            @PBS -N p;true;@BSUB           | ''
            @PBS -N p;@@BSUB -W7           | job-name=p
            @PBS -N p; @BSUB -W7           | job-name=p
            @PBS-N p                       | job-name=p
            """)
    void bsubLineMakesPbsLinesIgnored(String lines, String option) {
        host.files.put("/work/s.sh", "#!/bin/sh\n" + lines.replace('@', '#').replace(';', '\n') + "\n");
        String told = host.run("sbatch -vv s.sh").err();
        assertThat(told.contains("job-name")).isEqualTo(option.startsWith("job-name"));
        assertThat(told.contains("time   ")).isEqualTo(option.startsWith("time"));
    }

    /** Empty words and a backslash at the end of a line are dropped; a line does not continue in the next one. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            -J a \\                   | a
            -J a\\                    | a
            -J a\\b                   | ab
            -J a ""                    | a
            -J a ''                    | a
            -J \\;#SBATCH a -n 1       | a
            "" -J a                    | a
            -J "x"y                    | xy
            -n 1 "x                    | Unmatched `"` in [ "x]
            -n 1   'x                  | Unmatched `'` in [   'x]
            'x # y                     | Unmatched `'` in ['x # y]
            -n 1 "x\\                  | Unmatched `"` in [ "x\\]
            """)
    void directiveWordsAreSplitAsInSlurm(String words, String expected) {
        host.files.put("/work/s.sh", "#!/bin/sh\n#SBATCH " + words.replace(';', '\n') + "\n");
        FakeHost.Ran ran = host.run("sbatch s.sh");
        assertThat(
                        ran.rc() == 0
                                ? host.sent.get("Submit").obj("job").text("name")
                                : ran.err().strip())
                .isEqualTo(expected.startsWith("Unm") ? "sbatch: fatal: s.sh: line 2: " + expected : expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            PBS -Q x | invalid option -- 'Q';error: Unrecognized command line parameter ?
            PBS -l | option requires an argument -- 'l';error: Unrecognized command line parameter ?
            PBS -N a extra | error: Invalid argument: extra
            PBSPRO is here | error: Invalid argument: PRO
            BSUBMIT it     | error: Invalid argument: MIT
            BSUB -P proj | invalid option -- 'P';error: Unrecognized command line parameter ?
            PBS -l mem=100mw | error: Invalid --mem specification
            """)
    void invalidPbsOrBsubLineIsRefused(String line, String sentences) {
        host.files.put("/work/s.sh", "#!/bin/sh\n#" + line + "\ntrue\n");
        FakeHost.Ran ran = host.run("sbatch s.sh");
        assertThat(ran.err().lines())
                .containsExactly(java.util.Arrays.stream(sentences.split(";"))
                        .map(s -> "sbatch: " + s)
                        .toArray(String[]::new));
        assertThat(ran.rc()).isNotZero();
        assertThat(host.calls).isEmpty();
    }
}
