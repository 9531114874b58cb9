package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.controller.lua.SubmitScript;
import dev.muster.core.job.JobUpdateKeys;
import dev.muster.core.state.Job;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.job.JobDesc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An update as scontrol sends it, the fields of job_desc that slurm_job_modify reads, and the update that its
 * assignments make of it. The rows are those of 26.05.3. shows: JobSubmitPlugins
 */
class UpdateDescriptionTest {
    @TempDir
    Path dir;

    private final List<String> log = new ArrayList<>();
    private final Job job = job("nodesMin=1 timing.timeLimitMin=20");

    private record NoCluster() implements SubmitScript.Cluster {
        @Override
        public String name() {
            return "c";
        }

        @Override
        public List<Json.Obj> partitions(int uid) {
            return List.of();
        }

        @Override
        public List<Json.Obj> jobs() {
            return List.of();
        }

        @Override
        public List<Json.Obj> reservations() {
            return List.of();
        }

        @Override
        public long qosPriority(String qos) {
            return -1;
        }

        @Override
        public Map<String, String> association(JobDesc job) {
            return Map.of();
        }
    }

    private static Job job(String words) {
        Site site = new Site("DefMemPerCPU=1");
        int id = Integer.parseInt(site.submit("timing.hold=true " + words));
        return site.core().state().jobs().at(id);
    }

    /** {@code comment=a name=b}; {@code comment=} empties it. */
    private static Map<String, String> update(String words) {
        Map<String, String> out = new TreeMap<>();
        for (String word : words.isEmpty() ? new String[0] : words.split(" ")) {
            out.put(word.split("=", 2)[0], word.split("=", 2)[1]);
        }
        return JobUpdateKeys.whole(out);
    }

    private static String text(Map<String, String> update) {
        return String.join(" ", update.entrySet().stream().map(Object::toString).toList());
    }

    private SubmitScript.Passed run(SubmitScript script, UpdateDescription update) {
        SubmitScript.Outcome o = script.modify(
                update.description(), update.values(), job.desc(), Bytes.EMPTY, Map.of(), 0, new NoCluster());
        assertThat(o).as(log.toString()).isInstanceOf(SubmitScript.Passed.class);
        return (SubmitScript.Passed) o;
    }

    private SubmitScript script(String body) throws IOException {
        Path file = dir.resolve("job_submit.lua");
        Files.writeString(
                file,
                "function slurm_job_submit() return 0 end\nfunction slurm_job_modify(job_desc, job_rec)\n" + body
                        + "\nreturn slurm.SUCCESS end\nreturn slurm.SUCCESS\n");
        SubmitScript s = new SubmitScript(file.toFile(), log::add, log::add);
        assertThat(s.load()).isEmpty();
        return s;
    }

    /** Names that the rows may tell; each is told where it reads otherwise than with an empty update. */
    private static final String NAMES =
            "account admin_comment array_inx begin_time bitflags burst_buffer clusters comment contiguous core_spec "
                    + "cores_per_socket cpus_per_task deadline delay_boot dependency end_time exc_nodes extra "
                    + "features gres licenses mail_type mail_user "
                    + "max_cpus max_nodes mcs_label min_cpus min_mem_per_cpu min_mem_per_node min_nodes name nice "
                    + "ntasks_per_node num_tasks partition "
                    + "pn_min_cpus pn_min_memory pn_min_tmp_disk prefer priority qos reboot req_nodes req_switch "
                    + "requeue reservation shared site_factor "
                    + "sockets_per_node std_err std_in std_out thread_spec threads_per_core time_limit time_min "
                    + "tres_bind tres_per_job tres_per_node "
                    + "tres_per_socket tres_per_task wait4switch wckey work_dir";

