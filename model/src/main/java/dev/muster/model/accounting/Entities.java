package dev.muster.model.accounting;

import java.util.List;
import java.util.Map;

/**
 * Entities that an administrator keeps in accounting. Names are lower case; limits are by {@link LimitField#name} in
 * their kept form. A deleted one stays, marked, because jobs of the past refer to it. Times are seconds since 1970.
 */
public final class Entities {
    private Entities() {}

    /** How far a user's word counts. */
    public enum AdminLevel {
        NONE,
        OPERATOR,
        ADMINISTRATOR
    }

    public sealed interface Entity {
        /** The table's word. */
        String kind();

        /** Unique within the kind. */
        String key();
    }

    /** @param controlHost where its slurmctld listens, "" while it is not running */
    public record Cluster(
            String name,
            int id,
            String controlHost,
            int controlPort,
            int rpcVersion,
            String classification,
            String flags,
            String nodes,
            int nodeCount,
            String tres,
            long created,
            long modified,
            boolean deleted)
            implements Entity {
        @Override
        public String kind() {
            return "cluster";
        }

        @Override
        public String key() {
            return name;
        }
    }

    /** @param coordinators users that may change what is below the account */
    public record Account(
            String name,
            String description,
            String organization,
            String flags,
            List<String> coordinators,
            long created,
            long modified,
            boolean deleted)
            implements Entity {
        @Override
        public String kind() {
            return "account";
        }

        @Override
        public String key() {
            return name;
        }
    }

    public record User(String name, AdminLevel adminLevel, long created, long modified, boolean deleted)
            implements Entity {
        @Override
        public String kind() {
            return "user";
        }

        @Override
        public String key() {
            return name;
        }
    }

    /**
     * A place in a cluster's tree.
     *
     * @param user "" for the account itself
     * @param partition "" for all
     * @param parent account above, of an account; "" for the root
     * @param isDefault the user's default account in this cluster
     */
    public record Assoc(
            int id,
            String cluster,
            String account,
            String user,
            String partition,
            String parent,
            boolean isDefault,
            Map<String, String> limits,
            long created,
            long modified,
            boolean deleted)
            implements Entity {
        @Override
        public String kind() {
            return "assoc";
        }

        @Override
        public String key() {
            return Integer.toString(id);
        }

        public String limit(String name) {
            return limits.getOrDefault(name, "");
        }
    }

    public record Qos(int id, String name, Map<String, String> limits, long created, long modified, boolean deleted)
            implements Entity {
        @Override
        public String kind() {
            return "qos";
        }

        @Override
        public String key() {
            return Integer.toString(id);
        }

        public String limit(String limit) {
            return limits.getOrDefault(limit, "");
        }
    }

    public record Tres(int id, String type, String name) implements Entity {
        @Override
        public String kind() {
            return "tres";
        }

        @Override
        public String key() {
            return Integer.toString(id);
        }

        /** Returns the name as in {@code gres/gpu=2}. */
        public String full() {
            return name.isEmpty() ? type : type + "/" + name;
        }
    }

    public record Wckey(
            int id,
            String cluster,
            String user,
            String name,
            boolean isDefault,
            long created,
            long modified,
            boolean deleted)
            implements Entity {
        /** The key's own name, of one that may be marked with a star as its user's default. */
        public static String plain(String marked) {
            return marked.startsWith("*") ? marked.substring(1) : marked;
        }

        @Override
        public String kind() {
            return "wckey";
        }

        @Override
        public String key() {
            return Integer.toString(id);
        }
    }

    /** @param allowed percent by cluster */
    public record Resource(
            int id,
            String name,
            String server,
            String type,
            long count,
            String description,
            String flags,
            String manager,
            Map<String, String> allowed,
            long created,
            long modified,
            boolean deleted,
            long consumed,
            long consumedAt)
            implements Entity {
        @Override
        public String kind() {
            return "resource";
        }

        @Override
        public String key() {
            return Integer.toString(id);
        }
    }

    /**
     * A change that was made to accounting.
     *
     * @param name of what it was done to
     * @param info what was set
     */
    public record Transaction(
            long id, long time, String action, String actor, String cluster, String name, String info) {}
}
