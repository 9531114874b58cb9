package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.option.JobOption;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Command lines of sbatch and what becomes of them: sentences and exit codes as Slurm's own program gives them. */
class OptionsTest {
    private static final String HINT = "\nTry \"sbatch --help\" for more information\n";

    private final FakeHost host = new FakeHost().reply("Submit", "{\"jobId\":12}");

    private Json.Obj submitted(String line) {
        FakeHost.Ran ran = host.run(line);
        assertThat(ran.err()).isEmpty();
        assertThat(ran.rc()).isZero();
        return host.sent.get("Submit").obj("job");
    }

    private static String text(Json.Obj o, String field) {
        return Bytes.fromBase64(o.text(field)).text();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            --foo | 255 | sbatch: unrecognized option '--foo'
            -n | 255 | sbatch: option requires an argument -- 'n'
            --mem-p=5 x | 255 | sbatch: option '--mem-p=5' is ambiguous; possibilities: '--mem-per-cpu' '--mem-per-gpu'
            --exc x | 255 | sbatch: option '--exc' is ambiguous; possibilities: '--exclude' '--exclusive'
            -y | 255 | sbatch: invalid option -- 'y'
            --hold=3 x | 255 | sbatch: option '--hold' doesn't allow an argument
            --ntasks | 255 | sbatch: option '--ntasks' requires an argument
            """)
    void malformedOptionIsRefusedInGetoptsWords(String args, int rc, String sentence) {
        FakeHost.Ran ran = host.run("sbatch " + args);
        assertThat(ran.err()).isEqualTo(sentence + HINT);
        assertThat(ran.rc()).isEqualTo(rc);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            --ntasks=x | 1 | Invalid numeric value "x" for --ntasks.
            -n 0 | 1 | Invalid numeric value "0" for --ntasks.
            -c 0 | 1 | Invalid numeric value "0" for --cpus-per-task.
            -N 3-1 | 255 | Maximum node count 1 is less than minimum node count 3
            -N x | 255 | "x" is not a valid node count
            -t x | 255 | Invalid --time specification
            --mem=x | 255 | Invalid --mem specification
            --mem=1.5G | 255 | Invalid --mem specification
            --mail-type=foo | 255 | Invalid --mail-type specification
            --mail-type=foo,bar | 255 | Invalid --mail-type specification
            --mail-type= | 255 | Invalid --mail-type specification
            --nice=2147483646 | 255 | Invalid --nice value, out of range (+/- 2147483645)
            --nice=-99999999999 | 255 | Invalid --nice value, out of range (+/- 2147483645)
            --priority=-1 | 255 | Priority must be >= 0
            --priority=4294967294 | 255 | Priority must be < 4294967294
            --signal=FOO | 255 | Invalid --signal specification
            --open-mode=x | 255 | Invalid --open-mode specification
            --distribution=x | 255 | Invalid --distribution specification
            --exclusive=x | 255 | Invalid --exclusive specification
            --hint=x | 1 | unrecognized --hint argument "x", see --hint=help
            --profile=x | 255 | invalid --profile=x option
            --gpu-bind=blah | 255 | Invalid --gpu-bind argument: blah
            --tmp=x | 255 | Invalid --tmp specification
            --switches=x | 1 | Invalid numeric value "x" for --switches.
            --exclusive=allocation | 255 | Invalid --exclusive specification
            --wait-all-nodes=x | 1 | Invalid numeric value "x" for --wait-all-nodes.
            -n 4k | 1 | Invalid numeric value "4k" for --ntasks.
            -c 1k | 1 | Invalid numeric value "1k" for --cpus-per-task.
            --switches=1k | 1 | Invalid numeric value "1k" for --switches.
            --segment=1k | 255 | Invalid --segment specification
            --requeue=1 | 255 | Invalid --requeue specification
            --cpu-freq= | 255 | Invalid --cpu-freq argument
            --thread-spec=0 | 1 | Invalid numeric value "0" for --thread-spec.
            -B 2:x | 1 | Invalid numeric value "x" for second arg of -B.
            -B 2:4:2:1 | 255 | Invalid --extra-node-info specification
            -t 2147483648 | 255 | Invalid --time specification
            --time-min=9999999999 | 255 | Invalid --time-min specification
            --gres-flags=foo | 255 | Invalid --gres-flags specification: foo
            --gres-flags=enforce-binding,foo,bar | 255 | Invalid --gres-flags specification: foo
            --gres-flags=enforce-binding,DISABLE-binding | 255 \
            | Invalid --gres-flags combo: disable-binding and enforce-binding are mutually exclusive.
            --gres-flags=allow-task-sharing | 255 | --gres-flags=allow-task-sharing is only used with srun.
            --gpu-freq= | 255 | Invalid --gpu-freq argument: gpu:
            --profile= | 255 | invalid --profile= option
            --gpu-bind=v,closest | 255 | Invalid --gpu-bind argument: v,closest
            --gpu-bind=verbose | 255 | Invalid --gpu-bind argument: verbose
            --bbf=/nosuch | 1 | Invalid --bbf specification
            --bbf=/dev/null | 1 | Invalid --bbf specification
            --export-file=/nosuch | 1 | Could not open user environment file /nosuch
            --wait-all-nodes=3 | 255 | Invalid --wait-all-nodes specification
            --kill-on-invalid-dep=x | 255 | Invalid --kill-on-invalid-dep specification
            --mem-update=20 | 255 | Invalid --mem-update specification
            --mem-update=x@5 | 255 | Invalid --mem-update specification
            --mem-update=20@x | 255 | Invalid --mem-update specification
            --mem-update=20@0 | 255 | Invalid --mem-update specification
            --resv-ports=x | 1 | Invalid numeric value "x" for --resv-port.
            --cluster-constraint=a | 1 | --cluster-constraint chooses among the clusters of a federation, and this cluster is in none
            -G x:y:z | 1 | Invalid Trackable RESource (TRES) specification
            """)
    void invalidOptionValueIsRefused(String args, int rc, String sentence) {
        FakeHost.Ran ran = host.run("sbatch " + args + " --wrap=true");
        assertThat(ran.err()).isEqualTo("sbatch: error: " + sentence + "\n");
        assertThat(ran.rc()).isEqualTo(rc);
        assertThat(host.calls).isEmpty();
    }