    private static final String READS = """
            admincomment=a                | admin_comment=a
            account=acct                  | account=acct bitflags=469762048
            qos=normal                    | bitflags=369098752 qos=normal
            qos=                          | bitflags=369098752 qos=
            wckey=w                       | bitflags=234881024 wckey=w
            partition=short               | bitflags=436207616 partition=short
            part=short                    | bitflags=436207616 partition=short
            comment=                      | comment=
            extra=e                       | extra=e
            mailuser=u                    | mail_user=u
            mcslabel=l                    | mcs_label=l
            reservation=r                 | reservation=r
            reservationname=r             | reservation=r
            features=f                    | features=f
            prefer=p                      | prefer=p
            licenses=l                    | licenses=l
            tresbind=gres/gpu:single:1    | tres_bind=gres/gpu:single:1
            reqnodelist=n1                | req_nodes=n1
            nodelist=n2                   | req_nodes=n2
            excnodelist=n2                | exc_nodes=n2
            dependency=singleton          | dependency=singleton
            name=x                        | name=x
            jobname=x                     | name=x
            clusters=a                    | clusters=a
            gres=gpu:1                    | gres=gres/gpu:1 tres_per_node=gres/gpu:1
            gres=gres/gpu:1               | gres=gres/gpu:1 tres_per_node=gres/gpu:1
            gres=gpu:1,nic:1              | gres=gres/gpu:1,gres/nic:1 tres_per_node=gres/gpu:1,gres/nic:1
            trespernode=gres/gpu:2        | gres=gres/gpu:2 tres_per_node=gres/gpu:2
            trespernode=gpu:2             | gres=gpu:2 tres_per_node=gpu:2
            tresperjob=gpu:1              | tres_per_job=gpu:1
            trespersocket=gpu:1           | tres_per_socket=gpu:1
            trespertask=gres/gpu:1        | tres_per_task=gres/gpu:1
            numtasks=2                    | num_tasks=2
            reqprocs=2                    | num_tasks=2
            cpuspertask=2                 | cpus_per_task=2
            taskspernode=2                | ntasks_per_node=2
            mincpusnode=2                 | pn_min_cpus=2
            reqcores=2                    | cores_per_socket=2
            reqsockets=2                  | sockets_per_node=2
            reqthreads=2                  | threads_per_core=2
            corespec=1                    | core_spec=1
            threadspec=1                  | thread_spec=1
            mintmpdisknode=5              | pn_min_tmp_disk=5
            minmemorynode=100             | min_mem_per_node=100 pn_min_memory=100
            minmemorycpu=50               | min_mem_per_cpu=50 pn_min_memory=9223372036854775808
            contiguous=yes                | contiguous=1
            contiguous=no                 | contiguous=0
            oversubscribe=yes             | shared=1
            oversubscribe=no              | shared=0
            shared=y                      | shared=1
            reboot=yes                    | reboot=1
            reboot=no                     | reboot=0
            requeue=1                     | requeue=1
            requeue=0                     | requeue=0
            starttime=1893456000          | begin_time=1893456000
            eligibletime=1893456000       | begin_time=1893456000
            endtime=1893456000            | end_time=1893456000
            deadline=1893456000           | deadline=1893456000
            delayboot=5                   | delay_boot=300
            delayboot=0:90                | delay_boot=90
            timemin=3                     | time_min=3
            timelimit=10                  | time_limit=10
            timel=10                      | time_limit=10
            timelimit=+5                  | time_limit=25
            timelimit=-5                  | time_limit=15
            timelimit=1:30                | time_limit=2
            timelimit=UNLIMITED           | time_limit=4294967295
            workdir=/tmp                  | work_dir=/tmp
            stdin=/i                      | std_in=/i
            stdout=/o                     | std_out=/o
            stderr=/e                     | std_err=/e
            nice=5                        | nice=2147483653
            nice=-5                       | nice=2147483643
            nice=                         | nice=2147483748
            nice=0                        | nice=2147483648
            priority=0                    | priority=0
            priority=5                    | priority=5
            priority=4294967295           | priority=4294967295
            numnodes=1                    | max_nodes=1 min_nodes=1
            numnodes=1-2                  | max_nodes=2 min_nodes=1
            reqnodes=2                    | max_nodes=2 min_nodes=2
            numcpus=4                     | min_cpus=4
            numcpus=2-4                   | max_cpus=4 min_cpus=2
            switches=2@10:00              | req_switch=2 wait4switch=600
            switches=1                    | req_switch=1
            switches=                     | req_switch=0
            wait-for-switch=60            | wait4switch=60
            mailtype=ALL                  | mail_type=1295
            mailtype=END,fail             | mail_type=6
            mailtype=NONE                 | mail_type=0
            arraytaskthrottle=2           | array_inx=2
            resetaccruetime=              | bitflags=505413632
            clusterfeatures=f             |
            numnodes=2 numcpus=4          | max_nodes=2 min_cpus=4 min_nodes=2
            """;

