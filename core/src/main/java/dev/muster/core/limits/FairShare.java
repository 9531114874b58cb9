package dev.muster.core.limits;

import static java.util.Objects.requireNonNull;

import dev.muster.core.state.Accounts;
import dev.muster.core.state.State;
import dev.muster.core.state.Table;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.format.Digits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Usage of each association against its shares: by the fair tree, the classic rule, or the rule without depth. An
 * association's usage is what its users had, faded; an account's is that of all below it.
 */
public final class FairShare {
    /** Usage is kept in thousandths of a billed resource for a second. */
    public static final double UNIT = 1000;
    /** The rule by which usage is held against shares. DEPTH_OBLIVIOUS: priority_multifactor3.html. */
    public enum Rule {
        TREE,
        CLASSIC,
        DEPTH_OBLIVIOUS
    }

    /** Level of an association without any usage. */
    public static final double NEVER_USED = Double.POSITIVE_INFINITY;

    /**
     * One association in the tree.
     *
     * @param shares as set; -1 for its parent's
     * @param normShares of its siblings' shares together (fair tree), or of the whole cluster (classic)
     * @param usage billed resource seconds
     * @param effective usage as the rule compares it: of the parent's, or with part of the parent's in it; without
     *     depth, the value from which the classic rule's formula gives the factor
     * @param normUsage of the cluster's
     * @param level share over usage among siblings; {@link #NEVER_USED}
     * @param factor 0 to 1; of users only
     */
    public record Row(
            AssocPolicy assoc,
            int depth,
            long shares,
            double normShares,
            double usage,
            double effective,
            double normUsage,
            double level,
            double factor) {}

    private static final class Item {
        final AssocPolicy assoc;
        final List<Item> children = new ArrayList<>();
        /** Null of a root. */
        @Nullable
        Item parent;

        long shares;
        double usage;
        double normShares;
        double effective;
        double normUsage;
        double level;
        double factor;

        Item(AssocPolicy assoc) {
            this.assoc = assoc;
        }

        boolean isUser() {
            return !assoc.user().isEmpty();
        }
    }

    private final Map<Integer, Item> items = new TreeMap<>();
    private final List<Item> roots = new ArrayList<>();
    private int users;

    /** Returns the tree as the configuration wants it. */
    public static FairShare of(State state) {
        return new FairShare(
                state.accounts(),
                state.shares().usage(),
                PriorityFlags.rule(state.settings()),
                state.settings().options().usage().dampening());
    }

    /** @param dampening FairShareDampeningFactor, of which the fair tree knows nothing */
    public FairShare(Accounts accounts, Table<Integer, Long> usage, Rule rule, int dampening) {
        accounts.assocs().values().forEach(a -> items.put(a.id(), new Item(a)));
        for (Item i : items.values()) {
            String set = i.assoc.limits().getOrDefault("Fairshare", "");
            if (set.equals(LimitField.PARENT_SHARES)) {
                i.shares = -1;
            } else if (Digits.only(set, 10)) {
                i.shares = Long.parseLong(set);
            } else {
                i.shares = 1;
            }

            i.parent = items.get(i.assoc.parentId());
            (i.parent == null ? roots : i.parent.children).add(i);
            users += i.isUser() ? 1 : 0;
            double own = usage.find(i.assoc.id()).orElse(0L) / UNIT;
            for (Item ancestor = i; ancestor != null; ancestor = ancestor.parent) {
                ancestor.usage += own;
            }
        }
        Comparator<Item> order = Comparator.comparing((Item i) -> !i.isUser())
                .thenComparing(i -> i.assoc.account())
                .thenComparing(i -> i.assoc.user())
                .thenComparing(i -> i.assoc.partition());
        items.values().forEach(i -> i.children.sort(order));
        double total = roots.stream().mapToDouble(r -> r.usage).sum();
        items.values().forEach(i -> i.normUsage = total > 0 ? i.usage / total : 0);
        for (Item root : roots) {
            root.normShares = 1;
            root.effective = 1;
            judge(root, dampening);
            switch (rule) {
                case TREE -> levels(root);
                case CLASSIC -> classic(root, dampening);
                case DEPTH_OBLIVIOUS -> anyDepth(root, 1, dampening);
            }
        }
        if (rule == Rule.TREE) {
            last = users;
            next = users;
            roots.forEach(r -> rank(r, false));
        }
    }

    // ---- fair tree

    /** @param scope parent of the associations whose shares are compared */
    private void levels(Item scope) {
        List<Item> siblings = siblings(scope);
        measure(scope, scope.usage);
        long shares = siblings.stream().mapToLong(c -> Math.max(0, c.shares)).sum();
        for (Item c : siblings) {
            if (c.shares < 0) {
                c.normShares = requireNonNull(c.parent, "siblings are children of an item").normShares;
                c.level = NEVER_USED;
                continue;
            }
            c.normShares = shares > 0 ? (double) c.shares / shares : 0;
            if (c.shares == 0) {
                c.level = 0;
            } else if (c.effective > 0) {
                c.level = c.normShares / c.effective;
            } else {
                c.level = NEVER_USED;
            }

            if (!c.isUser()) {
                levels(c);
            }
        }
    }