    @Test
    void invalidBeginTimeIsRefused() {
        assertThat(host.run("sbatch --begin=x --wrap=true").err())
                .isEqualTo("Invalid time specification (pos=0): x\nsbatch: error: Invalid --begin specification\n");
    }

    @Test
    void sbatchSubmitsAndPrintsTheJobId() {
        FakeHost.Ran ran = host.run("sbatch --wrap=true");
        assertThat(ran).isEqualTo(new FakeHost.Ran(0, "Submitted batch job 12\n", ""));
        assertThat(host.run("sbatch --parsable --wrap=true").out()).isEqualTo("12\n");
        assertThat(host.run("sbatch -M test --wrap=true").out()).isEqualTo("Submitted batch job 12 on cluster test\n");
        assertThat(host.run("sbatch -M test --parsable --wrap=true").out()).isEqualTo("12;test\n");
        assertThat(host.run("sbatch -Q --wrap=true").out()).isEmpty();
        assertThat(host.run("sbatch -V").out()).isEqualTo("slurm 26.05.3\n");
    }

    @Test
    void aFullQueueIsWaitedFor() {
        host.refuse("Submit", 2007, "Resource temporarily unavailable");
        assertThat(host.run("sbatch --wrap=true"))
                .isEqualTo(new FakeHost.Ran(
                        1,
                        "",
                        "sbatch: error: Slurm job queue full, sleeping and retrying\n"
                                + "sbatch: error: Batch job submission failed: Resource temporarily unavailable\n"));
        assertThat(host.calls).hasSize(16).containsOnly("Submit");
        assertThat(host.run("salloc true").err()).doesNotContain("queue full");
    }

    @Test
    void submittersTokenIsNotPassedToTheJob() {
        host.env.put("SLURM_JWT", "secret");
        host.env.put("SEEN", "yes");
        submitted("sbatch --wrap=true");
        assertThat(environment()).contains("SEEN=yes").noneMatch(e -> e.contains("secret"));
        submitted("sbatch --export=NONE --wrap=true");
        assertThat(environment()).noneMatch(e -> e.contains("secret"));
    }

    @Test
    void lastMailTypeOptionWins() {
        String[][] table = {
            {"--mail-type=FAIL --mail-type=BEGIN", "BEGIN"},
            {"--mail-type=END --mail-type=NONE", "NONE"},
            {"--mail-type=NONE,ALL", "NONE"},
            {"--mail-type=END,BEGIN", "BEGIN,END"},
            {"--mail-type=TIME_LIMIT,TIME_LIMIT_90,END,ARRAY_TASKS", "ARRAY_TASKS,END,TIME_LIMIT_90,TIME_LIMIT"},
            {"--mail-type=BEGIN,NONE --mail-type=END,time_limit", "END,TIME_LIMIT"},
            {"--mail-type=FOO,BEGIN,BAR", "BEGIN"},
            {"--mail-type=FOO,NONE", "NONE"},
            {"--mail-type=ALL", "INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT"}
        };
        for (String[] row : table) {
            assertThat(submitted("sbatch " + row[0] + " --wrap=true").toString())
                    .contains("\"mailType\":\"" + row[1] + "\"");
        }
    }

