package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.model.job.JobState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** shows: InactiveLimit */
class ClientActivityTest {
    @Test
    void silentClientLosesItsAllocationAfterInactiveLimit() {
        Site site = new Site(
                "DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES\nPartitionName=r Nodes=ALL RootOnly=YES");
        site.run("kind=ALLOCATION");
        site.run("kind=BATCH");
        ClientActivity clients = new ClientActivity();
        assertThat(silent(clients, site, 100, 10)).isEmpty();
        clients.heard(1, 105);
        assertThat(silent(clients, site, 115, 10)).isEmpty();
        assertThat(silent(clients, site, 116, 0)).isEmpty();
        List<Command> found = silent(clients, site, 116, 10);
        assertThat(found).containsExactly(new Command.EndInactive(1, 1));
        site.apply(found.getFirst());
        assertThat(site.job(1)).isEqualTo("TIMEOUT n1:1/1");
        assertThat(site.core().state().jobs().at(1).reason().word()).isEqualTo("InactiveLimit");
        assertThat(site.job(2)).startsWith("RUNNING");
    }

    /** The job that srun asked for ends when srun is silent, though its step runs. */
    @Test
    void aRunningStepDoesNotSpeakForTheCommand() {
        Site site = new Site(
                "DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES\nPartitionName=r Nodes=ALL RootOnly=YES");
        site.run("kind=RUN");
        ClientActivity clients = new ClientActivity();
        silent(clients, site, 100, 10);
        List<Command> found = silent(clients, site, 111, 10);
        assertThat(found).containsExactly(new Command.EndInactive(1, 1));
        site.apply(found.getFirst());
        assertThat(site.job(1)).startsWith("TIMEOUT");
    }

    /** InactiveLimit does not end an allocation without a command (salloc --no-shell). */
    @Test
    void anAllocationWithoutACommandHasNoLimit() {
        Site site = new Site("DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES");
        site.run("kind=ALLOCATION extras.noShell=true");
        ClientActivity clients = new ClientActivity();
        silent(clients, site, 100, 10);
        assertThat(silent(clients, site, 1_000, 10)).isEmpty();
        site.apply(new Command.EndInactive(1, 1));
        assertThat(site.job(1)).startsWith("RUNNING");
    }

    @Test
    void allocationEndsTenSecondsAfterItsCommandIsGone() {
        Site site = new Site("DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES");
        ClientActivity clients = new ClientActivity();
        clients.awaits(1);
        clients.gone(1, 100);
        assertThat(clients.unclaimed(List.of(), id -> true, 150))
                .as("it waits still")
                .isEmpty();
        site.run("kind=RUN");
        assertThat(unclaimed(clients, site, 109)).isEmpty();
        List<Command> found = unclaimed(clients, site, 110);
        assertThat(found).containsExactly(new Command.EndUnclaimed(1, 1));
        site.apply(found.getFirst());
        assertThat(site.job(1)).startsWith("FAILED");
        assertThat(site.core().state().jobs().at(1).run().exit().code()).isEqualTo(1);
        assertThat(unclaimed(clients, site, 111)).isEmpty();
    }

    /** A command may have lost no more than its connection. */
    @Test
    void returningCommandKeepsItsAllocation() {
        Site site = new Site("DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES");
        site.run("kind=ALLOCATION");
        ClientActivity clients = new ClientActivity();
        clients.gone(1, 100);
        clients.awaits(1);
        assertThat(unclaimed(clients, site, 200)).isEmpty();
    }

    @Test
    void commandsHaveAMinuteAfterASlurmctldStart() {
        Site site = new Site("DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES");
        site.run("kind=RUN");
        Job running = site.core().state().jobs().at(1);
        Job waits = running.with(JobState.PENDING);
        ClientActivity clients = new ClientActivity();
        clients.started(List.of(waits), 100);
        assertThat(clients.unclaimed(List.of(running), id -> false, 159)).isEmpty();
        assertThat(clients.unclaimed(List.of(running), id -> false, 160))
                .containsExactly(new Command.EndUnclaimed(1, 1));
        clients.awaits(1);
        assertThat(clients.unclaimed(List.of(running), id -> false, 161)).isEmpty();
    }

    /** The numbers of jobs that are over may be those of batch jobs some day. */
    @Test
    void batchAndNoShellJobsOutliveAGoneCommand() {
        Site site = new Site("DefMemPerCPU=1", "PartitionName=p Nodes=ALL Default=YES");
        site.run("kind=BATCH");
        site.run("kind=ALLOCATION extras.noShell=true");
        ClientActivity clients = new ClientActivity();
        clients.gone(1, 100);
        clients.gone(2, 100);
        assertThat(unclaimed(clients, site, 200)).isEmpty();
    }

    private static List<Command> unclaimed(ClientActivity clients, Site site, long nowS) {
        List<Job> active = List.copyOf(site.core().state().jobs().values().stream()
                .filter(j -> j.state().isActive())
                .toList());
        return clients.unclaimed(active, id -> false, nowS);
    }

    private static List<Command> silent(ClientActivity clients, Site site, long nowS, long limitS) {
        List<Job> active = List.copyOf(site.core().state().jobs().values().stream()
                .filter(j -> j.state().isActive())
                .toList());
        return clients.silent(active, nowS, limitS);
    }
}
