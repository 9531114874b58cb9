package dev.muster.controller.lua;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.JobDesc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what a script reads of a job, what it makes of it, and what becomes of its mistakes. shows: JobSubmitPlugins
 */
class SubmitScriptTest {
    private static final String TAIL = "\nfunction slurm_job_modify(job_desc, job_rec, part_list, uid)\n"
            + "slurm.log_user('%s %s', job_rec.name, tostring(job_desc.comment))\nreturn slurm.SUCCESS end\nreturn "
            + "slurm.SUCCESS\n";

    @TempDir
    Path dir;

    private final List<String> log = new ArrayList<>();

    private record Site() implements SubmitScript.Cluster {
        @Override
        public String name() {
            return "blue";
        }

        @Override
        public List<Json.Obj> partitions(int uid) {
            return List.of(
                    new Json.Obj().put("name", "a").put("max_time", 60L),
                    new Json.Obj().put("name", "b").put("qos", ""));
        }

        @Override
        public List<Json.Obj> jobs() {
            return List.of(new Json.Obj().put("job_id", 7L).put("name", "seven"));
        }

        @Override
        public List<Json.Obj> reservations() {
            return List.of();
        }

        @Override
        public long qosPriority(String qos) {
            return qos.equals("high") ? 10 : -1;
        }

        @Override
        public Map<String, String> association(JobDesc job) {
            return job.charge().account().isEmpty() ? Map.of("qos", "low,high") : Map.of();
        }
    }

    private SubmitScript script(String body) throws IOException {
        Path file = dir.resolve("job_submit.lua");
        Files.writeString(file, "function slurm_job_submit(job_desc, part_list, submit_uid)\n" + body + "\nend" + TAIL);
        return new SubmitScript(file.toFile(), log::add, text -> log.add("error: " + text), 1000);
    }

    private static JobDesc job(String words) {
        Json.Obj tree = new Json.Obj();
        for (String word : words.isEmpty() ? new String[0] : words.split(" ")) {
            String path = word.split("=")[0];
            String text = word.split("=")[1];
            Object value =
                    text.matches("-?[0-9]+") ? Long.valueOf(text) : text.equals("true") ? (Object) Boolean.TRUE : text;
            int dot = path.indexOf('.');
            Json.Obj part = dot < 0 ? tree : tree.obj(path.substring(0, dot));
            part.put(path.substring(dot + 1), value);
            if (dot >= 0) {
                tree.put(path.substring(0, dot), part);
            }
        }
        return Codec.bind(tree, JobDesc.class);
    }

    private SubmitScript.Outcome run(String body, String words) throws IOException {
        try (SubmitScript s = script(body)) {
            return s.submit(
                    job(words),
                    Bytes.of("#!/bin/sh\n"),
                    List.of(Bytes.of("A=1"), Bytes.of("B=2=3")),
                    Map.of(),
                    500,
                    new Site());
        }
    }