    @Test
    void stepManagerPortsMemoryAndSegmentsAreSent() {
        Json.Obj job = submitted(
                "sbatch --stepmgr --resv-ports=4 --container-type=x --mem-update=20@1:30 --segment=2 --spread-segments "
                        + "--consolidate-segments --wrap=true");
        assertThat(job.obj("extras").flag("stepMgr")).isTrue();
        assertThat(job.obj("extras").integer("resvPorts")).isEqualTo(4);
        assertThat(job.obj("extras").text("containerType")).isEqualTo("x");
        assertThat(job.obj("extras").integer("memUpdateMargin")).isEqualTo(20);
        assertThat(job.obj("extras").integer("memUpdateMin")).isEqualTo(2);
        assertThat(job.obj("request").flag("spreadSegments")).isTrue();
        assertThat(job.obj("request").flag("consolidateSegments")).isTrue();
        assertThat(submitted("sbatch --resv-ports --wrap=true").obj("extras").integer("resvPorts"))
                .isEqualTo(-1);
        assertThat(submitted("sbatch --resv-ports=0 --wrap=true").obj("extras").has("resvPorts"))
                .isFalse();
        host.env.put("SBATCH_STEPMGR", "1");
        host.env.put("SBATCH_CONTAINER_TYPE", "y");
        Json.Obj extras = submitted("sbatch --wrap=true").obj("extras");
        assertThat(extras.flag("stepMgr")).isTrue();
        assertThat(extras.text("containerType")).isEqualTo("y");
    }

    @Test
    void variablesCompleteCommandLineOptions() {
        host.env.put("SBATCH_WAIT4SWITCH", "10");
        assertThat(submitted("sbatch --switches=2 --wrap=true").obj("request").text("switches"))
                .isEqualTo("2@10");
        assertThat(submitted("sbatch --switches=2@5 --wrap=true").obj("request").text("switches"))
                .isEqualTo("2@5");
        assertThat(submitted("sbatch --wrap=true").obj("request").has("switches"))
                .isFalse();
        host.env.put("SBATCH_REQ_SWITCH", "1");
        assertThat(submitted("sbatch --wrap=true").obj("request").text("switches"))
                .isEqualTo("1@10");
        host.env.put("SBATCH_WAIT4SWITCH", "never");
        assertThat(submitted("sbatch --wrap=true").obj("request").text("switches"))
                .isEqualTo("1");
        host.env.put("SLURM_TEST_EXEC", "");
        assertThat(host.run("srun /no/such/program").err())
                .isEqualTo("srun: fatal: Can not execute /no/such/program\n");
    }

    @Test
    void namedNodesAndGeometryCount() {
        String[][] table = {
            {"-w n[1-2]", "{\"nodeList\":\"n[1-2]\"}"},
            {"-w n[1-2] -n4", "{\"tasks\":4,\"nodeList\":\"n[1-2]\"}"},
            {"-w n[1-2] -n1", "{\"nodesMin\":1,\"nodesMax\":1,\"tasks\":1,\"nodeList\":\"n[1-2]\"}"},
            {"-w n1,n1,n2 -N1", "{\"nodesMin\":1,\"nodesMax\":1,\"nodeList\":\"n1,n1,n2\"}"},
            {"-B 2:4 -N2", "{\"nodesMin\":2,\"nodesMax\":2,\"tasks\":16,\"socketsPerNode\":2,\"coresPerSocket\":4}"},
            {"-B *:4", "{\"tasks\":4,\"coresPerSocket\":4}"},
            {"-B :4 -n3", "{\"tasks\":3,\"coresPerSocket\":4}"},
            {
                "--sockets-per-node=2 --cores-per-socket=4 -N2",
                "{\"nodesMin\":2,\"nodesMax\":2,\"tasks\":16,\"socketsPerNode\":2,\"coresPerSocket\":4}"
            },
            {"--threads-per-core=2 -N2-2", "{\"nodesMin\":2,\"nodesMax\":2,\"tasks\":4,\"threadsPerCore\":2}"},
            {"--threads-per-core=1 -w n[1-2]", "{\"tasks\":2,\"nodeList\":\"n[1-2]\",\"threadsPerCore\":1}"},
            {"--threads-per-core=2 -N1-2", "{\"nodesMin\":1,\"nodesMax\":2,\"threadsPerCore\":2}"},
            {"--threads-per-core=2", "{\"threadsPerCore\":2}"},
            {
                "--threads-per-core=2 -N2 --ntasks-per-node=3",
                "{\"nodesMin\":2,\"nodesMax\":2,\"tasksPerNode\":3,\"threadsPerCore\":2}"
            },
            {"--hint=nomultithread -N2", "{\"nodesMin\":2,\"nodesMax\":2,\"tasks\":2,\"hint\":\"nomultithread\"}"},
            {"--hint=multithread -N2", "{\"nodesMin\":2,\"nodesMax\":2,\"hint\":\"multithread\"}"},
            {"-B 2 --ntasks-per-node=3", "{\"tasksPerNode\":3,\"socketsPerNode\":2}"}
        };
        for (String[] row : table) {
            host.run("sbatch " + row[0] + " --wrap=true");
            assertThat(host.sent.get("Submit").obj("job").obj("request").toString())
                    .isEqualTo(row[1]);
        }
        FakeHost.Ran fewer = host.run("sbatch -w n[1-4] -n3 --wrap=true");
        assertThat(fewer.err()).isEqualTo("sbatch: warning: can't run 3 processes on 4 nodes, setting nnodes to 3\n");
        assertThat(host.sent.get("Submit").obj("job").obj("request").integer("nodesMax"))
                .isEqualTo(3);
    }

