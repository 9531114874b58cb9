package dev.muster.cli.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** cli_filter.lua, as it runs with Slurm 22.05. shows: CliFilterPlugins CliFilterParameters */
class FilterScriptTest {
    private static final String PATH = "/etc/muster/cli_filter.lua";
    private static final String SCRIPT = """
            get = slurm.cli_retrieve function slurm_cli_setup_defaults(options, early) SETUP return slurm.SUCCESS end
            function slurm_cli_pre_submit(options, off) PRE return slurm.SUCCESS end
            function slurm_cli_post_submit(off, job, step) POST return slurm.SUCCESS end
            """;
    private final FakeHost host = new FakeHost();

    @BeforeEach
    void plugin() {
        host.settings().cliFilters = List.of("cli_filter/lua");
        host.settings().clusterName = "x";
        host.settings().cliFilterPath = PATH;
        host.reply("Submit", "{\"jobId\":7}");
    }

    private void script(String setup, String pre, String post) {
        host.files.put(PATH, SCRIPT.replace("SETUP", setup).replace("PRE", pre).replace("POST", post));
    }

    /** What an option says to the script before submission. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            sbatch --wrap=x                         | type         | sbatch
            sbatch --wrap=x                         | time         | nil
            sbatch --wrap=x                         | time-min     | nil
            sbatch --wrap=x                         | immediate    | 0
            sbatch --mem=0 --wrap=x                 | mem          | 0?
            sbatch --mem-per-cpu=0 --wrap=x         | mem-per-cpu  | 0?
            sbatch --wrap=x                         | oversubscribe | unset
            sbatch -s --wrap=x                      | exclusive    | oversubscribe
            sbatch --exclusive=user --wrap=x        | oversubscribe | user
            sbatch --requeue --wrap=x               | requeue      | requeue
            sbatch --no-requeue --wrap=x            | requeue      | no-requeue
            sbatch --signal=BR:10@60 --wrap=x       | signal       | RB:USR1
            sbatch --switches=2@90 --wrap=x         | switches     | 2@01:30:00
            sbatch --switches=2 --wrap=x            | switches     | 2
            sbatch --gres=gpu:a:1,x:2 --wrap=x      | gres         | gres/gpu:a:1,gres/x:2
            sbatch --gres=none --wrap=x             | gres         | none
            sbatch -t 90 --wrap=x                   | time         | 01:30:00
            sbatch --wrap=x                         | partition    | nil
            sbatch -p q --wrap=x                    | partition    | q
            sbatch --wrap=x                         | hold         | unset
            sbatch -H --wrap=x                      | hold         | set
            sbatch --wrap=x                         | label        | invalid-context
            sbatch --wrap=x                         | nosuch       | nil
            sbatch --wrap=x                         | nodes        | 1-0
            sbatch -N2-4 --wrap=x                   | nodes        | 2-4
            sbatch --mem=100 --wrap=x               | mem          | 100
            sbatch --mem=2G --wrap=x                | mem          | 2G
            sbatch --wrap=x                         | ntasks       | 1
            sbatch -n3 --wrap=x                     | ntasks       | 3
            sbatch --wrap=x                         | nice         | -2
            sbatch --wrap=x                         | begin        | Unknown
            sbatch -b 2030-01-02 --wrap=x           | begin        | 2030-01-02T00:00:00
            sbatch --exclusive --wrap=x             | exclusive    | exclusive
            sbatch -v -v --wrap=x                   | verbose      | 2
            sbatch -Q --wrap=x                      | quiet        | 1
            sbatch --mail-type=FAIL,END --wrap=x    | mail-type    | END,FAIL
            sbatch --signal=USR1@10 --wrap=x        | signal       | USR1@10
            """)
    void scriptReadsOptionValuesBeforeSubmission(String command, String option, String said) {
        script("", "slurm.log_error('%s', tostring(options['" + option + "']))", "");
        assertThat(host.run(command).err()).contains("sbatch: error: lua: " + said + "\n");
    }

    /** salloc has none of the files of a batch job, and no --export. */
    @Test
    void optionOfAnotherCommandIsAnInvalidContext() {
        script(
                "",
                "slurm.log_error('%s %s', tostring(options['output']), tostring(options['export'])) do "
                        + "return slurm.ERROR end",
                "");
        assertThat(host.run("salloc true").err()).contains("salloc: error: lua: nil invalid-context\n");
    }