    @Test
    void submitScriptReadsJobFields() throws IOException {
        for (String row : """
                                             | job_desc.account                              | nil
                charge.account=x             | job_desc.account                              | x
                charge.account=x             | job_desc['account']                           | x
                                             | job_desc.time_limit == slurm.NO_VAL           | true
                timing.timeLimitMin=-1       | job_desc.time_limit == slurm.INFINITE         | true
                timing.timeLimitMin=90       | job_desc.time_limit                           | 90
                                             | job_desc.min_nodes == slurm.NO_VAL            | true
                request.nodesMin=2           | job_desc.max_nodes                            | 2
                                             | job_desc.cpus_per_task == slurm.NO_VAL16      | true
                                             | job_desc.pn_min_memory == slurm.NO_VAL64      | true
                request.memPerCpuMb=100      | job_desc.min_mem_per_cpu                      | 100
                request.memPerCpuMb=100      | job_desc.min_mem_per_node                     | nil
                request.exclusive=USER       | job_desc.shared                               | 2
                                             | job_desc.shared == slurm.NO_VAL16             | true
                                             | job_desc.script                               | #!/bin/sh
                                             | job_desc.environment.B                        | 2=3
                kind=RUN                     | type(job_desc.environment) .. tostring(job_desc.environment.B) | tablenil
                                             | job_desc.core_spec                            | nil
                                             | string.format('%d', slurm.NO_VAL)             | 4294967294
                                             | slurm.ESLURM_LUA_FUNC_FAILED_RUNTIME_ERROR or 7405 | 7405
                kind=RUN                     | job_desc.script                               | nil
                extras.mailType=END,FAIL     | job_desc.mail_type == slurm.MAIL_JOB_END + slurm.MAIL_JOB_FAIL | true
                request.switches=2@300       | job_desc.wait4switch                          | 18000
                request.switches=2@10:00     | job_desc.wait4switch .. ' ' .. job_desc.req_switch | 600 2
                timing.delayBootMin=5        | job_desc.delay_boot                           | 300
                request.nodeList=n[1-3]      | job_desc.min_nodes                            | 3
                request.cpusPerTask=2        | job_desc.pn_min_cpus .. job_desc.tres_per_task | 2cpu=2
                request.cpusPerTask=2 request.tasksPerNode=2 | job_desc.min_cpus             | 4
                request.tasksPerGpu=2 request.tresPerJob=gres/gpu:2 | job_desc.num_tasks     | 4
                request.hint=nomultithread   | job_desc.threads_per_core                     | 1
                request.memAll=true          | job_desc.pn_min_memory .. job_desc.min_mem_per_node | 00
                request.tasks=2              | job_desc.bitflags & 0xC000                    | 16384
                                             | job_desc.segment_size                         | 0
                timing.nice=-5               | job_desc.nice - slurm.NICE_OFFSET             | -5
                                             | job_desc.nothing_such                         | nil
                                             | job_desc.assoc_qos                            | low,high
                charge.account=other         | job_desc.assoc_qos                            | nil
                                             | slurm.get_qos_priority('high')                | 10
                                             | slurm.get_qos_priority('none')                | 0
                                             | part_list['a'].max_time                       | 60
                                             | part_list.b.qos                               | nil
                                             | slurm.jobs['7'].name                          | seven
                                             | slurm.jobs[7].name                            | seven
                                             | slurm.CLUSTER_NAME                            | blue
                                             | slurm.time_str2mins('1-0')                    | 1440
                                             | submit_uid                                    | 500
                                             | slurm.ESLURM_INVALID_ACCOUNT                  | 2045
                                             | luajava                                       | nil
                                             | unpack({4})                                   | 4
                """.split("\n")) {
            String[] cells = row.split("\\|");
            SubmitScript.Outcome o = run("slurm.log_user('%s', tostring(" + cells[1].strip() + "))", cells[0].strip());
            assertThat(String.join("", o.said())).as(row + " " + log).isEqualTo(cells[2].strip());
        }
    }