    /** --nodes=1-15:4 */
    @Test
    void nodesOptionAcceptsListsAndSteps() {
        String[][] table = {
            {"-N 4", "nodesMax=4 nodesMin=4"},
            {"-N 2-8", "nodesMax=8 nodesMin=2"},
            {"-N 4,2", "nodesMax=4 nodeSizes=2,4 nodesMin=2"},
            {"-N 1-15:4", "nodesMax=13 nodeSizes=1,5,9,13 nodesMin=1"},
            {"-N 1k-2k:1k", "nodesMax=2048 nodeSizes=1024,2048 nodesMin=1024"},
            {"-N 1,2,3", "nodesMax=3 nodesMin=1"}
        };
        for (String[] row : table) {
            Json.Obj request = submitted("sbatch " + row[0] + " --wrap=true").obj("request");
            assertThat(java.util.stream.Stream.of("nodesMax", "nodeSizes", "nodesMin")
                            .filter(request::has)
                            .map(k -> k + "=" + request.raw(k))
                            .collect(java.util.stream.Collectors.joining(" ")))
                    .as(row[0])
                    .isEqualTo(row[1]);
        }
        assertThat(host.run("sbatch -N 4,x --wrap=true").err()).contains("\"4,x\" is not a valid node count");
    }

    /** Only root may choose another user's identity and groups, and they have to exist. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1000 | --uid=ann | --uid only permitted by root user",
                "1000 | --gid=root | --gid only permitted by root user",
                "1000 | --gid=nosuch | --gid only permitted by root user",
                "0 | --gid=nosuch | Invalid --gid specification",
                "0 | --gid=99 | Invalid --gid specification",
                "0 | --uid=99 | Invalid --uid specification",
                "0 | --uid=4711 | Invalid --uid specification",
                "0 | --gid=4711 | Invalid --gid specification"
            })
    void onlyRootSubmitsWithAnotherUidOrGid(int uid, String option, String sentence) {
        host.uid = uid;
        assertThat(host.run("sbatch " + option + " --wrap=true"))
                .isEqualTo(new FakeHost.Ran(255, "", "sbatch: error: " + sentence + "\n"));
    }

    /** SLURM_EXIT_ERROR is 7 and SLURM_EXIT_IMMEDIATE is 8; the controller refuses all requests. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            sbatch --nope                           | 255
            sbatch --mem=x --wrap=x                 | 255
            sbatch -N x --wrap=x                    | 255
            sbatch -n x --wrap=x                    | 1
            sbatch --mem-bind=foo --wrap=x          | 255
            sbatch --export-file=/nope --wrap=x     | 1
            sbatch --test-only -N99 --wrap=x        | 1
            sbatch --hint=x --wrap=x                | 7
            sbatch --propagate=foo --wrap=x         | 7
            sbatch --gpus=gpu:x --wrap=x            | 7
            sbatch --clusters=nope --wrap=x         | 7
            sbatch /nope                            | 7
            sbatch --wrap=x                         | 7
            srun --nope                             | 255
            srun                                    | 1
            srun --cpu-bind=foo x                   | 1
            srun -n x x                             | 1
            srun --treewidth=x x                    | 255
            srun --exclusive --oversubscribe x      | 1
            srun -I x                               | 7
            srun x                                  | 7
            salloc --no-shell=x                     | 255
            salloc x                                | 7
            salloc -I x                             | 8
            sattach --nope                          | 7
            sattach x                               | 7
            """)
    void variablesSetTheExitCodesOfSrun(String args, int rc) {
        host.env.putAll(Map.of("SLURM_EXIT_ERROR", "7", "SLURM_EXIT_IMMEDIATE", "8"));
        host.replies.put("Submit", new SlurmException(SlurmErrno.NOT_TOP_PRIORITY.number(), "not now"));
        assertThat(host.run(args).rc()).isEqualTo(rc);
    }

    @Test
    void optionsFollowTheChangesSinceSlurm2302() {
        String alone = ": fatal: --exclusive and --oversubscribe options are mutually exclusive\n";
        assertThat(host.run("sbatch --exclusive --oversubscribe --wrap=true"))
                .isEqualTo(new FakeHost.Ran(1, "", "sbatch" + alone));
        assertThat(host.run("srun -s --exclusive=user true")).isEqualTo(new FakeHost.Ran(1, "", "srun" + alone));
        assertThat(host.run("sbatch --ntasks-per-core=2 --threads-per-core=1 --wrap=true"))
                .isEqualTo(new FakeHost.Ran(
                        1, "", "sbatch: error: --ntasks-per-core (2) can not be bigger than --threads-per-core (1)\n"));
        for (String none : List.of("cpu", "cpu=x", "cpu:0", "gres/gpu=1,cpu=")) {
            assertThat(host.run("sbatch --tres-per-task=" + none + " --wrap=x").err())
                    .as(none)
                    .isEqualTo("sbatch: fatal: Invalid --tres-per-task=cpu=0\n");
        }
        assertThat(host.run("sbatch --tres-per-task=cpu=2 -c2 --wrap=x").err())
                .isEqualTo("sbatch: fatal: You can not have --tres-per-task=cpu= and --cpus-per-task please use "
                        + "one or the other\n");
        assertThat(host.run("sbatch --segment=x --wrap=x").err())
                .isEqualTo("sbatch: error: Invalid --segment specification\n");
        assertThat(host.run("sbatch --get-user-env=5 --wrap=x").err())
                .contains("option '--get-user-env' doesn't allow an argument");
        for (String gone : List.of(
                "salloc --uid=0 true",
                "salloc --gid=0 true",
                "srun --uid=0 true",
                "srun --gid=0 true",
                "squeue --array-unique",
                "sbatch --jobid=1 --wrap=x",
                "salloc --jobid=1 true",
                "srun --power=1 true",
                "strigger --front_end")) {
            assertThat(host.run(gone).err())
                    .as(gone)
                    .contains("unrecognized option '--" + gone.split("--")[1].split(" ")[0]);
        }
        host.env.put("SBATCH_EXCLUSIVE", "");
        assertThat(submitted("sbatch -s --wrap=true").obj("request").toString()).isEqualTo("{\"oversubscribe\":true}");
        host.env.putAll(Map.of(
                "SLURM_TRES_PER_TASK",
                "cpu=2,gres/gpu=1,gres/nic=1",
                "SLURM_GPUS_PER_TASK",
                "1",
                "SLURM_CPUS_PER_TASK",
                "2"));
        host.replies.put("Submit", new SlurmException(SlurmErrno.ACCESS_DENIED.number(), "not now"));
        host.settings().gresTypes = List.of("gpu", "nic");
        host.run("srun --cpus-per-gpu=3 true");
        assertThat(host.sent.get("Submit").obj("job").obj("request").toString())
                .contains("\"cpusPerGpu\":3")
                .contains("\"tresPerTask\":\"gres/gpu=1,gres/nic=1\"")
                .doesNotContain("cpusPerTask");
        assertThat(JobOption.OUTPUT.variables('R')).containsExactly("SLURM_STDOUTMODE", "SRUN_OUTPUT");
        assertThat(JobOption.EXPORT.variables('R')).containsExactly("SLURM_EXPORT_ENV", "SRUN_EXPORT_ENV");
    }

    @Test
    void resourceOptionsAreSentAsRequested() {
        Json.Obj r = submitted("sbatch -N2-4 -n4 -c2 --mem=2G --gres=gpu:2,nic:1 --gpus-per-task=1 -G 4 -w n[1-4] "
                        + "--exclusive=user -B 2:4 -O --wrap=true")
                .obj("request");
        assertThat(r.toString())
                .isEqualTo("{\"nodesMin\":2,\"nodesMax\":4,\"tasks\":4,\"cpusPerTask\":2,\"memPerNodeMb\":2048,"
                        + "\"tresPerNode\":\"gres/gpu:2,gres/nic:1\",\"tresPerJob\":\"gres/gpu:4\","
                        + "\"tresPerTask\":\"gres/gpu=1\","
                        + "\"nodeList\":\"n[1-4]\",\"exclusive\":\"USER\",\"overcommit\":true,\"socketsPerNode\":2,"
                        + "\"coresPerSocket\":4}");
        assertThat(submitted("sbatch --mem=0 --wrap=true").obj("request").flag("memAll"))
                .isTrue();
        assertThat(submitted("sbatch --mem-per-cpu=0 --wrap=true")
                        .obj("request")
                        .flag("memAll"))
                .isTrue();
        assertThat(submitted("sbatch --mem-per-cpu=1 --wrap=true")
                        .obj("request")
                        .flag("memAll"))
                .isFalse();
    }

    /** An option that is set beats the value that a hint implies, unless the hint comes from a stronger source. */
    @Test
    void hintYieldsToOptionsThatAreSet() {
        host.files.put("/work/hinted.sh", "#!/bin/sh\n#SBATCH --hint=multithread\n");
        host.files.put("/work/counted.sh", "#!/bin/sh\n#SBATCH --cores-per-socket=2\n");
        String[][] table = {
            {"--hint=nomultithread --wrap=x", "", "nomultithread 0"},
            {"--hint=nomultithread --cores-per-socket=2 --wrap=x", "", " 2"},
            {"--cores-per-socket=2 --hint=nomultithread --wrap=x", "", " 2"},
            {"--hint=nomultithread --sockets-per-node=2 --wrap=x", "", " 0"},
            {"--hint=nomultithread -B 1:2 --wrap=x", "", " 2"},
            {"--hint=nomultithread --threads-per-core=1 --wrap=x", "", " 0"},
            {"--ntasks-per-core=1 --hint=multithread --wrap=x", "", " 0"},
            {"--cores-per-socket=2 hinted.sh", "", " 2"},
            {"--hint=multithread counted.sh", "", "multithread 0"},
            {"--cores-per-socket=2 --wrap=x", "multithread", " 2"},
            {"counted.sh", "multithread", "multithread 0"}
        };
        for (String[] row : table) {
            if (!row[1].isEmpty()) {
                host.env.put("SBATCH_HINT", row[1]);
            }
            Json.Obj r = submitted("sbatch " + row[0]).obj("request");
            assertThat(r.text("hint") + " " + r.integer("coresPerSocket"))
                    .as(row[0])
                    .isEqualTo(row[2]);
        }
    }

