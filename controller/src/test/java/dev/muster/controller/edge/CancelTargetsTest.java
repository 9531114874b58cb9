package dev.muster.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.JobMessages;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests on which tasks of arrays a filter of scancel, of REST or of {@code scontrol hold name=} acts: those that match,
 * and no others.
 */
class CancelTargetsTest {
    private static Command.JobRef task(int array, int task) {
        return new Command.JobRef("", array, task, Command.JobRef.NO_STEP);
    }

    /**
     * Array 1: 1 and 2 run, 3 is held by itself, 4 has a name of its own, 5 and 6 wait in the record. Array 2: the last
     * task alone is left of the record and has its number. Job 3 is no array and waits.
     */
    private static Site layout() {
        Site site = new Site("PartitionName=p Nodes=ALL Default=YES", "PartitionName=q Nodes=ALL");
        site.submit("timing.array=1-6%2 name=arr memPerNodeMb=10");
        site.schedule();
        site.apply(new Command.HoldJobs(0, List.of(task(1, 3)), true, false));
        site.apply(new Command.UpdateJob(0, task(1, 4), Map.of("name", "own")));
        site.submit("timing.array=1-2%1 partition=q name=last memPerNodeMb=10");
        site.schedule();
        site.apply(new Command.HoldJobs(0, List.of(task(idOf(site, "last"), 2)), true, false));
        site.submit("name=plain timing.hold=true");
        return site;
    }

    private static int idOf(Site site, String name) {
        return site.core().state().jobs().values().stream()
                .filter(j -> j.desc().name().equals(name))
                .mapToInt(j -> j.array().jobId() == 0 ? j.id() : j.array().jobId())
                .findFirst()
                .orElseThrow();
    }

    /** Returns the tasks as {@code arr1 arr2}; of the record each by itself. */
    private static Map<String, Job> tasks(State state) {
        Map<String, Job> out = new TreeMap<>();
        Map<Integer, String> names = new TreeMap<>();
        state.jobs()
                .values()
                .forEach(j -> names.merge(
                        j.array().jobId() == 0 ? j.id() : j.array().jobId(),
                        j.desc().name(),
                        (a, b) -> a.equals("own") ? b : a));
        for (Job j : state.jobs().values()) {
            String name = names.get(j.array().jobId() == 0 ? j.id() : j.array().jobId());
            for (int t = j.array().pending().first();
                    t >= 0;
                    t = j.array().pending().next(t + 1)) {
                out.put(name + t, j);
            }
            if (j.array().pending().isEmpty()) {
                out.put(name + (j.isArrayTask() ? j.array().task() : ""), j);
            }
        }
        return out;
    }

    private static List<Command.JobRef> found(Site site, JobMessages.Cancel m) {
        return new CancelTargets(site.core().state(), new OwnedJobs(), j -> true, j -> false)
                .find(m)
                .refs();
    }

    private static JobMessages.Cancel asked(Site site, String jobs, String filter) {
        int arr = idOf(site, "arr");
        int last = idOf(site, "last");
        Json.Obj q = filter.isEmpty()
                ? new Json.Obj()
                : Json.object(("{" + filter.replace('\'', '"') + "}").getBytes(StandardCharsets.UTF_8));
        if (!jobs.isEmpty()) {
            String named =
                    jobs.replace("arr", arr + "_").replace("last", last + "_").replaceAll("_(?= |$|\\.)", "");
            q.put("jobs", new java.util.ArrayList<Object>(List.of(named.split(" "))));
        }
        return Codec.bind(q, JobMessages.Cancel.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                // jobs              | filter                                    | what ends
                "arr                 | 'states':['PENDING']                      | arr3 arr4 arr5 arr6",
                "arr                 | 'states':['RUNNING']                      | arr1 arr2",
                "arr                 | 'states':['SUSPENDED']                    | \"\"",
                "arr                 | 'states':['PENDING','RUNNING']            | arr1 arr2 arr3 arr4 arr5 arr6",
                "\"\"                  | 'states':['PENDING']                      | arr3 arr4 arr5 arr6 last2 plain",
                "\"\"                  | 'states':['PENDING'],'partitions':['q']   | last2",
                "\"\"                  | 'states':['RUNNING'],'partitions':['q']   | last1",
                "\"\"                  | 'names':['arr']                           | arr1 arr2 arr3 arr5 arr6",
                "\"\"                  | 'names':['own']                           | arr4",
                "\"\"                  | 'names':['arr'],'states':['PENDING']      | arr3 arr5 arr6",
                "arr2 arr5           | 'names':['arr']                           | arr2 arr5",
                "arr2 arr5           | 'states':['PENDING']                      | arr5",
                "arr[1-5]            | 'states':['PENDING']                      | arr3 arr4 arr5",
                "arr[5-6]            | 'states':['PENDING']                      | arr5 arr6",
                "arr[4-6]            | 'names':['arr']                           | arr5 arr6",
                "arr last            | 'states':['PENDING']                      | arr3 arr4 arr5 arr6 last2",
                "last                | 'states':['PENDING']                      | last2",
                "last2               | 'states':['PENDING']                      | last2",
                "arr                 | 'nodes':['n9']                            | \"\"",
                "arr                 | \"\"                                        | arr1 arr2 arr3 arr4 arr5 arr6",
                "arr5                | \"\"                                        | arr5",
                "last2               | \"\"                                        | last2",
                "last                | \"\"                                        | last1 last2",
            })
    void cancelFilterSelectsTheJobsThatEnd(String jobs, String filter, String expected) {
        Site site = layout();
        assertThat(tasks(site.core().state()).keySet())
                .containsExactly("arr1", "arr2", "arr3", "arr4", "arr5", "arr6", "last1", "last2", "plain");
        JobMessages.Cancel m = asked(site, jobs, filter);
        site.apply(new Command.CancelJobs(
                0, found(site, m), 0, false, false, false, false, "", CancelTargets.basicStates(m.states()), m.ctld()));
        assertThat(String.join(" ", ended(site))).isEqualTo(expected);
    }

