package dev.muster.node;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.Sessions;
import dev.muster.node.spool.JobSpool;
import dev.muster.transport.Caller;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Sessions with the test cluster's key. */
final class NodeSessions {
    private NodeSessions() {}

    static Sessions of(int uid) throws IOException {
        Path directory = Files.createTempDirectory("muster-conf-");
        Path key = Files.createFile(
                directory.resolve("slurm.key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(key, FakeController.KEY);
        Path file = directory.resolve("slurm.conf");
        Files.writeString(
                file,
                "ClusterName=test\nSlurmctldHost=localhost\nAuthType=auth/slurm\n"
                        + "NodeName=n1\nPartitionName=p Nodes=n1\n");
        try {
            return read(file, uid);
        } finally {
            JobSpool.removeTree(directory);
        }
    }

    private static Sessions read(Path file, int uid) throws IOException {
        return switch (SlurmConf.read(file.toFile())) {
            case SlurmConf.Parsed.Ok ok -> new Sessions(ok.conf(), new Caller(uid, uid), uid, false);
            case SlurmConf.Parsed.Invalid invalid ->
                throw new IOException(invalid.errors().toString());
        };
    }
}
