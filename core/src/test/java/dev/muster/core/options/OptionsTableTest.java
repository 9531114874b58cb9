package dev.muster.core.options;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Settings;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Tests the values of options' texts: each line is a text and its value; a line without a text has the default. */
class OptionsTableTest {
    private record Line(String text, Object value, Function<SlurmConfOptions, Object> read) {}

    private static Line line(String text, Object value, Function<SlurmConfOptions, Object> read) {
        return new Line(text, value, read);
    }

    private static Object arrayTasks(SlurmConfOptions o) {
        return o.submission().arrayTasksMax();
    }

    private static Object perHour(SlurmConfOptions o) {
        return o.submission().jobsPerHourMax();
    }

    private static Object arrayStage(SlurmConfOptions o) {
        return o.buffers().arrayStageMax();
    }

    private static Object memoryPercent(SlurmConfOptions o) {
        return o.nodes().memoryPercent();
    }

    private static Object exemptPriority(SlurmConfOptions o) {
        return o.preemption().exemptPriority();
    }

    @Test
    void submissionOptionsAreRead() {
        check(
                line("", List.of(), o -> o.submission().plugins()),
                line(
                        "job_submit=partition,lua",
                        List.of("partition", "lua"),
                        o -> o.submission().plugins()),
                line("", Integer.MAX_VALUE, OptionsTableTest::arrayTasks),
                line("max_array_tasks=0", 0, OptionsTableTest::arrayTasks),
                line("max_array_tasks=500", 500, OptionsTableTest::arrayTasks),
                line("max_array_tasks=many", Integer.MAX_VALUE, OptionsTableTest::arrayTasks),
                line("jobs_per_user_per_hour=20", 20, OptionsTableTest::perHour),
                line("jobs_per_user_per_hour=020", 0, OptionsTableTest::perHour),
                line("", 10, o -> o.submission().dependencyDepthMax()),
                line("max_depend_depth=3", 3, o -> o.submission().dependencyDepthMax()),
                line("", false, o -> o.submission().killsInvalidDependency()),
                line("kill_invalid_depend=true", true, o -> o.submission().killsInvalidDependency()),
                line("kill_invalid_depend=", false, o -> o.submission().killsInvalidDependency()),
                line("whole_pack=", true, o -> o.submission().wholeHetJobs()),
                line(
                        "job_defaults=DefCpuPerGPU=2",
                        2L,
                        o -> o.submission().gpuDefaults().cpusPerGpu()),
                line("job_defaults=2", 0L, o -> o.submission().gpuDefaults().cpusPerGpu()),
                line("", 4 << 20, o -> o.submission().scriptBytesMax()),
                line("max_script_size=0", 4 << 20, o -> o.submission().scriptBytesMax()),
                line("max_script_size=99999999", 8 << 20, o -> o.submission().scriptBytesMax()),
                line("max_submit_line_size=100", 100, o -> o.submission().lineBytesMax()),
                line("", 10, OptionsTableTest::arrayStage),
                line("bb_array_stage_cnt=0", 1, OptionsTableTest::arrayStage),
                line("bb_array_stage_cnt=10000", 10, OptionsTableTest::arrayStage));
    }

    @Test
    void requestOptionsAreRead() {
        check(
                line("", true, o -> o.requests().shrinks()),
                line("disable_job_shrink=", false, o -> o.requests().shrinks()),
                line("", true, o -> o.requests().hetSteps()),
                line("disable_hetjob_steps=yes", false, o -> o.requests().hetSteps()),
                line("ignore_constraint_validation=", true, o -> o.requests().anyFeature()),
                line("ignore_prefer_validation=", true, o -> o.requests().anyPreference()),
                line("extra_constraints=", true, o -> o.requests().extraConstraints()),
                line("expedited_requeue=true", true, o -> o.requests().expedites()),
                line("scron=enable", true, o -> o.users().crontabs()),
                line("scron=enable,explicit_scancel", true, o -> o.users().explicitCronCancel()),
                line("ctld:disable_triggers=true", false, o -> o.users().anyTriggers()),
                line("enable_user_top=", true, o -> o.users().top()));
    }

