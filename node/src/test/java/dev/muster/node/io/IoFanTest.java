package dev.muster.node.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.model.node.NodeMessages.Behind;
import dev.muster.model.node.NodeMessages.IoAttach;
import dev.muster.node.step.StepSocket;
import dev.muster.transport.Frames;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A relay's branches with stand-ins for nodes: where frames go, and which nodes are given up. */
@Timeout(20)
class IoFanTest {
    private static final List<Behind> BEHIND =
            List.of(new Behind("n2", "2-3"), new Behind("n3", "4"), new Behind("n4", "5"));

    private final Map<String, PipedOutputStream> says = new ConcurrentHashMap<>();
    private final Map<String, ByteArrayOutputStream> heard = new ConcurrentHashMap<>();
    private final ByteArrayOutputStream up = new ByteArrayOutputStream();
    private final RelayConnection own = new RelayConnection();

    private IoFan fan(int width, List<Behind> behind) throws IOException {
        return new IoFan(
                new DaemonLog("slurmd", "/dev/null", false, 1, ""),
                this::open,
                new Frames(InputStream.nullInputStream(), up, () -> {}),
                new IoAttach(7, 1, 0, "secret", false, true, 0, width, behind),
                own);
    }

    private Frames open(String node) throws IOException {
        if (node.equals("n4")) {
            throw new IOException("no way to it");
        }
        PipedOutputStream out = new PipedOutputStream();
        PipedInputStream in = new PipedInputStream(out, 1 << 16);
        heard.put(node, new ByteArrayOutputStream());
        says.put(node, out);
        return new Frames(in, heard.get(node), out);
    }

    private static byte[] frame(char type, int task) {
        return new StepSocket.Frame(type, task, 0, 0, new byte[0]).encode();
    }

    private static List<byte[]> frames(ByteArrayOutputStream raw) {
        ByteBuffer b = ByteBuffer.wrap(raw.toByteArray());
        List<byte[]> out = new ArrayList<>();
        while (b.remaining() > Integer.BYTES) {
            byte[] one = new byte[b.getInt()];
            b.get(one);
            out.add(one);
        }
        return out;
    }

    private static String text(List<byte[]> frames) throws IOException {
        StringBuilder b = new StringBuilder();
        for (byte[] raw : frames) {
            StepSocket.Frame f = StepSocket.Frame.decode(raw);
            b.append(f.type()).append(f.task()).append(' ');
        }
        return b.toString().trim();
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void soon(Condition condition) throws Exception {
        while (!condition.holds()) {
            Thread.sleep(5);
        }
    }

    @Test
    void framesGoWhereTheirTasksAre() throws Exception {
        try (IoFan fan = fan(3, BEHIND)) {
            fan.start();
            soon(() -> says.containsKey("n2") && says.containsKey("n3"));
            fan.pass(frame('a', 3));
            fan.pass(frame('a', 4));
            fan.pass(frame('a', 0));
            fan.pass(frame('I', -1));
            soon(() -> frames(heard.get("n2")).size() == 3
                    && frames(heard.get("n3")).size() == 3);
            IoAttach attach = Codec.decode(frames(heard.get("n2")).getFirst(), IoAttach.class);
            assertThat(attach).isEqualTo(new IoAttach(7, 1, 0, "secret", false, true, 2, 3, List.of()));
            assertThat(text(frames(heard.get("n2")).subList(1, 3))).isEqualTo("a3 I-1");
            assertThat(text(frames(heard.get("n3")).subList(1, 3))).isEqualTo("a4 I-1");
            assertThat(text(own.take())).isEqualTo("a0 I-1");
        }
    }

    @Test
    void unreachableAndLostNodesAreReportedOnce() throws Exception {
        try (IoFan fan = fan(3, BEHIND)) {
            fan.start();
            soon(() -> text(frames(up)).equals("!5") && says.containsKey("n2"));
            Frames n2 = new Frames(InputStream.nullInputStream(), says.get("n2"), () -> {});
            n2.sendAll(List.of(frame('H', -1), frame('O', 2), frame('F', 2)));
            soon(() -> text(frames(up)).equals("!5 O2 F2"));
            says.get("n2").close();
            says.get("n3").close();
            soon(() -> text(frames(up)).equals("!5 O2 F2 !4"));
        }
    }

    @Test
    void nodesOfABranchAttachBehindItsFirst() throws Exception {
        try (IoFan fan = fan(1, BEHIND)) {
            fan.start();
            soon(() -> heard.containsKey("n2") && !frames(heard.get("n2")).isEmpty());
            assertThat(Codec.decode(frames(heard.get("n2")).getFirst(), IoAttach.class)
                            .behind())
                    .isEqualTo(BEHIND.subList(1, 3));
            says.get("n2").close();
            soon(() -> frames(up).size() == 3);
            assertThat(text(frames(up)).split(" ")).containsExactlyInAnyOrder("!2", "!4", "!5");
        }
    }

    @Test
    void badDescriptionsAreRefused() {
        assertThatThrownBy(() -> fan(2, List.of(new Behind("n2", "")))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> fan(2, List.of(new Behind("n2", "0-999999999"))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void waitingOutputIsBounded() throws Exception {
        byte[] chunk = new byte[1 << 20];
        int taken = 0;
        while (own.offer(chunk)) {
            taken++;
        }
        assertThat(taken).isEqualTo(RelayConnection.WAITING_BYTES_MAX / chunk.length);
        assertThat(own.take()).hasSize(taken);
        assertThat(own.offer(chunk)).isTrue();
        own.close();
        assertThat(own.take()).isEmpty();
    }

    @Test
    void endFrameOfANodeCarriesItsFirstTask() throws IOException {
        ByteBuffer whole = ByteBuffer.allocate(100);
        for (byte[] f : List.of(frame('O', 9), frame('F', -1))) {
            whole.putInt(f.length).put(f);
        }
        byte[] all = java.util.Arrays.copyOf(whole.array(), whole.position());
        IoFan.mark(all, 8);
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        raw.write(all);
        assertThat(text(frames(raw))).isEqualTo("O9 F8");
    }
}