    /**
     * Returns the children. The children of an account with Fairshare=parent replace it: they compete with the
     * account's siblings.
     */
    private static List<Item> siblings(Item parent) {
        List<Item> out = new ArrayList<>();
        for (Item c : parent.children) {
            out.addAll(c.shares < 0 && !c.isUser() ? siblings(c) : List.of(c));
        }
        return out;
    }

    private static void measure(Item parent, double all) {
        for (Item c : parent.children) {
            c.effective = all > 0 ? c.usage / all : 0;
            if (c.shares < 0 && !c.isUser()) {
                measure(c, all);
            }
        }
    }

    /** The rank that was given last, and the next new rank. */
    private int last;

    private int next;

    /**
     * Ranks users by level, best first; among equal levels users come before accounts, and each account's users before
     * the next account. An association of the same level as the one before shares its rank, as does the best one in an
     * account of the same level. Slurm does so; its manual speaks of accounts that are merged.
     */
    private void rank(Item parent, boolean tied) {
        List<Item> sorted = siblings(parent);
        sorted.sort(Comparator.comparingDouble((Item i) -> -i.level).thenComparing(i -> !i.isUser()));
        for (int i = 0; i < sorted.size(); i++) {
            Item c = sorted.get(i);
            boolean level = i == 0 ? tied : sorted.get(i - 1).level == c.level;
            if (!c.isUser()) {
                rank(c, level);
                continue;
            }
            last = level ? last : next;
            next--;
            c.factor = users == 0 ? 0 : (double) last / users;
        }
    }

    // ---- classic

    private void classic(Item scope, int dampening) {
        List<Item> siblings = siblings(scope);
        long shares = siblings.stream().mapToLong(c -> Math.max(0, c.shares)).sum();
        unshared(scope, scope, dampening);
        for (Item c : siblings) {
            if (c.shares >= 0) {
                double part = shares > 0 ? (double) c.shares / shares : 0;
                c.normShares = scope.normShares * part;
                // those just below the root have their own usage, whatever others had
                c.effective = scope.parent == null ? c.normUsage : c.normUsage + (scope.effective - c.normUsage) * part;
                judge(c, dampening);
            }
            if (!c.isUser()) {
                classic(c, dampening);
            }
        }
    }

    /** Gives associations with Fairshare=parent the values of the association whose shares they use. */
    private static void unshared(Item parent, Item scope, int dampening) {
        for (Item c : parent.children) {
            if (c.shares < 0) {
                c.normShares = scope.normShares;
                c.effective = scope.parent == null ? c.normUsage : scope.effective;
                judge(c, dampening);
            }
            if (c.shares < 0 && !c.isUser()) {
                unshared(c, scope, dampening);
            }
        }
    }

    private static void judge(Item c, int dampening) {
        if (c.normShares == 0) {
            c.level = 0;
        } else if (c.effective > 0) {
            c.level = c.normShares / c.effective;
        } else {
            c.level = NEVER_USED;
        }

        c.factor = c.normShares <= 0 ? 0 : StrictMath.pow(2, -(c.effective / c.normShares) / Math.max(1, dampening));
    }

    // ---- whatever the depth

    /** Weakens the ratio among siblings where it and the ancestors' ratio are on different sides of 1. */
    private static final double PULL = 5;

    /** @param ratio the parent's effective ratio of usage to shares */
    private void anyDepth(Item parent, double ratio, int dampening) {
        long shares =
                parent.children.stream().mapToLong(c -> Math.max(0, c.shares)).sum();
        double used = parent.children.stream()
                .filter(c -> c.shares >= 0)
                .mapToDouble(c -> c.normUsage)
                .sum();
        for (Item c : parent.children) {
            double own = ratio;
            c.normShares = parent.normShares;
            if (c.shares >= 0) {
                c.normShares *= shares > 0 ? (double) c.shares / shares : 0;
                if (c.normShares <= 0) {
                    own = 0;
                } else if (parent.parent == null) {
                    own = c.normUsage / c.normShares;
                } else {
                    own = ratio(ratio, c.normUsage / c.normShares * parent.normShares / used);
                }
            }
            c.effective = own * c.normShares;
            judge(c, dampening);
            anyDepth(c, own, dampening);
        }
    }

    /** @param local usage over shares, of all siblings' together; not a number if none of them has used anything */
    private static double ratio(double parents, double local) {
        if (!(local > 0) || parents <= 0) {
            return 0;
        }
        double above = StrictMath.log(parents);
        double k = above * StrictMath.log(local) >= 0 ? 1 : 1 / (1 + PULL * above * (PULL * above));
        return parents * StrictMath.pow(local, k);
    }

    // ---- what comes of it

    /** 0 to 1; 0 for an association that is not known. */
    public double factor(int assocId) {
        Item i = items.get(assocId);
        return i == null ? 0 : i.factor;
    }

    /** Returns the rows depth first: the users of an account before the accounts below it. */
    public List<Row> rows() {
        List<Row> out = new ArrayList<>();
        roots.forEach(r -> add(r, 0, out));
        return out;
    }

    private static void add(Item i, int depth, List<Row> out) {
        out.add(new Row(i.assoc, depth, i.shares, i.normShares, i.usage, i.effective, i.normUsage, i.level, i.factor));
        i.children.forEach(c -> add(c, depth + 1, out));
    }
}