    @Test
    void schedulingOptionsAreRead() {
        check(
                line("", 300L, o -> o.scheduling().switchWaitMaxS()),
                line("max_switch_wait=60", 60L, o -> o.scheduling().switchWaitMaxS()),
                line("delay_boot=2", 120L, o -> o.scheduling().bootDelayS()),
                line("delay_boot=soon", true, o -> o.scheduling().delaysBoot()),
                line("delay_boot=soon", 0L, o -> o.scheduling().bootDelayS()),
                line("complete_wait=30", 30, o -> o.scheduling().completeWaitS()),
                line("resv_over_run=-1", -1L, o -> o.scheduling().reservationOverRunS()),
                line("", "QUEUE", o -> o.backfill().mode().name()),
                line("muster_backfill=easy", "EASY", o -> o.backfill().mode().name()),
                line("muster_backfill=hard", "QUEUE", o -> o.backfill().mode().name()),
                line(
                        "muster_backfill=easy in_order=true",
                        "QUEUE",
                        o -> o.backfill().mode().name()),
                line("bf_hetjob_prio=avg", "AVG", o -> o.backfill().hetOrder().name()),
                line(
                        "bf_hetjob_prio=avg bf_hetjob_immediate=",
                        "MIN",
                        o -> o.backfill().hetOrder().name()),
                line("", false, o -> o.backfill().limitsReservations()),
                line("bf_max_job_array_resv=0", true, o -> o.backfill().limitsReservations()),
                line("bf_max_job_array_resv=20", false, o -> o.backfill().limitsReservations()),
                line(
                        "bf_min_prio_reserve=999999999999",
                        999_999_999_999L,
                        o -> o.backfill().reservePriorityMin()),
                line(
                        "bf_job_part_count_reserve=9999999999",
                        Integer.MAX_VALUE,
                        o -> o.backfill().reservePerPartitionMax()),
                line("select=CR_CORE,LINEAR", true, o -> o.select().words().contains("LINEAR")));
    }

    @Test
    void priorityAndUsageOptionsAreRead() {
        check(
                line("", false, o -> o.priority().multifactor()),
                line(
                        "priority_type=priority/multifactor",
                        true,
                        o -> o.priority().multifactor()),
                line("", 604_800L, o -> o.priority().maxAgeS()),
                line("priority_max_age=-1", -1L, o -> o.priority().maxAgeS()),
                line("", 300L, o -> o.priority().calcPeriodS()),
                line("priority_calc_period=0", 1L, o -> o.priority().calcPeriodS()),
                line("priority_weight_qos=7", 7L, o -> o.priority().weights().qos()),
                line(
                        "priority_weight_tres=CPU=2,Mem=0.5,x=y",
                        "{cpu=2.0, mem=0.5}",
                        o -> o.priority().weights().tres().toString()),
                line(
                        "priority_flags=max_tres,FAIR_TREE",
                        "[MAX_TRES]",
                        o -> o.priority().flags().toString()),
                line("", 1, o -> o.usage().dampening()),
                line("", 604_800L, o -> o.usage().halfLifeS()),
                line("", "NONE", o -> o.usage().resetPeriod()),
                line(
                        "zone=Europe/Berlin",
                        "Europe/Berlin",
                        o -> o.usage().zone().getId()),
                line("zone=Nowhere/At_All", "UTC", o -> o.usage().zone().getId()));
    }

    @Test
    void preemptionOptionsAreRead() {
        check(
                line("", List.of("OFF"), o -> o.preemption().modes()),
                line("", "", o -> o.preemption().modeText()),
                line(
                        "preempt_mode=GANG,SUSPEND",
                        List.of("GANG", "SUSPEND"),
                        o -> o.preemption().modes()),
                line("preempt_type=preempt/qos", true, o -> o.preemption().byQos()),
                line("", -1L, o -> o.preemption().exemptS()),
                line("preempt_exempt_s=60", 60L, o -> o.preemption().exemptS()),
                line("", Long.MAX_VALUE, OptionsTableTest::exemptPriority),
                line("preempt_parameters=min_exempt_priority=100", 100L, OptionsTableTest::exemptPriority),
                line("preempt_parameters=min_exempt_priority=high", Long.MAX_VALUE, OptionsTableTest::exemptPriority),
                line(
                        "preempt_parameters=youngest_first",
                        true,
                        o -> o.preemption().youngestFirst()),
                line("preempt_youngest_first=", true, o -> o.preemption().youngestFirst()),
                line("", false, o -> o.preemption().takesTurns()),
                line("gang_slice_s=0", true, o -> o.preemption().takesTurns()));
    }

    @Test
    void nodeAndPowerOptionsAreRead() {
        check(
                line("", "OptionalDouble.empty", o -> memoryPercent(o).toString()),
                line(
                        "ctld:node_reg_mem_percent=80.5",
                        "OptionalDouble[80.5]",
                        o -> memoryPercent(o).toString()),
                line("believed_nodes=n[1-3]", true, o -> o.nodes().believed().contains("n2")),
                line(
                        "node_set:big=fat,gpu",
                        List.of("fat", "gpu"),
                        o -> o.nodes().nodeSets().get("big")),
                line("reconfig_flags=keeppartinfo", true, o -> o.nodes().keepsPartitions()),
                line("", true, o -> o.nodes().features().mayReboot(7)),
                line("features:users=7,8", true, o -> o.nodes().features().mayReboot(7)),
                line("features:users=7,8", false, o -> o.nodes().features().mayReboot(9)),
                line(
                        "",
                        "Times[idleS=-1, stopS=30, startS=60, atOnce=false]",
                        o -> o.power().usual().toString()),
                line(
                        "power:idle=300 power:partition:p=,5,,yes",
                        "Times[idleS=300, stopS=5, startS=60, atOnce=true]",
                        o -> o.power().byPartition().get("p").toString()),
                line("", -1, o -> o.power().limits().poweredMax()),
                line(
                        "power:kept_nodes=n[1-2]:1,m3",
                        "[true 1 [n1, n2], false 2147483647 [m3]]",
                        o -> o.power().kept().nodes().stream()
                                .map(g -> g.counted() + " " + g.max() + " " + g.names())
                                .toList()
                                .toString()),
                line(
                        "power:action:ipmi=slurmctld",
                        true,
                        o -> o.power().actions().names().contains("ipmi")),
                line(
                        "power:action:ipmi=slurmctld",
                        false,
                        o -> o.power().actions().atNode().contains("ipmi")),
                line("muster_no_wake_ahead=", false, o -> o.power().wakesAhead()));
    }

