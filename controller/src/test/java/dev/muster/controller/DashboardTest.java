package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.State;
import dev.muster.model.JobReason;
import dev.muster.model.Json;
import dev.muster.model.node.NodeMessages;
import java.io.IOException;
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
    @Test
    void everyNameIsOneOfOurs() throws IOException {
        Site site = new Site();
        site.run("tasks=1 charge.account=a");
        State state = site.core().state();
        NodeViews nodes = new NodeViews(state, n -> new NodeMessages.Heartbeat(0, 0), n -> n.spec().address(), u -> "u", 1);
        StringBuilder told = new StringBuilder();
        for (String page : Metrics.PAGES) {
            told.append(new Metrics(state, nodes::info, j -> JobReason.NONE).page(page, List.of("p"), Map.of()).orElseThrow());
        }
        Json.Obj dashboard = Json.object(Files.readAllBytes(Path.of("../packaging/grafana/muster.json")));
        TreeSet<String> asked = new TreeSet<>();
        for (Json.Obj panel : dashboard.objects("panels")) {
            panel.objects("targets").forEach(t -> {
                Matcher m = Pattern.compile("slurm_[a-z_]+").matcher(t.text("expr"));
                while (m.find()) {
                    asked.add(m.group());
                }
            });
        }
        assertThat(asked).hasSizeGreaterThan(15);
        assertThat(asked).allSatisfy(name -> assertThat(told.toString()).containsPattern("(?m)^" + name + "[ {]"));
    }
}