    @Test
    void theScriptReadsEachFieldOfAnUpdate() throws IOException {
        StringBuilder read = new StringBuilder();
        String body = "for name in string.gmatch('" + NAMES + "', '[%w_]+') do local v = job_desc[name]\n"
                + "slurm.log_user('%s=%s', name, type(v) == 'number' and string.format('%.0f', v) or tostring(v)) end";
        try (SubmitScript s = script(body)) {
            List<String> unset = run(s, new UpdateDescription(job, Map.of())).said();
            for (String row : READS.split("\n")) {
                List<String> fields =
                        new ArrayList<>(run(s, new UpdateDescription(job, update(row.split("\\|")[0].strip())))
                                .said());
                fields.removeAll(unset);
                read.append((row.substring(0, row.indexOf('|') + 1) + " " + String.join(" ", fields)).stripTrailing())
                        .append('\n');
            }
        }
        assertThat(read.toString()).isEqualTo(READS);
    }

    private static final String WRITES = """
            comment=c        | comment = 'd'                    | comment=d
            comment=c        | comment = ''                     | comment=
            name=n           | comment = 'd'                    | comment=d name=n
            name=n           | comment = ''                     | comment= name=n
            comment=c        | comment = 'c'                    | comment=c
            comm=c           | comment = 'd'                    | comment=d
            jobname=n        | name = 'm'                       | name=m
            name=n           | partition = 'short'              | name=n partition=short
            name=n           | req_nodes = 'n1'                 | name=n reqnodelist=n1
            nodelist=n1      | req_nodes = 'n2'                 | reqnodelist=n2
            name=n           | time_limit = 7                   | name=n timelimit=7
            timelimit=+5     | time_limit = 7                   | timelimit=7
            timelimit=+5     | time_limit = 25                  | timelimit=+5
            timelimit=9      | time_limit = slurm.INFINITE      | timelimit=UNLIMITED
            timelimit=9      | time_limit = slurm.NO_VAL        |
            name=n           | time_min = 7                     | name=n timemin=7
            name=n           | begin_time = 1893456000          | name=n starttime=1893456000
            starttime=5      | begin_time = 1893456000          | starttime=1893456000
            name=n           | end_time = 1893456000            | endtime=1893456000 name=n
            name=n           | deadline = 1893456000            | name=n
            name=n           | delay_boot = 90                  | delayboot=00:01:30 name=n
            name=n           | nice = slurm.NICE_OFFSET + 3     | name=n nice=3
            name=n           | nice = slurm.NICE_OFFSET         | name=n nice=0
            nice=5           | nice = slurm.NO_VAL              |
            name=n           | priority = 9                     | name=n priority=9
            name=n           | priority = 0                     | name=n priority=0
            priority=9       | priority = slurm.INFINITE        | priority=INFINITE
            sitefactor=30    | site_factor = job_desc.site_factor + 7 | sitefactor=37
            name=n           | site_factor = slurm.NICE_OFFSET + 7 | name=n sitefactor=7
            name=n           | site_factor = job_desc.site_factor + 7 | name=n                   | site_factor
            name=n           | num_tasks = 2                    | name=n numtasks=2
            reqprocs=4       | num_tasks = 2                    | numtasks=2
            name=n           | cpus_per_task = 2                | cpuspertask=2 name=n
            name=n           | min_cpus = 4                     | name=n numcpus=4
            numcpus=4        | max_cpus = 8                     | numcpus=4-8
            name=n           | min_nodes = 2                    | name=n numnodes=2
            name=n           | max_nodes = 2                    | name=n numnodes=1-2
            numnodes=1-2     | min_nodes = 2                    | numnodes=2-2
            name=n           | pn_min_memory = 200              | minmemorynode=200 name=n
            name=n           | min_mem_per_node = 200           | minmemorynode=200 name=n
            name=n           | min_mem_per_cpu = 20             | minmemorycpu=20 name=n
            minmemorynode=9  | min_mem_per_cpu = 20             | minmemorycpu=20
            minmemorycpu=9   | pn_min_memory = 200              | minmemorynode=200
            name=n           | pn_min_cpus = 2                  | mincpusnode=2 name=n
            name=n           | pn_min_tmp_disk = 2              | mintmpdisknode=2 name=n
            name=n           | contiguous = 1                   | contiguous=1 name=n
            name=n           | contiguous = 0                   | contiguous=0 name=n
            contiguous=yes   | contiguous = 0                   | contiguous=0
            name=n           | shared = 0                       | name=n oversubscribe=0
            shared=no        | shared = 2                       | oversubscribe=1
            name=n           | requeue = 0                      | name=n requeue=0
            name=n           | reboot = 1                       | name=n reboot=1
            name=n           | mail_type = slurm.MAIL_JOB_END   | mailtype=END name=n
            mailtype=ALL     | mail_type = 0                    | mailtype=NONE
            name=n           | gres = 'gpu:1'                   | gres=gpu:1 name=n
            gres=gpu:2       | tres_per_node = 'gres/gpu:1'     | gres=gres/gpu:1
            trespernode=gpu:2 | gres = ''                       | gres=
            name=n           | tres_per_task = 'gres/gpu:1'     | name=n trespertask=gres/gpu:1
            name=n           | req_switch = 2                   | name=n switches=2
            switches=1       | wait4switch = 60                 | switches=1@00:01:00
            name=n           | wait4switch = 60                 | name=n wait-for-switch=60
            name=n           | work_dir = '/w'                  | name=n workdir=/w
            name=n           | ntasks_per_node = 2              | name=n taskspernode=2
            name=n           | array_inx = '2'                  | arraytaskthrottle=2 name=n
            name=n           | container = 'x'                  | name=n                             | container
            name=n           | max_cpus = 8                     | name=n                             | max_cpus
            name=n           | tres_freq = 'gpu:high'           | name=n                             | tres_freq
            name=n           | array_inx = '%2'                 | name=n                             | array_inx
            """;

    @Test
    void theFieldsThatTheScriptSetsBecomeTheUpdate() throws IOException {
        for (String row : WRITES.split("\n")) {
            String[] cells = row.split("\\|", -1);
            try (SubmitScript s = script("job_desc." + cells[1].strip())) {
                UpdateDescription update = new UpdateDescription(job, update(cells[0].strip()));
                UpdateDescription.Changes after = update.after(run(s, update).changed());
                assertThat(text(after.changes())).as(row).isEqualTo(cells[2].strip());
                assertThat(String.join(" ", after.unsupported()))
                        .as(row)
                        .isEqualTo(cells.length > 3 ? cells[3].strip() : "");
            }
        }
    }

    @Test
    void aFieldThatNoScriptSetsIsToldAsUnrecognized() throws IOException {
        try (SubmitScript s = script("job_desc.user_id = 5\njob_desc.rubbish = 1")) {
            UpdateDescription update = new UpdateDescription(job, update("name=n"));
            assertThat(text(update.after(run(s, update).changed()).changes())).isEqualTo("name=n");
            assertThat(log.toString()).contains("unrecognized field: user_id", "unrecognized field: rubbish");
        }
    }
}