    @Test
    void timingOptionsAreSentAsRequested() {
        Json.Obj t = submitted(
                        "sbatch -t 1-2 --begin=now+1hour -d afterok:5 -a 1-9%2 --nice --no-requeue -H --wrap=true")
                .obj("timing");
        assertThat(t.toString())
                .isEqualTo("{\"timeLimitMin\":1560,\"beginTime\":1795257980,\"dependency\":\"afterok:5\","
                        + "\"array\":\"1-9%2\",\"nice\":100,\"hold\":true,\"requeue\":\"NO\"}");
        assertThat(submitted("sbatch -t UNLIMITED --wrap=true").obj("timing").integer("timeLimitMin"))
                .isEqualTo(-1);
        Json.Obj e = submitted("sbatch --signal=B:USR2@90 --wrap=true").obj("extras");
        assertThat(e.integer("warnSignal")).isEqualTo(12);
        assertThat(e.integer("warnSeconds")).isEqualTo(90);
        assertThat(e.flag("warnBatchOnly")).isTrue();
        assertThat(submitted("sbatch --signal=R:USR2 --wrap=true").obj("extras").flag("warnReserve"))
                .isTrue();
    }

    @Test
    void commandLineBeatsEnvironmentBeatsScript() {
        host.files.put("/work/job.sh", """
                #!/bin/bash
                #SBATCH --job-name="my job" -N 2 # two of them
                #SBATCH --partition=script --account=script --comment='a b'
                  # a comment

                #SBATCH -t 10
                echo
                #SBATCH -t 99
                """);
        host.env.put("SBATCH_PARTITION", "env");
        host.env.put("SBATCH_ACCOUNT", "env");
        Json.Obj job = submitted("sbatch -p line job.sh x y");
        assertThat(job.text("name")).isEqualTo("my job");
        assertThat(job.text("partition")).isEqualTo("line");
        assertThat(job.obj("charge").text("account")).isEqualTo("env");
        assertThat(job.obj("extras").text("comment")).isEqualTo("a b");
        assertThat(job.obj("timing").integer("timeLimitMin")).isEqualTo(10);
        assertThat(job.obj("request").integer("nodesMin")).isEqualTo(2);
        List<String> arguments = job.obj("payload").texts("arguments").stream()
                .map(a -> Bytes.fromBase64(a).text())
                .toList();
        assertThat(arguments).containsExactly("/work/job.sh", "x", "y");
        assertThat(text(job.obj("payload"), "submitLine")).isEqualTo("sbatch -p line job.sh x y");
    }

