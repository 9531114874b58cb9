package dev.muster.controller.view;

import dev.muster.core.state.Step;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.CpuBind;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.StepDesc;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the CPUs on a node that each task of a step is given, by abstract numbers: those of a core are neighbours.
 * Pure.
 */
final class TaskCpus {
    private TaskCpus() {}

    /** Returns the abstract CPU ids of units: those of one core are neighbours. */
    static IndexSet cpuIds(IndexSet units, int perUnit) {
        if (perUnit == 1) {
            return units;
        }
        IndexSet out = IndexSet.empty();
        for (int unit = units.first(); unit >= 0; unit = units.next(unit + 1)) {
            out = out.union(IndexSet.range(unit * perUnit, unit * perUnit + perUnit - 1, 1));
        }
        return out;
    }

    /**
     * Returns each task's own units when there are enough for all, else all of the step's; all for
     * {@code --cpu-bind=none}. A map or masks name CPUs as the machine counts them: the node picks those out of all.
     *
     * @param unitsPerSocket at least 1
     * @param perUnit CPUs of a unit
     * @param standard over sockets, where the step says nothing of that
     */
    static List<IndexSet> of(
            StepDesc desc, Step.Part part, int unitsPerSocket, int perUnit, Distribution.Level standard) {
        IndexSet all = cpuIds(part.cores(), perUnit);
        CpuBind.Kind kind =
                CpuBind.parse(desc.cpuBind()).orElse(CpuBind.DEFAULT).kind();
        int tasks = part.tasks().size();
        int perTask = Math.max(1, desc.request().cpusPerTask());
        Distribution layout = Distribution.parse(desc.request().distribution()).orElse(Distribution.UNSET);
        if (kind == CpuBind.Kind.THREADS
                && layout.cores() != Distribution.Level.UNSET
                && part.cpus() >= tasks * perTask) {
            Threads threads = new Threads(part.cores(), unitsPerSocket, perUnit, layout);
            return java.util.stream.IntStream.range(0, tasks)
                    .mapToObj(i -> threads.take(perTask))
                    .toList();
        }
        boolean apart =
                layout.cores() == Distribution.Level.FCYCLIC && part.cores().count() >= tasks * perTask;
        int units = apart ? perTask : (perTask + perUnit - 1) / perUnit;
        boolean own = switch (kind) {
            case DEFAULT, CORES, THREADS -> part.cores().count() >= tasks * units;
            case NONE, RANK, MAP, MASK, LDRANK, LDMAP, LDMASK, SOCKETS, LDOMS -> false;
        };
        List<IndexSet> out = new ArrayList<>();
        Distribution.Level level;
        if (layout.sockets() != Distribution.Level.UNSET) {
            level = layout.sockets();
        } else if (layout.nodes() == Distribution.Nodes.PLANE) {
            level = Distribution.Level.BLOCK;
        } else {
            level = standard;
        }

        Sockets sockets = new Sockets(part.cores(), unitsPerSocket, level);
        int cpusMax = kind == CpuBind.Kind.THREADS ? perTask : Integer.MAX_VALUE;
        for (int i = 0; i < tasks; i++) {
            out.add(own ? mine(sockets, units, perUnit, cpusMax) : all);
        }
        return out;
    }

    private static IndexSet mine(Sockets sockets, int units, int perUnit, int maxCpus) {
        IndexSet unitsTaken = sockets.take(units);
        IndexSet cpus = cpuIds(unitsTaken, perUnit);
        IndexSet out = IndexSet.empty();
        for (int cpu = cpus.first(), n = 0; cpu >= 0 && n < maxCpus; cpu = cpus.next(cpu + 1), n++) {
            out = out.with(cpu);
        }
        return out;
    }

    /**
     * The units that are not given away yet, by socket. BLOCK fills one socket after the other. CYCLIC goes on to the
     * next socket with each task, FCYCLIC with each unit.
     */
    private static final class Sockets {
        private final List<List<Integer>> free = new ArrayList<>();
        private final Distribution.Level level;
        private int socketTurn;

        Sockets(IndexSet units, int unitsPerSocket, Distribution.Level level) {
            this.level = level;
            int socket = -1;
            for (int unit = units.first(); unit >= 0; unit = units.next(unit + 1)) {
                if (free.isEmpty() || unit / Math.max(1, unitsPerSocket) != socket) {
                    free.add(new ArrayList<>());
                    socket = unit / Math.max(1, unitsPerSocket);
                }
                free.getLast().add(unit);
            }
        }

        /** @param units at most as many as are free */
        IndexSet take(int units) {
            IndexSet out = IndexSet.empty();
            for (int k = 0; k < units; k++) {
                while (free.get(socketTurn).isEmpty()) {
                    next();
                }
                out = out.with(free.get(socketTurn).removeFirst());
                if (level == Distribution.Level.FCYCLIC) {
                    next();
                }
            }
            if (level == Distribution.Level.CYCLIC) {
                next();
            }
            return out;
        }

        private void next() {
            socketTurn = (socketTurn + 1) % free.size();
        }
    }

    /**
     * The threads that are not given away yet, by socket and core. Each level goes on to the next as {@link Sockets}
     * does: BLOCK when one is used up, CYCLIC with each task, FCYCLIC with each CPU.
     */
    private static final class Threads {
        private final List<List<List<Integer>>> free = new ArrayList<>();
        private final List<Integer> core = new ArrayList<>();
        private final Distribution layout;
        private int socketTurn;

        Threads(IndexSet units, int unitsPerSocket, int perUnit, Distribution layout) {
            this.layout = layout;
            int socket = -1;
            for (int unit = units.first(); unit >= 0; unit = units.next(unit + 1)) {
                if (free.isEmpty() || unit / Math.max(1, unitsPerSocket) != socket) {
                    free.add(new ArrayList<>());
                    core.add(0);
                    socket = unit / Math.max(1, unitsPerSocket);
                }
                List<Integer> threads = new ArrayList<>();
                for (int t = 0; t < perUnit; t++) {
                    threads.add(unit * perUnit + t);
                }
                free.getLast().add(threads);
            }
        }

        /** @param cpus at most as many as are free */
        IndexSet take(int cpus) {
            IndexSet out = IndexSet.empty();
            int last = socketTurn;
            for (int k = 0; k < cpus; k++) {
                while (free.get(socketTurn).stream().allMatch(List::isEmpty)) {
                    socketTurn = (socketTurn + 1) % free.size();
                }
                last = socketTurn;
                while (free.get(socketTurn).get(core.get(socketTurn)).isEmpty()) {
                    nextCore(socketTurn);
                }
                out = out.with(free.get(socketTurn).get(core.get(socketTurn)).removeFirst());
                if (layout.cores() == Distribution.Level.FCYCLIC) {
                    nextCore(socketTurn);
                }
                socketTurn =
                        layout.sockets() == Distribution.Level.FCYCLIC ? (socketTurn + 1) % free.size() : socketTurn;
            }
            if (layout.cores() == Distribution.Level.CYCLIC) {
                nextCore(last);
            }
            socketTurn = layout.sockets() == Distribution.Level.CYCLIC ? (last + 1) % free.size() : socketTurn;
            return out;
        }

        private void nextCore(int socket) {
            core.set(socket, (core.get(socket) + 1) % free.get(socket).size());
        }
    }
}
