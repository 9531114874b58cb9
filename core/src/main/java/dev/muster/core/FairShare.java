package dev.muster.core;

import dev.muster.model.Digits;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.LimitField;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who has had how much of what is theirs: the fair tree, the classic rule, or that in which depth does not count. An association's usage is what its
 * users had, faded; an account's is that of all below it.
 */
public final class FairShare {
    /** Usage is kept in thousandths of a billed resource for a second. */
    public static final double UNIT = 1000;
    /** How usage is held against shares. DEPTH_OBLIVIOUS: priority_multifactor3.html. */
    public enum Rule { TREE, CLASSIC, DEPTH_OBLIVIOUS }

    /** Of an association without any usage. */
    public static final double NEVER_USED = Double.POSITIVE_INFINITY;

    /**
     * One association in the tree.
     *
     * @param shares     as set; -1 for its parent's
     * @param normShares of its siblings' shares together (fair tree), or of the whole cluster (classic)
     * @param usage      billed resource seconds
     * @param effective  usage as the rule compares it: of the parent's, or with part of the parent's in it; where depth does not count, so much that
     *                   the factor follows from it as in the classic rule
     * @param normUsage  of the cluster's
     * @param level      share over usage among siblings; {@link #NEVER_USED}
     * @param factor     0 to 1; of users only
     */
    public record Row(AssocPolicy assoc, int depth, long shares, double normShares, double usage, double effective, double normUsage,
            double level, double factor) {}

    private static final class Item {
        final AssocPolicy assoc;
        final List<Item> children = new ArrayList<>();
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

    /** @param dampening FairShareDampeningFactor, of which the fair tree knows nothing */
    public FairShare(Accounts accounts, Table<Integer, Long> usage, Rule rule, int dampening) {
        accounts.assocs().values().forEach(a -> items.put(a.id(), new Item(a)));
        for (Item i : items.values()) {
            String set = i.assoc.limits().getOrDefault("Fairshare", "");
            i.shares = set.equals(LimitField.PARENT_SHARES) ? -1 : Digits.only(set, 10) ? Long.parseLong(set) : 1;
            i.parent = items.get(i.assoc.parentId());
            (i.parent == null ? roots : i.parent.children).add(i);
            users += i.isUser() ? 1 : 0;
            double own = usage.find(i.assoc.id()).orElse(0L) / UNIT;
            for (Item at = i; at != null; at = at.parent) {
                at.usage += own;
            }
        }
        Comparator<Item> order = Comparator.comparing((Item i) -> !i.isUser())
                .thenComparing(i -> i.assoc.account()).thenComparing(i -> i.assoc.user())
                .thenComparing(i -> i.assoc.partition());
        items.values().forEach(i -> i.children.sort(order));
        double total = roots.stream().mapToDouble(r -> r.usage).sum();
        items.values().forEach(i -> i.normUsage = total > 0 ? i.usage / total : 0);
        for (Item root : roots) {
            root.normShares = 1;
            root.effective = total > 0 ? 1 : 0;
            root.level = root.effective > 0 ? 1 : NEVER_USED;
            switch (rule) {
                case TREE -> levels(root);
                case CLASSIC -> classic(root, dampening);
                case DEPTH_OBLIVIOUS -> anyDepth(root, 1, dampening);
            }
        }
        if (rule == Rule.TREE) {
            int[] rank = {users};
            roots.forEach(r -> rank(r.children, rank));
        }
    }

    // ---- fair tree

    private void levels(Item parent) {
        List<Item> siblings = siblings(parent);
        long shares = siblings.stream().mapToLong(c -> Math.max(0, c.shares)).sum();
        for (Item c : siblings) {
            c.normShares = shares > 0 ? (double) c.shares / shares : 0;
            c.effective = parent.usage > 0 ? c.usage / parent.usage : 0;
            c.level = c.shares == 0 ? 0 : c.effective > 0 ? c.normShares / c.effective : NEVER_USED;
        }
        for (Item c : parent.children) {
            if (c.shares < 0) {
                // it is its children that stand among its siblings
                c.normShares = parent.normShares;
                c.effective = parent.effective;
                c.level = parent.level;
            } else {
                levels(c);
            }
        }
    }

    /** Children; those of children without shares of their own in their place. */
    private static List<Item> siblings(Item parent) {
        List<Item> out = new ArrayList<>();
        for (Item c : parent.children) {
            if (c.shares < 0 && !c.isUser()) {
                out.addAll(siblings(c));
            } else if (c.shares >= 0) {
                out.add(c);
            }
        }
        return out;
    }

    /** Best first, each account's users before the next account; accounts that are level are one. */
    private void rank(List<Item> children, int[] rank) {
        List<Item> sorted = new ArrayList<>();
        for (Item c : children) {
            sorted.addAll(c.shares < 0 && !c.isUser() ? siblings(c) : List.of(c));
        }
        sorted.sort(Comparator.comparingDouble((Item i) -> -i.level).thenComparing(i -> !i.isUser()));
        int same = rank[0];
        for (int i = 0; i < sorted.size(); i++) {
            Item c = sorted.get(i);
            boolean tied = i > 0 && sorted.get(i - 1).level == c.level;
            if (c.isUser()) {
                same = tied ? same : rank[0];
                c.factor = users == 0 ? 0 : (double) same / users;
                rank[0]--;
                continue;
            }
            List<Item> merged = new ArrayList<>(c.children);
            while (i + 1 < sorted.size() && sorted.get(i + 1).level == c.level) {
                merged.addAll(sorted.get(++i).children);
            }
            rank(merged, rank);
        }
    }

    // ---- classic

    private void classic(Item parent, int dampening) {
        long shares = parent.children.stream().mapToLong(c -> Math.max(0, c.shares)).sum();
        for (Item c : parent.children) {
            if (c.shares < 0) {
                c.normShares = parent.normShares;
                c.effective = parent.effective;
            } else {
                double part = shares > 0 ? (double) c.shares / shares : 0;
                c.normShares = parent.normShares * part;
                // those just below the root have their own usage, whatever others had
                c.effective = parent.parent == null ? c.normUsage : c.normUsage + (parent.effective - c.normUsage) * part;
            }
            judge(c, dampening);
            classic(c, dampening);
        }
    }

    private static void judge(Item c, int dampening) {
        c.level = c.normShares == 0 ? 0 : c.effective > 0 ? c.normShares / c.effective : NEVER_USED;
        c.factor = c.normShares <= 0 ? 0 : StrictMath.pow(2, -(c.effective / c.normShares) / Math.max(1, dampening));
    }

    // ---- whatever the depth

    /** How much of it the ancestors' ratio takes from a ratio among siblings that is on the other side of 1. */
    private static final double PULL = 5;

    /** @param ratio the parent's effective ratio of usage to shares */
    private void anyDepth(Item parent, double ratio, int dampening) {
        long shares = parent.children.stream().mapToLong(c -> Math.max(0, c.shares)).sum();
        double used = parent.children.stream().filter(c -> c.shares >= 0).mapToDouble(c -> c.normUsage).sum();
        for (Item c : parent.children) {
            double own = ratio;
            c.normShares = parent.normShares;
            if (c.shares >= 0) {
                c.normShares *= shares > 0 ? (double) c.shares / shares : 0;
                own = c.normShares <= 0 ? 0 : parent.parent == null ? c.normUsage / c.normShares
                        : ratio(ratio, c.normUsage / c.normShares * parent.normShares / used);
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

    /** Depth first: the users of an account before the accounts below it. */
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
