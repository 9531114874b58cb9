package dev.muster.cli.step;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.format.TaskRanges;
import dev.muster.json.Json;
import dev.muster.model.cluster.LaunchTree;
import dev.muster.transport.Frames;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Several nodes of a step over one connection: the first relays for the others. When it is lost or silent, the next
 * node relays the others' streams from where they stopped, and the first is contacted by itself.
 */
final class StepBranch implements Runnable {
    /** The stream field of a refusal: the relay does not reach the node. */
    private static final int OUT_OF_REACH = 2;

    private final Host host;
    private final Json.Obj attach;
    private final int width;
    private final Set<StepNode> nodes = new LinkedHashSet<>();
    private final Map<Integer, StepNode> byTask = new HashMap<>();

    /** @param nodes at least one, each with tasks; width of the tree below */
    StepBranch(Host host, Json.Obj attach, int width, List<StepNode> nodes) {
        this.host = host;
        this.attach = attach;
        this.width = width;
        this.nodes.addAll(nodes);
        nodes.forEach(node -> node.tasks.forEach(task -> byTask.put(task, node)));
    }

    /** Starts what is needed to reach these nodes. */
    static void start(Host host, Json.Obj attach, int width, List<StepNode> nodes) {
        if (nodes.size() == 1) {
            alone(host, nodes.getFirst());
        } else if (!nodes.isEmpty()) {
            host.startBackground("step-" + nodes.getFirst().name, new StepBranch(host, attach, width, nodes));
        }
    }

    private static void alone(Host host, StepNode node) {
        host.startBackground("step-" + node.name, node);
    }

    @Override
    public void run() {
        StepNode first = nodes.iterator().next();
        try (Frames frames = first.open()) {
            frames.send(Json.print(request(first)));
            frames.expect(LaunchTree.SILENT_MS);
            boolean perStream = nodes.stream().anyMatch(StepNode::hasPositions);
            List<IoFrame> attachments = new ArrayList<>();
            for (StepNode node : perStream ? nodes : Set.of(first)) {
                attachments.addAll(node.attachment(perStream));
            }
            Shared shared = new Shared(frames);
            shared.send(attachments);
            List.copyOf(nodes).forEach(node -> node.carriedBy(Optional.of(shared)));
            while (nodes.stream().anyMatch(node -> !node.isComplete())) {
                take(IoFrame.decode(frames.receive()));
            }
        } catch (IOException | SlurmException | IllegalArgumentException e) {
            goOn(first);
        }
    }

    private Json.Obj request(StepNode first) {
        List<Object> behind = new ArrayList<>();
        for (StepNode node : nodes) {
            if (node != first) {
                behind.add(new Json.Obj().put("node", node.name).put("tasks", TaskRanges.text(node.tasks)));
            }
        }
        Json.Obj out = new Json.Obj();
        attach.fields().forEach(out::put);
        return out.put("relayed", Boolean.TRUE)
                .put("rank", (long) first.tasks.getFirst())
                .put("width", (long) width)
                .put("behind", behind);
    }

    private void take(IoFrame frame) throws IOException {
        StepNode node = byTask.get(frame.task());
        if (node == null || !nodes.contains(node)) {
            return;
        }
        if (frame.type() == '!' && frame.stream() == OUT_OF_REACH) {
            nodes.remove(node);
            node.carriedBy(Optional.empty());
            alone(host, node);
        } else {
            node.take(frame);
        }
    }

    private void goOn(StepNode first) {
        List<StepNode> left = nodes.stream().filter(node -> !node.isComplete()).toList();
        left.forEach(node -> node.carriedBy(Optional.empty()));
        if (left.contains(first)) {
            alone(host, first);
        }
        start(host, attach, width, left.stream().filter(node -> node != first).toList());
    }

    /** Carries frames for all nodes: each frame is sent once, whichever node it is for. */
    private static final class Shared implements StepNode.Carrier {
        private final Frames frames;
        private long inputTo;
        private boolean inputEnded;

        Shared(Frames frames) {
            this.frames = frames;
        }

        @Override
        public void send(List<IoFrame> all) throws IOException {
            List<byte[]> out = new ArrayList<>();
            synchronized (this) {
                for (IoFrame frame : all) {
                    if (isNew(frame)) {
                        out.add(frame.encode());
                    }
                }
                frames.sendAll(out);
            }
        }

        private boolean isNew(IoFrame frame) {
            if (frame.task() != IoFrame.ALL_TASKS) {
                return true;
            }
            boolean isNew = switch (frame.type()) {
                case 'I' -> frame.offset() + frame.bytes().length > inputTo;
                case 'i' -> !inputEnded;
                default -> true;
            };
            if (frame.type() == 'I') {
                inputTo = Math.max(inputTo, frame.offset() + frame.bytes().length);
            }
            inputEnded |= frame.type() == 'i';
            return isNew;
        }
    }
}