    @Test
    void submitScriptSetsJobFields() throws IOException {
        for (String row : """
                job_desc.partition = 'b'               | partition=b
                job_desc.time_limit = 30               | timing.timeLimitMin=30
                job_desc.time_limit = slurm.INFINITE   | timing.timeLimitMin=-1
                job_desc.qos = 'high'                  | charge.qos=high
                job_desc.pn_min_memory = 500           | request.memPerNodeMb=500
                job_desc.min_mem_per_cpu = 50          | request.memPerCpuMb=50
                job_desc.shared = 0                    | request.exclusive=NODE
                job_desc.priority = 0                  | timing.hold=true
                job_desc.nice = slurm.NICE_OFFSET + 7  | timing.nice=7
                job_desc.mail_type = slurm.MAIL_JOB_END | extras.mailType=END
                job_desc.features = 'big'              | request.features=big
                job_desc['comment'] = 'c'              | extras.comment=c
                job_desc.oversubscribe = 0             | request.exclusive=NODE
                job_desc.gres = 'gpu:1,gres/nic:2'     | request.tresPerNode=gres/gpu:1,gres/nic:2
                job_desc.cpus_per_tres = 'gres/gpu:2'  | request.cpusPerGpu=2
                job_desc.mem_per_tres = 'gres/gpu=20'  | request.memPerGpuMb=20
                job_desc.ntasks_per_socket = 2         | request.tasksPerSocket=2
                job_desc.tres_freq = 'gpu:high'        | extras.tresFreq=gpu:high
                job_desc.cpu_freq_max = 2147483651     | extras.cpuFreq=-High:
                job_desc.cpu_freq_gov = 2181038080 job_desc.cpu_freq_min = 1000 | extras.cpuFreq=1000-:Performance
                job_desc.end_time = 4000000000         | timing.deadline=null
                """.split("\n")) {
            String[] cells = row.split("\\|");
            String given = cells[1].contains("partition=a") ? "partition=x" : "";
            SubmitScript.Outcome o = run(cells[0].strip() + "\nreturn slurm.SUCCESS", given);
            Json.Obj is = Json.object(Codec.encode(((SubmitScript.Passed) o).job()));
            String path = cells[1].strip().split("=")[0];
            Object value = path.contains(".") ? is.obj(path.split("\\.")[0]).raw(path.split("\\.")[1]) : is.raw(path);
            String expected = given.isEmpty() ? cells[1].strip().split("=")[1] : "null";
            assertThat(String.valueOf(value)).as(row + " " + log).isEqualTo(expected);
        }
        assertThat(log).isEmpty();
        SubmitScript.Passed p = (SubmitScript.Passed) run(
                "job_desc.environment.A = 'x'\njob_desc.environment['NEW'] = 1\n"
                        + "job_desc.script = '#!/bin/bash\\n'\nreturn 0",
                "");
        assertThat(p.environment()).containsExactly(Bytes.of("A=x"), Bytes.of("B=2=3"), Bytes.of("NEW=1"));
        assertThat(p.script()).isEqualTo(Bytes.of("#!/bin/bash\n"));
        run("job_desc.user_id = 0\njob_desc.rubbish = 1", "");
        assertThat(log.toString())
                .contains(
                        "_set_job_field: unrecognized field: user_id",
                        "unrecognized field: rubbish",
                        "non-numeric return code");
    }

    /** Fields that 26.05 lets no script set: the assignment is logged and the job goes on. */
    @Test
    void unsettableFieldIsLoggedAsUnrecognized() throws IOException {
        for (String name : ("deadline network overcommit kill_on_node_fail ntasks_per_core wait_all_nodes warn_signal "
                        + "warn_time container_id "
                        + "container_type user_id argc")
                .split(" ")) {
            log.clear();
            SubmitScript.Passed p = (SubmitScript.Passed) run("job_desc." + name + " = 1\nreturn 0", "");
            assertThat(p.job()).as(name).isEqualTo(job(""));
            assertThat(log).containsExactly("error: job_submit/lua: _set_job_field: unrecognized field: " + name);
        }
    }

