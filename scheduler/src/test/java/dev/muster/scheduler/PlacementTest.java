package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Given nodes and partitions, a job's request → where it runs or in which words it is refused. */
class PlacementTest {
    private static void table(String nodes, String partitions, String settings, String rows) {
        for (String row : rows.strip().split("\n")) {
            String[] cells = row.split("\\|");
            assertThat(new Cluster(nodes, partitions, settings).place(cells[0].strip())).as(row).isEqualTo(cells[1].strip());
        }
    }

    @Test
    void counts() {
        table("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] defmempercpu=10", "", """
                partition=p                          | n1:1
                partition=p tasks=3                  | n1:3
                partition=p tasks=6                  | n1:3 n2:3
                partition=p nodesMin=2               | n1:1 n2:1
                partition=p tasks=2 cpusPerTask=3    | n1:3 n2:3
                partition=p nodeList=n2              | n2:1
                partition=p cpusPerTask=5            | Requested node configuration is not available
                partition=p nodesMin=3               | (PartitionConfig)
                partition=q                          | Invalid partition name specified
                """);
    }

    @Test
    void whatCannotBeHonouredIsRefused() {
        String no = " is not supported by this version of Muster";
        table("n1 cpus=4", "p nodes=n1", "", """
                partition=p charge.reservation=maint | Requested reservation is invalid
                partition=p contiguous=true          | --contiguous%s
                partition=p licenses=matlab          | --licenses%s
                partition=p gresFlags=enforce-binding | --gres-flags=enforce-binding%s
                partition=p gresFlags=disable-binding | n1:1
                partition=p distribution=arbitrary   | --distribution=arbitrary%s
                partition=p distribution=block       | n1:1
                partition=p extras.container=/b      | --container%s
                partition=p extras.burstBuffer=x     | --bb%s
                partition=p extras.cpuFreq=high      | --cpu-freq%s
                partition=p extras.reboot=true       | --reboot%s
                partition=p extras.getUserEnv=true   | --get-user-env%s
                partition=p extras.profile=none      | n1:1
                partition=p extras.profile=task      | --profile%s
                """.replace("%s", no));
    }

    @Test
    void aHigherTierGoesFirstWhateverThePriority() {
        Cluster c = new Cluster("n1 cpus=1", "low nodes=n1\nhigh nodes=n1 prioritytier=2", "");
        int first = c.accept("partition=low");
        int second = c.accept("partition=high");
        c.schedule();
        assertThat(c.shown(second)).isEqualTo("n1:1");
        assertThat(c.shown(first)).isEqualTo("(Resources)");
    }
}
