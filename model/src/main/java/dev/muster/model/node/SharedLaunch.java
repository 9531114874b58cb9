package dev.muster.model.node;

import dev.muster.json.Bytes;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The launch of one step on many nodes: what they have in common once, and of each node what is its own. Of 1,000 nodes
 * a launch says the same environment, program and names of nodes 1,000 times.
 *
 * @param common the first node's launch
 */
public record SharedLaunch(Launch common, List<Part> parts) {

    /**
     * One node's own.
     *
     * @param hooks entries of its prolog's environment
     * @param environment entries of its tasks' environment
     */
    public record Part(
            String node,
            String bootId,
            String cpus,
            long jobMemoryMb,
            Map<String, String> jobGres,
            String x11Cookie,
            Own hooks,
            Own environment,
            List<Task> tasks,
            int nodeIndex,
            long memoryMb,
            Map<String, String> gres,
            int channel) {}

    /**
     * A list as it differs from the common one.
     *
     * @param whole it is all of it; else entries stand at the positions of at
     */
    public record Own(boolean whole, List<Integer> at, List<Bytes> entries) {
        static final Own NOTHING = new Own(false, List.of(), List.of());

        static Own of(List<Bytes> common, List<Bytes> list) {
            if (common == list) {
                return NOTHING;
            }
            if (common.size() != list.size()) {
                return new Own(true, List.of(), list);
            }
            List<Integer> at = new ArrayList<>();
            List<Bytes> entries = new ArrayList<>();
            for (int i = 0; i < list.size(); i++) {
                if (list.get(i) != common.get(i) && !list.get(i).equals(common.get(i))) {
                    at.add(i);
                    entries.add(list.get(i));
                }
            }
            return new Own(false, List.copyOf(at), List.copyOf(entries));
        }

        /** @throws IllegalArgumentException where a position is not one of the common list */
        List<Bytes> list(List<Bytes> common) {
            if (whole) {
                return entries;
            }
            if (at.isEmpty()) {
                return common;
            }
            List<Bytes> out = new ArrayList<>(common);
            for (int i = 0; i < at.size(); i++) {
                if (i >= entries.size() || at.get(i) < 0 || at.get(i) >= out.size()) {
                    throw new IllegalArgumentException("no entry " + at.get(i));
                }
                out.set(at.get(i), entries.get(i));
            }
            return List.copyOf(out);
        }
    }

    /**
     * @param nodes of the launches, in their order
     * @return empty where the launches differ in more than a part can say: then each has to be sent as it is
     */
    public static Optional<SharedLaunch> of(List<String> nodes, List<Launch> launches) {
        Launch common = launches.getFirst();
        SharedLaunch none = new SharedLaunch(common, List.of());
        List<Part> parts = new ArrayList<>(launches.size());
        for (int i = 0; i < launches.size(); i++) {
            Launch launch = launches.get(i);
            JobShare share = launch.share();
            Part part = new Part(
                    nodes.get(i),
                    share.bootId(),
                    share.cpus(),
                    share.memoryMb(),
                    share.gres(),
                    share.x11Cookie(),
                    share.environment() == common.share().environment()
                            ? Own.NOTHING
                            : Own.of(bytes(common.share().environment()), bytes(share.environment())),
                    Own.of(common.environment(), launch.environment()),
                    launch.tasks(),
                    launch.nodeIndex(),
                    launch.memoryMb(),
                    launch.gres(),
                    share.channel());
            if (!none.launch(part).equals(launch)) {
                return Optional.empty();
            }
            parts.add(part);
        }
        return Optional.of(new SharedLaunch(common, List.copyOf(parts)));
    }

    private static List<Bytes> bytes(List<String> texts) {
        return texts.stream().map(Bytes::of).toList();
    }

    private static List<String> hooks(JobShare common, Part part) {
        return part.hooks().at().isEmpty() && !part.hooks().whole()
                ? common.environment()
                : part.hooks().list(bytes(common.environment())).stream()
                        .map(Bytes::text)
                        .toList();
    }

    /** Returns the launch for some of the nodes. */
    public SharedLaunch with(List<Part> some) {
        return new SharedLaunch(common, some);
    }

    /**
     * What the part's node is to do.
     *
     * @throws IllegalArgumentException where the part does not fit
     */
    public Launch launch(Part part) {
        JobShare s = common.share();
        JobShare share = new JobShare(
                s.jobId(),
                s.attempt(),
                part.bootId(),
                s.owner(),
                hooks(s, part),
                part.cpus(),
                part.jobMemoryMb(),
                part.jobGres(),
                s.secondsLeft(),
                s.killWaitSeconds(),
                s.externStep(),
                s.jobName(),
                s.sampleSeconds(),
                part.x11Cookie(),
                part.channel());
        return new Launch(
                share,
                common.stepId(),
                part.tasks(),
                part.environment().list(common.environment()),
                common.script(),
                common.step(),
                common.workDir(),
                common.umask(),
                common.limits(),
                common.stdin(),
                common.stdout(),
                common.stderr(),
                common.append(),
                part.nodeIndex(),
                common.stepNodes(),
                common.stepTasks(),
                common.secondsLeft(),
                common.ioToken(),
                part.memoryMb(),
                common.nodeList(),
                common.userEnvironment(),
                part.gres(),
                common.mpi());
    }
}