    /** Memory is asked for in one way: the command line's, else the variable's, else the script's. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --mem=60                  | SBATCH_MEM_PER_CPU=30                        | 60 0 0
            --mem-per-cpu=60          | SBATCH_MEM_PER_NODE=30                       | 0 60 0
            --mem-per-cpu=60          | SBATCH_MEM_PER_NODE=30 SBATCH_MEM_PER_GPU=10 | 0 60 0
            --mem-per-gpu=60 --gpus=1 | SBATCH_MEM_PER_NODE=30                       | 0 0 60
            --gpus=1                  | SBATCH_MEM_PER_GPU=30                        | 0 0 30
            --gpus=1                  | SBATCH_MEM_PER_CPU=30                        | 0 30 0
            --gpus=1                  | SBATCH_MEM_PER_NODE=70 SBATCH_MEM_PER_CPU=30 | SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE
            --gpus=1                  | SBATCH_MEM_PER_NODE=70 SBATCH_MEM_PER_GPU=30 | SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE
            --mem=1 --mem-per-gpu=2   | X= | --mem, --mem-per-cpu, and --mem-per-gpu
            """)
    void memoryOptionsExcludeEachOther(String args, String variables, String said) {
        for (String v : variables.split(" +")) {
            host.env.put(v.split("=")[0], v.substring(v.indexOf('=') + 1));
        }
        FakeHost.Ran ran = host.run("sbatch " + args + " --wrap=true");
        if (ran.rc() != 0) {
            assertThat(ran.err()).isEqualTo("sbatch: fatal: " + said + " are mutually exclusive.\n");
            return;
        }
        Json.Obj r = host.sent.get("Submit").obj("job").obj("request");
        assertThat(r.number("memPerNodeMb") + " " + r.number("memPerCpuMb") + " " + r.number("memPerGpuMb"))
                .isEqualTo(said);
    }

    @Test
    void theCommandLineSaysWhetherToRequeue() {
        host.env.put("SBATCH_NO_REQUEUE", "1");
        assertThat(submitted("sbatch --requeue --wrap=true").obj("timing").text("requeue"))
                .isEqualTo("YES");
    }

    @Test
    void sbatchReportsARefusedSubmission() {
        host.refuse("Submit", 2000, "Invalid partition name specified");
        FakeHost.Ran ran = host.run("sbatch -p nope --wrap=true");
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.err())
                .isEqualTo("sbatch: error: invalid partition specified: nope\n"
                        + "sbatch: error: Batch job submission failed: Invalid partition name specified\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            --exclusive --overlap | 1 | srun: error: --exclusive and --overlap are mutually exclusive
            --overlap --exclusive=user | 1 | srun: error: --exclusive and --overlap are mutually exclusive
            --cpu-bind= | 1 | srun: error: unrecognized --cpu-bind argument "";srun: fatal: Failed to parse --cpu-bind= values.
            --mem-bind= | 255 | srun: error: unrecognized --mem-bind argument ""
            --het-group=x | 1 | srun: error: _parse_single_range: Invalid range: `x';srun: error: Invalid --het-group value: x
            --het-group=0-2:2 | 1 | srun: error: _parse_single_range: Invalid range: `0-2:2';srun: error: Invalid --het-group value: 0-2:2
            --het-group=128 | 1 | srun: error: Invalid --het-group value: 128
            -K1k | 1 | srun: error: Invalid numeric value "1k" for --kill-on-bad-exit.
            -W 1k | 1 | srun: error: Invalid numeric value "1k" for --wait.
            """)
    void invalidStepOptionIsRefused(String args, int rc, String sentences) {
        assertThat(host.run("srun " + args + " true"))
                .isEqualTo(new FakeHost.Ran(rc, "", sentences.replace(';', '\n') + "\n"));
        assertThat(host.calls).isEmpty();
    }

    @Test
    void exportNoneOrFileChoosesTheEnvironment() {
        host.env.putAll(Map.of("A", "1", "SLURM_X", "2"));
        submitted("sbatch --export= --wrap=true");
        assertThat(environment()).contains("SLURM_X=2").doesNotContain("A=1");
        submitted("sbatch --export=all --wrap=true");
        assertThat(environment()).contains("A=1");
        host.files.put("/e", "A=9\0B=a b\0");
        submitted("sbatch --export-file=/e --export=ALL --wrap=true");
        assertThat(environment()).contains("A=9", "B=a b");
        submitted("sbatch --export-file=/e --wrap=true");
        assertThat(environment()).contains("A=9").doesNotContain("SLURM_X=2");
        host.env.put("SLURM_UMASK", "077");
        assertThat(submitted("sbatch --wrap=true").obj("payload").integer("umask"))
                .isEqualTo(63);
        host.env.put("SLURM_UMASK", "x");
        assertThat(submitted("sbatch --wrap=true").obj("payload").integer("umask"))
                .isEqualTo(host.umask());
    }

    @Test
    void bindingOfMemoryIsToldToSteps() {
        String[][] table = {
            {"verbose,local", "=verbose,local _VERBOSE=verbose _TYPE=local"},
            {"nosort", ""},
            {
                "sort,p,map_mem:0",
                "=sort,prefer,map_mem:0 _VERBOSE=quiet _TYPE=map_mem: _LIST=0 _SORT=sort _PREFER=prefer"
            }
        };
        for (String[] row : table) {
            submitted("sbatch --mem-bind=" + row[0] + " --wrap=true");
            assertThat(environment().stream()
                            .filter(e -> e.startsWith("SLURM_MEM_BIND"))
                            .map(e -> e.substring("SLURM_MEM_BIND".length())))
                    .containsExactly(row[1].isEmpty() ? new String[0] : row[1].split(" "));
        }
    }

    /** --wait: a signal is no exit code. */
    @Test
    void sbatchWaitReturnsTheJobsExitCode() {
        String[][] table = {{"COMPLETED|0|0", "0"}, {"FAILED|3|0", "3"}, {"FAILED|0|9", "1"}, {"TIMEOUT|0|0", "1"}};
        for (String[] row : table) {
            String[] end = row[0].split("\\|");
            host.reply(
                    "QueryJobs",
                    "{\"jobs\":[{\"jobId\":12,\"state\":\"" + end[0] + "\",\"exit\":{\"code\":" + end[1]
                            + ",\"signal\":" + end[2] + "}}]}");
            assertThat(host.run("sbatch -W --wrap=true").rc()).as(row[0]).isEqualTo(Integer.parseInt(row[1]));
        }
    }