    @Test
    void prologRequeueAndStepOptionsAreRead() {
        check(
                line("", 5, o -> o.prolog().batchRequeueMax()),
                line("prolog_no_hold=true", false, o -> o.prolog().holdsJobs()),
                line("nohold_on_prolog_fail=", false, o -> o.prolog().holdsFailed()),
                line("", 120L, o -> o.requeue().delayS()),
                line("requeue_delay=0", 0L, o -> o.requeue().delayS()),
                line("requeue_exit=1-9,18", true, o -> o.requeue().exits().contains(18)),
                line("requeue_exit=1-9,18", false, o -> o.requeue().exits().contains(10)),
                line("mpi_ports=12000-12009", 10, o -> o.steps().ports().count()),
                line("mpi_ports=12000-12009", 12_000, o -> o.steps().ports().first()),
                line("mpi_ports=all", 0, o -> o.steps().ports().count()),
                line("", -1, o -> o.steps().sampleS()),
                line(
                        "acct_gather_frequency=task=30,energy=5",
                        30,
                        o -> o.steps().sampleS()),
                line(
                        "node_bind=cores=n[1-2];none=m1",
                        List.of("cores", "none"),
                        o -> o.steps().nodeBinds().stream().map(b -> b.word()).toList()),
                line("disable_slurm_hydra_bootstrap=", false, o -> o.steps().bootstrapsHydra()));
    }

    @Test
    void accountingLicenseAndLabelOptionsAreRead() {
        check(
                line(
                        "accounting_enforce=associations,limits",
                        "[ASSOCIATIONS, LIMITS]",
                        o -> o.accounting().enforcement().words().toString()),
                line("", Integer.MAX_VALUE, o -> o.accounting().stepRecordsMax()),
                line("step_records_max=1", 1, o -> o.accounting().stepRecordsMax()),
                line(
                        "tracked_gres=gpu,gpu:a100",
                        "[gpu:a100]",
                        o -> o.accounting().gresTypes().toString()),
                line(
                        "accounting_store=job_env,job_script",
                        true,
                        o -> o.accounting().stored().contains("job_script")),
                line(
                        "licenses=matlab:3,fluent",
                        Map.of("matlab", 3, "fluent", 1),
                        o -> new TreeMap<>(o.licenses().own())),
                line("", "none", o -> o.mcs().kind()),
                line(
                        "mcs_plugin=mcs/group mcs_groups=a:7,b:8",
                        List.of("a", "b"),
                        o -> List.copyOf(o.mcs().groups().keySet())),
                line(
                        "mcs_parameters=enforced,select:a|b",
                        "ALWAYS",
                        o -> o.mcs().select().name()));
    }

    private static void check(Line... lines) {
        for (Line line : lines) {
            Map<String, String> texts = new TreeMap<>();
            Arrays.stream(line.text.split(" "))
                    .filter(word -> !word.isEmpty())
                    .map(word -> word.split("=", 2))
                    .forEach(pair -> texts.put(pair[0], pair[1]));
            assertThat(line.read.apply(SlurmConfOptions.of(texts)))
                    .as(line.text)
                    .isEqualTo(line.value);
        }
    }

    @Test
    void theJournalHasThemAsTexts() {
        String json = "{\"options\":{\"delay_boot\":\"2\",\"enable_user_top\":\"\",\"x_unknown\":\"y\"}}";
        Settings settings = Codec.decode(json.getBytes(StandardCharsets.UTF_8), Settings.class);
        assertThat(settings.options().scheduling().bootDelayS()).isEqualTo(120);
        assertThat(new String(Codec.encode(settings), StandardCharsets.UTF_8)).isEqualTo(json);
        assertThat(Json.object(Codec.encode(settings)).obj("options").fields()).hasSize(3);
    }

    @Test
    void anEmptyTextRemovesAnOption() {
        SlurmConfOptions before = SlurmConfOptions.of(Map.of("enable_user_top", "", "delay_boot", "2"));
        assertThat(before.with(Map.of("delay_boot", "", "complete_wait", "5")).texts())
                .isEqualTo(Map.of("enable_user_top", "", "complete_wait", "5"));
        assertThat(before.with(Map.of())).isEqualTo(before);
        assertThat(SlurmConfOptions.of(Map.of())).isSameAs(SlurmConfOptions.NONE);
    }
}
