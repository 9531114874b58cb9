package dev.muster.node;

import dev.muster.daemon.Sessions;
import dev.muster.json.Json;
import dev.muster.node.config.Settings;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import java.io.IOException;

/** Connections to slurmd of other nodes of the cluster. */
record PeerNodes(Settings settings, Slurmd.Neighbours neighbours, Sessions sessions) {
    private static final int ANSWER_MS = 5_000;

    /** @throws IOException if the configuration has no such node, or the node does not take the stream */
    Frames dial(String node, String stream) throws IOException {
        Settings.Address address =
                neighbours.find(node).orElseThrow(() -> new IOException(node + " is not in " + settings.configFile()));
        try (Client client = sessions.client(address.host(), address.port())
                .to(Audience.SLURMD)
                .connectWithin(settings.connectMs())) {
            return client.stream(Server.streamPath(stream), "muster-" + stream);
        }
    }

    /**
     * Returns the body of the node's answer to a message.
     *
     * @throws IOException with the reason, where the node refuses
     */
    byte[] ask(String node, String message, byte[] body) throws IOException {
        Settings.Address address = neighbours.find(node).orElseThrow(() -> new IOException("not in slurm.conf"));
        try (Client client = sessions.client(address.host(), address.port()).to(Audience.SLURMD)) {
            Client.Response answer = client.post("/muster/v1/" + message, body, ANSWER_MS);
            if (answer.status() != 200) {
                throw new IOException(Json.object(answer.body()).text("error"));
            }
            return answer.body();
        } catch (Json.MalformedException e) {
            throw new IOException(e.getMessage());
        }
    }
}