    /**
     * What a script does in its three places, and what the command then says; NAME=VALUE of the request where it is
     * taken.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            options['time']='5'    | -                                | - | sbatch --wrap=x       | 0 | ''
            - | return slurm.ERROR | - | sbatch --wrap=x | 1 | sbatch: error: cli_filter plugin terminated with error
            return 2050 | - | - | salloc true | 1 | salloc: error: cli_filter plugin terminated with error
            - | do return nil end | - | sbatch --wrap=x | 0 | sbatch: cli_filter/lua: HOOK: HOOK/lua: PATH: non-numeric return code
            - | - | error('boom') | sbatch --wrap=x | 0 | sbatch: error: cli_filter_p_post_submit/lua: PATH: PATH:3: boom
            - | options['time']='zz' | - | sbatch --wrap=x | 0 | sbatch: error: Invalid --time specification
            - | options['nosuch']='zz'                          | - | sbatch --wrap=x | 0 | ''
            - | options.hold=true | - | sbatch --wrap=x | 0 | sbatch: error: HOOK/lua: PATH: PATH:2: BAD (string expected, got boolean)
            - | slurm.log_info('%s %d','a',3)                   | - | sbatch --wrap=x | 0 | sbatch: lua: a 3
            - | slurm.log_debug('d')                            | - | sbatch --wrap=x | 0 | ''
            - | slurm.cli_store(off,'kept') | slurm.log_info('%s %d %.0f',get(off),job,step) | sbatch --wrap=x | 0 | sbatch: lua: kept 7 4294967294
            - | slurm.log_info(slurm.json_cli_options(options)) | - | sbatch -J a --wrap=x | 0 | sbatch: lua: {"job-name":"a","wrap":"x","argv":[]}
            - | slurm.log_info(os.getenv('HOME') or 'none')     | - | sbatch --wrap=x | 0 | sbatch: lua: none
            """)
    void scriptCodesAndErrorsDecideTheCommandsResult(
            String setup, String pre, String post, String command, int rc, String said) {
        script(
                setup == null ? "" : setup.startsWith("return") ? "do " + setup + " end" : setup,
                pre == null ? "" : pre.startsWith("return") ? "do " + pre + " end" : pre,
                post == null ? "" : post);
        FakeHost.Ran ran = host.run(command);
        assertThat(ran.err().strip())
                .isEqualTo(said.replace("PATH", PATH)
                        .replace("HOOK", "cli_filter_p_pre_submit")
                        .replace("BAD", "bad argument #-1 to '?'"));
        assertThat(ran.rc()).isEqualTo(rc);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            options.time='5'      | -                       | sbatch --wrap=x            | timing.timeLimitMin | 5
            options.time='5'      | -                       | sbatch -t 9 --wrap=x       | timing.timeLimitMin | 9
            -                     | options.time='5'        | sbatch -t 9 --wrap=x       | timing.timeLimitMin | 5
            options.mem='7'       | -                       | sbatch --mem-per-cpu=9 --wrap=x | request.memPerNodeMb | 0
            -                     | options.mem='7'         | sbatch --mem-per-cpu=9 --wrap=x | request.memPerNodeMb | 7
            -                     | options.comment=7       | sbatch --wrap=x            | extras.comment      | 7
            -                     | options.hold='set'      | sbatch --wrap=x            | timing.hold         | true
            -                     | options.partition=options.argv[2] | sbatch /s q    | partition           | q
            """)
    void scriptChangesTheSubmittedRequest(String setup, String pre, String command, String where, String value) {
        host.files.put("/s", "#!/bin/sh\ntrue\n");
        script(setup == null ? "" : setup, pre == null ? "" : pre, "");
        FakeHost.Ran ran = host.run(command);
        assertThat(ran.err()).isEmpty();
        dev.muster.json.Json.Obj at = host.sent.get("Submit").obj("job");
        int dot = where.indexOf('.');
        at = dot < 0 ? at : at.obj(where.substring(0, dot));
        Object found = at.raw(where.substring(dot + 1));
        assertThat(found == null ? "0" : found.toString()).isEqualTo(value);
    }

    /** Each component is asked about, with its number, and one memory serves all. */
    @Test
    void scriptIsCalledForEachHetComponent() {
        host.reply("SubmitHet", "{\"jobId\":8}");
        script("", "seen = (seen or '') .. off .. ':' .. options.ntasks .. ' '", "slurm.log_info('%d %s', off, seen)");
        assertThat(host.run("sbatch", List.of("-n2", ":", "-n3", "--wrap=x")).err())
                .isEqualTo("sbatch: lua: 0 0:2 1:3 \nsbatch: lua: 1 0:2 1:3 \n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            slurm_cli_post_submit=nil   | PATH: missing required function slurm_cli_post_submit
            return 5                    | PATH: returned 5 on load
            GONE                        | Unable to stat PATH: No such file or directory
            """)
    void aScriptThatCannotBeLoadedEndsTheCommand(String more, String why) {
        script("", "", "");
        host.files.put(PATH, host.files.get(PATH) + more);
        if (more.equals("GONE")) {
            host.files.remove(PATH);
        }
        assertThat(host.run("srun true").err()).isEqualTo("""
                srun: error: cli_filter/lua: WHY
                srun: error: Couldn't load specified plugin name for cli_filter/lua: Plugin init() callback failed
                srun: error: cannot create cli_filter context for cli_filter/lua
                srun: error: cli_filter plugin terminated with error
                """.replace("WHY", why.replace("PATH", PATH)));
        assertThat(host.run("squeue -h").err()).isEmpty();
    }
}