    @Test
    void exportChoosesTheEnvironment() {
        host.env.put("A", "1");
        host.env.put("SLURM_X", "2");
        submitted("sbatch --export=B=3,A --wrap=true");
        assertThat(environment())
                .contains(
                        "A=1",
                        "B=3",
                        "SLURM_X=2",
                        "SLURM_EXPORT_ENV=B=3,A",
                        "SLURM_JOB_NAME=wrap",
                        "SLURM_SUBMIT_DIR=/work",
                        "SLURM_SUBMIT_HOST=login");
        submitted("sbatch --export=NONE --wrap=true");
        assertThat(environment()).doesNotContain("A=1").contains("SLURM_X=2");
        assertThat(host.sent.get("Submit").obj("job").obj("extras").flag("getUserEnv"))
                .isTrue();
    }

    private List<String> environment() {
        return host.sent.get("Submit").texts("environment").stream()
                .map(e -> Bytes.fromBase64(e).text())
                .toList();
    }

    @Test
    void rawTextRoundTripsInvalidUtf8() {
        byte[] odd = {'a', (byte) 0xff, (byte) 0xc3, (byte) 0xa4, (byte) 0xed, (byte) 0xa0, (byte) 0x80, '\n'};
        assertThat(RawText.encode(RawText.decode(odd))).isEqualTo(odd);
    }

