package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.stats.Metrics;
import dev.muster.controller.view.NodeViews;
import dev.muster.core.state.State;
import dev.muster.json.Json;
import dev.muster.model.job.JobReason;
import dev.muster.model.node.NodeMessages;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The dashboard for Grafana asks for nothing that slurmctld does not tell. */
class DashboardTest {
    /** All metrics that the manual's page on metrics names. */
    private static final List<String> OF_THE_MANUAL = List.of(
            "slurm_account_jobs_pending",
            "slurm_bf_active",
            "slurm_bf_cycle_cnt",
            "slurm_jobs",
            "slurm_jobs_cpus_alloc",
            "slurm_jobs_memory_alloc",
            "slurm_jobs_pending",
            "slurm_jobs_running",
            "slurm_node_cpus",
            "slurm_node_memory_bytes",
            "slurm_nodes",
            "slurm_nodes_alloc",
            "slurm_nodes_idle",
            "slurm_partition_jobs",
            "slurm_partition_jobs_max_job_nodes_nohold",
            "slurm_partition_jobs_min_job_nodes_nohold",
            "slurm_partition_nodes",
            "slurm_partitions",
            "slurm_sched_cycle_cnt",
            "slurm_sched_cycle_last",
            "slurm_user_jobs_pending");

    private static String told() {
        Site site = new Site();
        site.run("tasks=1 charge.account=a");
        State state = site.core().state();
        NodeViews nodes = new NodeViews(
                state, n -> new NodeMessages.Heartbeat(0, 0), n -> n.spec().address(), u -> "u", 1);
        StringBuilder told = new StringBuilder();
        for (String page : Metrics.PAGES) {
            told.append(new Metrics(state, nodes::info, j -> JobReason.NONE)
                    .page(page, List.of("p"), Map.of())
                    .orElseThrow());
        }
        return told.toString();
    }

    @Test
    void metricNamesOfTheManualExist() {
        assertThat(OF_THE_MANUAL).allSatisfy(name -> assertThat(told()).containsPattern("(?m)^" + name + "[ {]"));
    }

    @Test
    void dashboardUsesOnlyOurMetricNames() throws IOException {
        byte[] dashboard = Files.readAllBytes(Path.of("../packaging/grafana/muster.json"));
        for (Json.Obj panel : Json.object(dashboard).objects("panels")) {
            assertThat(panel.objects("targets"))
                    .as(panel.text("title"))
                    .allSatisfy(t -> assertThat(t.text("expr")).contains("slurm_"));
        }
        // wherever it stands: in panels, variables or notes
        TreeSet<String> asked = new TreeSet<>();
        Matcher m = Pattern.compile("slurm_[a-z_]+").matcher(new String(dashboard, StandardCharsets.UTF_8));
        while (m.find()) {
            asked.add(m.group());
        }
        assertThat(asked).hasSizeGreaterThan(15);
        assertThat(asked).allSatisfy(name -> assertThat(told()).containsPattern("(?m)^" + name + "[ {]"));
    }

    /**
     * Each page is OpenMetrics by the letter: each family in one piece, its type before its samples, no sample twice,
     * and the mark of the end last.
     */
    @Test
    void pagesAreOpenMetrics() {
        Site site = new Site("PartitionName=p Nodes=ALL Default=YES", "NodeName=n[1-2] CPUs=4 RealMemory=1000");
        site.run("tasks=1 charge.account=a\\b\"c");
        State state = site.core().state();
        NodeViews nodes = new NodeViews(
                state, n -> new NodeMessages.Heartbeat(0, 0), n -> n.spec().address(), u -> "u", 1);
        Pattern sample = Pattern.compile("([a-z_]+)(\\{[a-z]+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"})? -?[0-9]+");
        for (String page : Metrics.PAGES) {
            String text = new Metrics(state, nodes::info, j -> JobReason.NONE)
                    .page(page, List.of("p"), Map.of())
                    .orElseThrow();
            assertThat(text).endsWith("\n# EOF\n");
            TreeSet<String> seen = new TreeSet<>();
            TreeSet<String> families = new TreeSet<>();
            String family = "";
            for (String line :
                    text.substring(0, text.length() - "# EOF\n".length()).split("\n")) {
                if (line.startsWith("# HELP ")) {
                    family = line.split(" ")[2];
                    assertThat(families.add(family)).as("twice: " + family).isTrue();
                } else if (line.startsWith("# ")) {
                    assertThat(line).isEqualTo("# TYPE " + family + " gauge");
                } else {
                    Matcher m = sample.matcher(line);
                    assertThat(m.matches()).as(line).isTrue();
                    assertThat(m.group(1)).isEqualTo(family);
                    assertThat(seen.add(line.substring(0, line.lastIndexOf(' '))))
                            .as("twice: " + line)
                            .isTrue();
                }
            }
        }
    }
}