    /**
     * Refuses values of a script as slurmctld does. The CPUs of a held job are not compared: the job may still change.
     */
    @Test
    void invalidFieldValueOfAScriptIsRefused() throws IOException {
        for (String row : """
                job_desc.max_cpus = 2                  | request.tasks=4                    | 2014
                job_desc.max_cpus = 2                  | request.tasks=2 request.cpusPerTask=2 | 2014
                job_desc.max_cpus = 4                  | request.tasks=4                    | 0
                job_desc.max_cpus = slurm.NO_VAL       | request.tasks=4                    | 0
                job_desc.num_tasks = 3e9 job_desc.num_tasks = 4 | request.tasks=2           | 0
                job_desc.min_cpus = 4 job_desc.max_cpus = 3 | request.tasks=2               | 2014
                job_desc.max_cpus = 2                  | request.tasks=4 timing.hold=true   | 0
                job_desc.min_nodes = 2 job_desc.max_nodes = 1 | request.tasks=4             | 2006
                job_desc.cpus_per_tres = 'gpu:2'       | request.tasks=4                    | 2115
                job_desc.mem_per_tres = 'gpu:1G'       | request.tasks=4                    | 2115
                job_desc.tres_per_node = 'gpu:1'       | request.tasks=4                    | 2115
                job_desc.tres_per_job = 'gpu:1'        | request.tasks=4                    | 2115
                job_desc.tres_per_socket = 'gres/gpu:1' | request.tasks=4                   | 2072
                job_desc.tres_per_socket = 'gres/gpu:1' | request.socketsPerNode=2          | 0
                job_desc.script = ''                   | request.tasks=4                    | 2009
                """.split("\n")) {
            String[] cells = row.split("\\|");
            SubmitScript.Outcome o = run(cells[0].strip() + "\nreturn 0", "kind=BATCH " + cells[1].strip());
            assertThat(o instanceof SubmitScript.Refused r ? r.errno() : 0)
                    .as(row + " " + log)
                    .isEqualTo(Integer.parseInt(cells[2].strip()));
        }
    }

    /** A number that no description holds is read again as the script set it, and refuses the job by its name. */
    @Test
    void numberOutOfRangeIsReadAgainAndRefusesTheJob() throws IOException {
        SubmitScript.Refused r = (SubmitScript.Refused) run(
                "job_desc.num_tasks = 3000000000 job_desc.cpus_per_task = -5 local a = job_desc.default_account\n"
                        + "slurm.log_user('%d %d', job_desc.num_tasks, job_desc.cpus_per_task)\nreturn 0",
                "");
        assertThat(r.errno()).isEqualTo(7405);
        assertThat(r.said())
                .containsExactly(
                        "3000000000 -5",
                        "cpus_per_task: the number -5 is out of range",
                        "num_tasks: the number 3000000000 is out of range");
        assertThat(log)
                .hasSize(2)
                .allMatch(line -> line.matches("error: job_submit/lua: .*job_submit.lua: .* is out of range"));
    }

    @Test
    void numbersBesideTheDescriptionAreReadAgain() throws IOException {
        String body = "job_desc.max_cpus = 8 job_desc.min_cpus = 2 job_desc.immediate = 1 job_desc.end_time = 9\n"
                + "slurm.log_user('%d %d %d %d', job_desc.max_cpus, job_desc.min_cpus, job_desc.immediate, "
                + "job_desc.end_time)\nreturn 0";
        SubmitScript.Passed p = (SubmitScript.Passed) run(body, "");
        assertThat(p.said()).containsExactly("8 2 1 9");
        assertThat(p.changed()).containsEntry("immediate", 1L);
    }

    /** A priority does not release a job that was submitted held. */
    @Test
    void aPriorityLeavesTheHold() throws IOException {
        for (String value : List.of("5", "slurm.NO_VAL", "0")) {
            SubmitScript.Passed p =
                    (SubmitScript.Passed) run("job_desc.priority = " + value + "\nreturn 0", "timing.hold=true");
            assertThat(p.job().timing().hold()).as(value).isTrue();
        }
    }

    @Test
    void returnCodeOfAScriptDecides() throws IOException {
        assertThat(run("slurm.log_user('no %d', 3)\nreturn slurm.ERROR", ""))
                .isEqualTo(new SubmitScript.Refused(-1, "Unspecified error", List.of("no 3")));
        assertThat(run("return slurm.ESLURM_INVALID_ACCOUNT", ""))
                .isEqualTo(new SubmitScript.Refused(
                        2045, "Invalid account or account/partition combination specified", List.of()));
        assertThat(run("return 4294967296", "")).isInstanceOf(SubmitScript.Refused.class);
        assertThat(run("return 77777", ""))
                .isEqualTo(new SubmitScript.Refused(77777, "Unknown error 77777", List.of()));
        assertThat(run("return '5'", "")).isEqualTo(new SubmitScript.Refused(5, "Input/output error", List.of()));
        assertThat(run("return 'abc'", "")).isInstanceOf(SubmitScript.Passed.class);
        assertThat(run("return true", "")).isInstanceOf(SubmitScript.Passed.class);
        assertThat(run("return 0.0", "")).isInstanceOf(SubmitScript.Passed.class);
        assertThat(log).hasSize(2).allMatch(line -> line.endsWith("non-numeric return code"));
    }