    /**
     * A step ignores --ntasks-per-node where its nodes would not take its tasks; beside -N alone it is the number of
     * tasks of each node.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --ntasks-per-node=1           | 2 | 4 | 0
            -n4 --ntasks-per-node=1       | 2 | 4 | 0
            -N1 -n4 --ntasks-per-node=1   | 1 | 4 | 0
            -N1-2 -n4 --ntasks-per-node=1 | 2 | 4 | 0
            -N2 --ntasks-per-node=1       | 0 | 2 | 1
            -N1-2 --ntasks-per-node=1     | 0 | 2 | 1
            -n3 --ntasks-per-node=2       | 0 | 3 | 2
            -N2 -n3 --ntasks-per-node=2   | 0 | 3 | 2
            -N2 -n4 --ntasks-per-node=3   | 0 | 4 | 3
            """)
    void stepIgnoresTasksPerNodeThatDoNotFit(String options, int warnedNodes, int tasks, int left) {
        FakeHost host = new FakeHost()
                .reply(
                        "AwaitAllocation",
                        "{\"jobId\":5,\"state\":\"RUNNING\",\"ready\":true,\"nodes\":\"n[1-2]\","
                                + "\"nodeCount\":2,\"shares\":[{\"node\":\"n1\",\"cpus\":4},{\"node\":\"n2\","
                                + "\"cpus\":4}]}");
        host.env.putAll(java.util.Map.of("SLURM_JOB_ID", "5", "SLURM_NNODES", "2", "SLURM_NTASKS", "4"));
        host.refuse("CreateStep", 2014, "enough");
        FakeHost.Ran ran = host.run("srun " + options + " true");
        String warning = "srun: warning: can't honor --ntasks-per-node set to "
                + options.substring(options.length() - 1)
                + " which doesn't match the requested tasks 4 with the maximum number of requested nodes " + warnedNodes
                + ". Ignoring --ntasks-per-node.\n";
        assertThat(ran.err())
                .isEqualTo((warnedNodes > 0 ? warning : "") + "srun: error: Unable to create step for job 5: enough\n");
        String sent = host.sent.get("CreateStep").toString();
        assertThat(sent).contains("\"tasks\":" + tasks);
        assertThat(sent.contains("\"tasksPerNode\":" + left)).isEqualTo(left > 0);
    }

    /** A job of srun keeps it: slurmctld refuses what does not fit. */
    @ParameterizedTest
    @ValueSource(strings = {"-n3 -N2 --ntasks-per-node=2", "-n4 -N2 --ntasks-per-node=1", "-n3 --ntasks-per-node=2"})
    void srunJobKeepsTasksPerNodeThatDoNotFit(String options) {
        FakeHost host = new FakeHost();
        host.refuse("Submit", 2014, "enough");
        assertThat(host.run("srun " + options + " true").err())
                .isEqualTo("srun: error: Unable to allocate resources: enough\n");
        assertThat(host.sent.get("Submit").toString())
                .contains("\"tasksPerNode\":" + options.substring(options.length() - 1));
    }

    /** Which file a script's name means; the job shows it as its Command. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            x.sh           | /work/x.sh
            dir/x.sh       | /work/dir/x.sh
            ./x.sh         | ./x.sh
            ../work/x.sh    | ../work/x.sh
            .hidden        | .hidden
            /work/x.sh | /work/x.sh
            tool           | /site/bin/tool
            sub/tool       | /site/bin/sub/tool
            -D dir x.sh    | /work/dir/x.sh
            -D /tmp x.sh   | x.sh
            -D dir tool    | /site/bin/tool
            """)
    void scriptNameIsResolvedToItsFile(String args, String command) {
        for (String file : List.of(
                "/work/x.sh",
                "/work/dir/x.sh",
                "/work/./x.sh",
                "/work/../work/x.sh",
                "/work/.hidden",
                "/site/bin/tool",
                "/site/bin/sub/tool")) {
            host.files.put(file, "#!/bin/sh\n");
        }
        host.env.put("PATH", "/nosuch:/site/bin");

        assertThat(Bytes.fromBase64(submitted("sbatch " + args + " a b")
                                .obj("payload")
                                .texts("arguments")
                                .getFirst())
                        .text())
                .isEqualTo(command);
    }
}
