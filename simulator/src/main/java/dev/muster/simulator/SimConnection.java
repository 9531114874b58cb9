package dev.muster.simulator;

import dev.muster.json.Codec;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import java.util.ArrayDeque;

/**
 * One connection of a node: ordered both ways, may break at any frame, may hang while the node is cut off. Each side
 * learns of the end on its own.
 */
final class SimConnection {
    private static final int LATE_PER_MILLE = 400;

    private final World world;
    private final SimParameters parameters;
    private final SimNode node;
    private final SimController controller;
    private final int controllerLife;
    private final String bootId;
    private final ArrayDeque<byte[]> up = new ArrayDeque<>();
    private final ArrayDeque<byte[]> down = new ArrayDeque<>();
    private long upAtMs;
    private long downAtMs;
    boolean nodeOpen = true;
    boolean controllerOpen = true;

    SimConnection(World world, SimParameters parameters, SimNode node, SimController controller) {
        this.world = world;
        this.parameters = parameters;
        this.node = node;
        this.controller = controller;
        this.controllerLife = controller.life();
        this.bootId = node.bootId();
        controller.accepted(this);
    }

    SimNode node() {
        return node;
    }

    private long delay(long notBefore) {
        return Math.max(world.around(parameters.delayMs()), notBefore - world.nowMs());
    }

    void send(ToController message) {
        if (!nodeOpen) {
            return;
        }
        byte[] frame = Codec.encode(message, ToController.class);
        for (int i = world.chance(parameters.duplicatePerMille()) ? 2 : 1; i > 0; i--) {
            long delay = delay(upAtMs);
            upAtMs = world.nowMs() + delay;
            up.add(frame);
            world.at(delay, this::deliverUp);
        }
    }

    void send(ToNode message) {
        if (!controllerOpen) {
            return;
        }
        byte[] frame = Codec.encode(message, ToNode.class);
        for (int i = world.chance(parameters.duplicatePerMille()) ? 2 : 1; i > 0; i--) {
            long delay = delay(downAtMs);
            downAtMs = world.nowMs() + delay;
            down.add(frame);
            world.at(delay, this::deliverDown);
        }
    }

    private void deliverUp() {
        if (node.isCutOff() && !up.isEmpty()) {
            world.at(500, this::deliverUp);
            return;
        }
        byte[] frame = up.poll();
        if (frame == null) {
            return;
        }
        // A handler may still be busy with a frame of a connection that was replaced meanwhile.
        boolean late =
                parameters.staleFrames() && !controllerOpen && controller.life() == controllerLife && controller.isUp();
        if (controllerOpen || late) {
            controller.received(this, Codec.decode(frame, ToController.class));
        }
        if (!controllerOpen) {
            endNodeSide();
        }
    }

    private void deliverDown() {
        if (node.isCutOff() && !down.isEmpty()) {
            world.at(500, this::deliverDown);
            return;
        }
        byte[] frame = down.poll();
        if (frame == null) {
            return;
        }
        if (!nodeOpen || world.chance(LATE_PER_MILLE)) {
            late(frame);
        }
        if (nodeOpen) {
            node.received(this, Codec.decode(frame, ToNode.class));
        } else if (controllerOpen && node.isOn()) {
            endControllerSide();
        }
    }

    /** A relay on the way may still hold a copy when the node has been booted anew. */
    private void late(byte[] frame) {
        if (parameters.staleFrames() && !world.isCalm()) {
            world.at(1_000 + world.below(90_000), () -> node.late(bootId, Codec.decode(frame, ToNode.class)));
        }
    }

    /**
     * The connection breaks for both; what is under way is lost, or what was under way to a node that rebooted comes
     * late.
     */
    void reset() {
        up.clear();
        down.clear();
        world.at(world.around(parameters.delayMs()), this::endNodeSide);
        world.at(world.around(parameters.delayMs()), this::endControllerSide);
    }

    void endNodeSide() {
        if (nodeOpen) {
            nodeOpen = false;
            node.disconnected(this);
        }
    }

    private void endControllerSide() {
        if (controllerOpen) {
            controllerOpen = false;
            controller.gone(this);
        }
    }

    /** The controller closes or dies: the node hears of it, after what was sent before, unless it is cut off. */
    void closeAtController() {
        controllerOpen = false;
        world.at(1 + delay(downAtMs), () -> {
            if (!node.isCutOff()) {
                endNodeSide();
            }
        });
    }

    /** The node's process or host dies: the controller hears of it unless the host is gone altogether. */
    void closeAtNode(boolean silently) {
        nodeOpen = false;
        if (!silently) {
            world.at(1 + delay(upAtMs), () -> {
                if (!node.isCutOff()) {
                    endControllerSide();
                }
            });
        }
    }
}