    @Test
    void aMistakeInTheScriptRefusesTheJobAndIsToldToTheUserAndTheLog() throws IOException {
        String failed = "Lua function execution failed due to runtime error";
        for (String body : List.of(
                "local x = nil\nreturn x.y",
                "job_desc.time_limit = nil",
                "job_desc.time_limit = 'abc'",
                "job_desc.account = true",
                "job_desc.environment.A = nil",
                "os.exit(1)",
                "slurm.log_info('%d', 'x')")) {
            log.clear();
            SubmitScript.Refused r = (SubmitScript.Refused) run(body, "");
            assertThat(r.errno()).isEqualTo(7405);
            assertThat(r.sentence()).isEqualTo(failed);
            assertThat(r.said()).as(body).hasSize(1).allMatch(line -> line.matches(".*job_submit.lua:[23]: .+"));
            assertThat(log)
                    .as(body)
                    .hasSize(1)
                    .allMatch(line ->
                            line.matches("error: job_submit/lua: .*/job_submit.lua: .*/job_submit.lua:[23]: .+"));
        }
        assertThat(run("error({})", "")).isEqualTo(new SubmitScript.Refused(7405, failed, List.of(failed)));
    }

    @Test
    void aBrokenFileLeavesTheLastGoodOneAndNoneAtStart() throws IOException {
        try (SubmitScript s = script("return slurm.ERROR")) {
            assertThat(s.load()).isEmpty();
            Path file = dir.resolve("job_submit.lua");
            Files.writeString(file, "this is no lua");
            assertThat(file.toFile().setLastModified(1_000_000)).isTrue();
            assertThat(s.submit(job(""), Bytes.EMPTY, List.of(), Map.of(), 0, new Site()))
                    .isInstanceOf(SubmitScript.Refused.class);
            assertThat(log.toString()).contains("using previous script");
        }
        try (SubmitScript s = new SubmitScript(dir.resolve("job_submit.lua").toFile(), log::add, log::add)) {
            assertThat(s.load()).contains("job_submit.lua");
        }
        Files.writeString(dir.resolve("job_submit.lua"), "function slurm_job_submit() end return 0");
        try (SubmitScript s = new SubmitScript(dir.resolve("job_submit.lua").toFile(), log::add, log::add)) {
            assertThat(s.load()).contains("required function(s) not present");
        }
    }

    @Test
    void endlessSubmitScriptIsStoppedAndTheNextJobServed() throws IOException {
        // also where it catches its own mistakes
        try (SubmitScript s = script(
                "while job_desc.name == 'loop' do pcall(function() while true do end end) end\nreturn slurm.SUCCESS")) {
            assertThat(s.submit(job("name=loop"), Bytes.EMPTY, List.of(), Map.of(), 0, new Site()))
                    .isInstanceOf(SubmitScript.Refused.class);
            assertThat(log.toString()).contains("stopped after");
            assertThat(s.submit(job(""), Bytes.EMPTY, List.of(), Map.of(), 0, new Site()))
                    .isInstanceOf(SubmitScript.Passed.class);
        }
    }

