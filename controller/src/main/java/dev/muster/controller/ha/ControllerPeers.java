package dev.muster.controller.ha;

import dev.muster.config.Controller;
import dev.muster.config.SlurmConf;
import dev.muster.journal.SharedDirectoryGroup;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.JournalMember;
import dev.muster.model.api.ClusterMessages.Ping;
import dev.muster.model.api.ClusterMessages.PingReply;
import dev.muster.transport.Audience;
import dev.muster.transport.Client;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** Asks the other controllers of slurm.conf over the network, for a {@link SharedDirectoryGroup}. */
public final class ControllerPeers implements SharedDirectoryGroup.Peers {
    private static final int CONNECT_MS = 500;
    private static final int ANSWER_MS = 1000;

    private final SlurmConf conf;
    private final int self;
    /** Connects to an address and port. */
    private final BiFunction<String, Integer, Client> clients;

    public ControllerPeers(SlurmConf conf, int self, BiFunction<String, Integer, Client> clients) {
        this.conf = conf;
        this.self = self;
        this.clients = clients;
    }

    private int port() {
        return conf.slurmctldPorts().getFirst();
    }

    @Override
    public boolean isStopped(int member) {
        List<Controller> all = conf.controllers();
        if (member >= all.size()) {
            return true;
        }
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(all.get(member).address(), port()), CONNECT_MS);
            return false;
        } catch (ConnectException e) {
            return String.valueOf(e.getMessage()).contains("refused");
        } catch (IOException e) {
            return false; // out of reach: it may run
        }
    }

    /** Returns whether a controller answers a ping, whatever its role is. */
    public boolean answers(int member) {
        List<Controller> all = conf.controllers();
        return member < all.size() && ping(all.get(member)).isPresent();
    }

    @Override
    public Optional<String> objection(String directory) {
        List<Controller> all = conf.controllers();
        for (int i = 0; i < all.size(); i++) {
            if (i == self) {
                continue;
            }
            Controller other = all.get(i);
            Optional<JournalMember> theirs = ping(other).map(PingReply::member);
            if (theirs.isPresent() && isOfAnother(theirs.get(), directory)) {
                return Optional.of("StateSaveLocation=" + conf.stateSaveLocation() + " is not the directory of "
                        + other.host() + ": two controllers need one directory that they share. Name three"
                        + " SlurmctldHost for directories of their own");
            }
        }
        return Optional.empty();
    }

    /** One that stands by and has no directory yet waits for this one's. */
    static boolean isOfAnother(JournalMember other, String directory) {
        boolean isKnown = other.leads() || !other.directory().isEmpty();
        return isKnown && !other.directory().equals(directory);
    }

    /** Returns the controller's answer; empty where it gives none. */
    private Optional<PingReply> ping(Controller other) {
        try (Client client =
                clients.apply(other.address(), port()).to(Audience.SLURMCTLD).connectWithin(CONNECT_MS)) {
            Client.Response answer = client.post("/muster/v1/Ping", Codec.encode(new Ping()), ANSWER_MS);
            return answer.status() == 200
                    ? Optional.of(Codec.decode(answer.body(), PingReply.class))
                    : Optional.empty();
        } catch (IOException | Json.MalformedException e) {
            return Optional.empty();
        }
    }
}
