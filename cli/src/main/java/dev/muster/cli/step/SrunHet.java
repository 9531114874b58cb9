package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.CliFilter;
import dev.muster.cli.request.HetComponents;
import dev.muster.cli.request.OptionEnvironment;
import dev.muster.cli.request.OptionReport;
import dev.muster.cli.request.ProgramFile;
import dev.muster.json.Json;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A step over components of a heterogeneous job or of its own: maps parts of the command line to components. */
final class SrunHet {
    /** Stands in place of the number of components: the job has none, the step makes its own of the job's nodes. */
    static final int OWN = -1;

    private static final int GROUP_MAX = 127;

    /**
     * A component that the step runs in.
     *
     * @param group its offset within the job
     */
    record Part(int group, JobOptions options, List<String> program) {}

    private SrunHet() {}

    /**
     * The parts in the order of the components. A section that names no group is for the one with its own number; one
     * that names no program runs that of the next that does.
     *
     * @param size components of the job; 0 if it is to be made for this step; {@link #OWN}
     */
    static List<Part> parts(CommandContext context, List<List<String>> sections, int size) throws UsageException {
        List<Part> out = new ArrayList<>();
        Set<Integer> seen = new LinkedHashSet<>();
        JobOptions first = null;
        boolean named = false;
        for (int i = 0; i < sections.size(); i++) {
            JobOptions typed = new JobOptions(context, 'R');
            List<String> program = typed.readArguments(sections.get(i));
            // a section without a group, behind one that has a group, means that group again
            boolean again = named && !typed.has(JobOption.HET_GROUP);
            named |= typed.has(JobOption.HET_GROUP);
            for (int group : typed.has(JobOption.HET_GROUP) ? groups(context, typed) : List.of(i)) {
                if (!seen.add(group) || again) {
                    throw new UsageException(
                            CommandContext.FATAL_EXIT,
                            List.of("srun: fatal: Duplicate het groups in single srun not supported"));
                }
                JobOptions component = size > 0 ? new JobOptions(context, 'R', group) : new JobOptions(context, 'R');
                component.readArguments(sections.get(i));
                OptionEnvironment.read(component);
                if (size == OWN && sections.size() > 1) {
                    dropNodesOfJob(component);
                }
                if (first == null) {
                    first = component;
                } else {
                    component.inherit(first, HetComponents.INHERITED);
                }
                out.add(new Part(group, component, program));
            }
        }
        if (first != null) {
            checkGroups(context, first, List.copyOf(seen), size, sections.size());
        }
        List<Part> parts = withPrograms(out);
        for (Part part : parts) {
            if (part.options.verbose() > 0) {
                OptionReport.print(part.options);
            }
            CliFilter.preSubmit(part.options, part.group, part.program);
        }
        return parts;
    }

    /** The job's number of nodes is for all components together. */
    private static void dropNodesOfJob(JobOptions component) {
        if (component.typed(JobOption.NTASKS) && !component.typed(JobOption.NODES)) {
            component.drop(JobOption.NODES);
        }
    }

    private static void checkGroups(
            CommandContext context, JobOptions first, List<Integer> groups, int size, int sections)
            throws UsageException {
        if (size == OWN && groups.size() == 1) {
            within(context, first, groups, 1);
            throw context.bad(
                    first.exitError(1), "No directives to start application on any available hetjob components");
        }
        if (size != OWN) {
            within(context, first, groups, size > 0 ? size : sections);
        }
    }

    /** Refuses groups beyond the components of the job. A single group has a sentence of its own. */
    static void within(CommandContext context, JobOptions options, List<Integer> groups, int components)
            throws UsageException {
        int maximum = components - 1;
        for (int group : groups) {
            if (group > maximum) {
                String alone =
                        "Requested het-group offset exceeds highest hetjob index (" + group + " > " + maximum + ")";
                throw context.bad(
                        options.exitError(1),
                        groups.size() == 1
                                ? alone
                                : "Attempt to run a job step with het group value of " + group
                                        + ", but the job allocation has maximum value of " + maximum);
            }
        }
    }

    private static List<Part> withPrograms(List<Part> parts) throws UsageException {
        List<Part> out = new ArrayList<>(parts);
        List<String> program = List.of();
        for (int i = out.size() - 1; i >= 0; i--) {
            Part part = out.get(i);
            program = part.program.isEmpty() ? program : part.program;
            if (program.isEmpty()) {
                throw new UsageException(
                        CommandContext.FATAL_EXIT, List.of("srun: fatal: No command given to execute."));
            }
            out.set(i, new Part(part.group, part.options, ProgramFile.tested(part.options, program)));
        }
        out.sort(Comparator.comparingInt(Part::group));
        return out;
    }

    /** The components that {@code --het-group} names: numbers and ranges of them, without steps. */
    static List<Integer> groups(CommandContext context, JobOptions options) throws UsageException {
        String text = options.text(JobOption.HET_GROUP);
        String plain = text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
        String last = "srun: error: Invalid --het-group value: " + text;
        for (String item : plain.split(",", -1)) {
            if (!item.matches("[0-9]+(-[0-9]+)?")
                    || IndexSet.parseSpec(item, IndexSet.MAX_INDEX).isEmpty()) {
                throw new UsageException(
                        options.exitError(1),
                        List.of("srun: error: _parse_single_range: Invalid range: `" + item + "'", last));
            }
        }
        List<IndexSet.Spec> spec = IndexSet.parseSpec(plain, GROUP_MAX);
        if (spec.isEmpty()) {
            throw new UsageException(options.exitError(1), List.of(last));
        }
        List<Integer> out = new ArrayList<>();
        IndexSet set = spec.getFirst().indexes();
        for (int g = set.first(); g >= 0; g = set.next(g + 1)) {
            out.add(g);
        }
        return out;
    }

    /** The allocation of each part's component, or the one that they are all in. */
    static List<Json.Obj> allocations(CommandContext context, Json.Obj whole, List<Part> parts) throws SlurmException {
        List<Integer> members = members(whole);
        if (members.isEmpty()) {
            return Collections.nCopies(parts.size(), whole);
        }
        List<Json.Obj> out = new ArrayList<>();
        for (Part part : parts) {
            out.add(StepManager.call(
                    context, "AwaitAllocation", new Json.Obj().put("jobId", (long) members.get(part.group))));
        }
        return out;
    }

    /** Offsets to numbers of jobs, as the leader's allocation has them. */
    static List<Integer> members(Json.Obj allocation) {
        List<Integer> out = new ArrayList<>();
        for (Object id : allocation.list("hetMembers")) {
            out.add(((Number) id).intValue());
        }
        return out;
    }

    /**
     * {@code --bcast}: programs go to the nodes of their own components. Empty if one could not be copied, which has
     * been told.
     */
    static Optional<List<Part>> sent(
            CommandContext context, Json.Obj whole, List<Part> parts, List<Json.Obj> allocations)
            throws SlurmException, UsageException {
        List<Part> out = new ArrayList<>();
        String job = "--jobid=" + whole.integer("jobId");
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            // the first one's number alone would stand for the whole job
            Optional<List<String>> program = Bcast.sent(
                    context,
                    part.options,
                    part.program,
                    allocations.get(i).integer("jobId"),
                    List.of(members(whole).isEmpty() ? job : job + "+" + part.group));
            if (program.isEmpty()) {
                return Optional.empty();
            }
            out.add(new Part(part.group, part.options, program.get()));
        }
        return Optional.of(out);
    }
}