    private static List<String> ended(Site site) {
        return tasks(site.core().state()).entrySet().stream()
                .filter(e -> !e.getValue().isPending() && !e.getValue().state().isActive())
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * A task that starts between the look for the tasks and their end lives where waiting tasks are meant, and ends
     * where the name is.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {"'states':['PENDING'] | arr6", "'names':['arr'] | arr1 arr2 arr3 arr5 arr6"})
    void taskThatStartsDuringACancelEndsIfItMatches(String filter, String expected) {
        Site site = layout();
        JobMessages.Cancel m = asked(site, "", filter);
        List<Command.JobRef> refs = found(site, m).stream()
                .filter(r -> r.jobId() == idOf(site, "arr") && (r.task() < 0 || !filter.contains("PEND")))
                .toList();
        site.apply(new Command.CancelJobs(0, List.of(task(idOf(site, "arr"), 1)), 0, false, false));
        site.apply(new Command.UpdateJob(0, task(idOf(site, "arr"), 5), Map.of("arraytaskthrottle", "0")));
        site.schedule();
        site.apply(new Command.CancelJobs(
                0, refs, 0, false, false, false, false, "", CancelTargets.basicStates(m.states()), m.ctld()));
        assertThat(ended(site)).contains(expected.split(" "));
    }

    /**
     * The filter selects components by their wckeys, and slurmctld names the filter that excludes each of the others.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "true  | 'wckeys':['b'] | 4    | 3: Job wckey a != filter wckey b: Cannot signal job",
                "true  | 'wckeys':['a'] | 3    | 3+1: Job wckey b != filter wckey a: Cannot signal job",
                "true  | 'names':['no'] | none | 3: Job name het != filter name no: Cannot signal job",
                "false | 'wckeys':['b'] | none | none",
                "false | 'wckeys':['a'] | 3    | none",
            })
    void cancelFilterSelectsHetComponents(boolean ctld, String filter, String expected, String error) {
        Site site = new Site("PartitionName=p Nodes=ALL Default=YES");
        List<Command.SubmitJob> parts = List.of("a", "b").stream()
                .map(key -> {
                    int id = Integer.parseInt(site.submit("name=het timing.hold=true charge.wckey=" + key));
                    return new Command.SubmitJob(
                            1000, site.core().state().jobs().at(id).desc(), "", Bytes.EMPTY, Bytes.EMPTY, false, false);
                })
                .toList();
        site.apply(new Command.SubmitHet(1000, parts, "", false, false));
        Json.Obj q = Json.object(("{" + filter.replace('\'', '"') + "}").getBytes(StandardCharsets.UTF_8));
        q.put("ctld", ctld).put("jobs", new java.util.ArrayList<Object>(List.of("3")));
        CancelTargets found = new CancelTargets(site.core().state(), new OwnedJobs(), j -> true, j -> false)
                .find(Codec.bind(q, JobMessages.Cancel.class));
        assertThat(found.refs().stream().map(Command.JobRef::text).findFirst().orElse("none"))
                .isEqualTo(expected);
        assertThat(found.errors().stream()
                        .map(e -> e.job() + ": " + e.error())
                        .findFirst()
                        .orElse("none"))
                .isEqualTo(error);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"arr | arr1 arr2 arr3 arr5 arr6", "own | arr4", "last | last1 last2"})
    void cancelByNameEndsHeldTasksToo(String name, String expected) {
        Site site = layout();
        site.apply(new Command.HoldJobs(
                0, List.of(task(idOf(site, "arr"), 3), task(idOf(site, "last"), 2)), false, false));
        JobMessages.Cancel m = asked(site, "", "'names':['" + name + "']");
        site.apply(new Command.HoldJobs(0, found(site, m), true, false));
        assertThat(tasks(site.core().state()).entrySet().stream()
                        .filter(e -> e.getValue().isHeld() && !e.getKey().equals("plain"))
                        .map(Map.Entry::getKey)
                        .toList())
                .isEqualTo(List.of(expected.split(" ")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "arr | PENDING | arr_3 arr_4 arr_[5-6%2]",
                "arr5 arr6 | PENDING | arr_[5-6%2]",
                "arr5 | PENDING | arr_[5%2]"
            })
    void cancelFilterNamesArrayTasksInShort(String jobs, String state, String expected) {
        Site site = layout();
        assertThat(Set.copyOf(found(site, asked(site, jobs, "'states':['" + state + "']")).stream()
                        .map(Command.JobRef::text)
                        .toList()))
                .isEqualTo(Set.of(expected.replace("arr", Integer.toString(idOf(site, "arr")))
                        .split(" ")));
    }
}