    @Test
    void aRunThatDoesNotReturnHoldsUpNoOther() throws Exception {
        Path busy = Files.createFile(dir.resolve("busy"));
        String body = "runs = (runs or 0) + 1\nif job_desc.name == 'stuck' then os.execute('while [ -e " + busy
                + " ]; do sleep 0.05; done') end\n" + "slurm.log_user('%d', runs)\nreturn 0";
        List<String> errors = Collections.synchronizedList(new ArrayList<>());
        script(body).close();
        try (SubmitScript s = new SubmitScript(dir.resolve("job_submit.lua").toFile(), line -> {}, errors::add, 1000)) {
            assertThat(passes(s, "name=stuck")).isFalse();
            // in a state of its own
            assertThat(s.submit(job(""), Bytes.EMPTY, List.of(), Map.of(), 0, new Site())
                            .said())
                    .containsExactly("1");
            assertThat(errors.toString()).contains("no answer after", "1 of 4 such runs", "loaded anew");
            for (int i = 1; i < SubmitScript.STUCK_MAX; i++) {
                assertThat(passes(s, "name=stuck")).isFalse();
            }
            assertThat(passes(s, "")).isFalse();
            assertThat(errors.toString()).contains("4 of 4 such runs");
            assertThat(passes(s, "")).isFalse();
            assertThat(errors.getLast()).contains("refused: 4 runs of the script are stuck");
            Files.delete(busy);
            while (!passes(s, "")) {
                Thread.onSpinWait();
            }
            assertThat(errors.toString()).contains("a stuck run of the script has returned");
        }
    }

    private static boolean passes(SubmitScript script, String words) {
        return script.submit(job(words), Bytes.EMPTY, List.of(), Map.of(), 0, new Site())
                instanceof SubmitScript.Passed;
    }

    @Test
    void immediateIsOneWhereTheJobMayNotWait() throws IOException {
        try (SubmitScript s = script("slurm.log_user('%s', tostring(job_desc.immediate))\nreturn 0")) {
            assertThat(s.submit(job("kind=RUN"), Bytes.EMPTY, List.of(), Map.of("immediate", 1L), 0, new Site())
                            .said())
                    .containsExactly("1");
            assertThat(s.submit(job("kind=RUN"), Bytes.EMPTY, List.of(), Map.of("immediate", 0L), 0, new Site())
                            .said())
                    .containsExactly("0");
        }
    }

    @Test
    void textEndsBeforeANul() throws IOException {
        SubmitScript.Passed p = (SubmitScript.Passed)
                run("job_desc.mail_user = 'a\\0b' job_desc.work_dir = '/tmp\\0x'\nreturn 0", "kind=BATCH");
        assertThat(p.job().extras().mailUser()).isEqualTo("a");
        assertThat(p.job().files().workDir()).isEqualTo(Bytes.of("/tmp"));
    }

    /** Numbers of an update may be larger than those of a description: site_factor and NO_VAL mean something there. */
    @Test
    void aLargeNumberOfAnUpdateLeavesOtherFieldsReadable() throws IOException {
        for (String number : List.of("site_factor = 2147483653", "cpus_per_task = slurm.NO_VAL")) {
            Path file = dir.resolve("job_submit.lua");
            Files.writeString(file, """
                    function slurm_job_submit(job_desc, part_list, uid) return 0 end
                    function slurm_job_modify(job_desc, job_rec, part_list, uid)
                      job_desc.%s
                      slurm.log_user('%%s', tostring(job_desc.default_account))
                      return 0
                    end
                    """.formatted(number));
            try (SubmitScript s = new SubmitScript(file.toFile(), log::add, log::add, 1000)) {
                SubmitScript.Outcome o =
                        s.modify(job(""), Map.of(), job("name=old"), Bytes.EMPTY, Map.of(), 0, new Site());
                assertThat(o).as(number).isInstanceOf(SubmitScript.Passed.class);
                assertThat(o.said()).as(number).containsExactly("nil");
            }
        }
    }

    @Test
    void modifyScriptSeesOldAndNewJob() throws IOException {
        try (SubmitScript s = script("return 0")) {
            SubmitScript.Outcome o = s.modify(
                    job("extras.comment=new"),
                    Map.of(),
                    job("name=old"),
                    Bytes.EMPTY,
                    Map.of("job_id", 5L),
                    0,
                    new Site());
            assertThat(o.said()).containsExactly("old new");
        }
    }
}
