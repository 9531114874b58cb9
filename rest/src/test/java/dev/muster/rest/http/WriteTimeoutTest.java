package dev.muster.rest.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WriteTimeoutTest {
    /** A client that requests much and reads nothing loses its connection, and frees the thread that wrote to it. */
    @Test
    void clientThatReadsNothingLosesItsConnection() throws Exception {
        WriteTimeout patience = new WriteTimeout(300);
        patience.start();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket reader = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket writer = server.accept()) {
            OutputStream out = patience.watched(writer.getOutputStream(), writer);
            CompletableFuture<Void> written = CompletableFuture.runAsync(() -> {
                try {
                    out.write(new byte[64 << 20]);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThatThrownBy(() -> written.get(20, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
            assertThat(writer.isClosed()).isTrue();
            assertThat(reader.isClosed()).isFalse();
        }
    }

    @Test
    void clientThatReadsKeepsItsConnection() throws Exception {
        WriteTimeout patience = new WriteTimeout(1);
        OutputStream out = patience.watched(OutputStream.nullOutputStream(), () -> {
            throw new IOException("closed");
        });
        out.write(new byte[10]);
        patience.look(System.nanoTime() + 1_000_000_000L);
        out.write(new byte[10]);
    }
}
