package dev.muster.simulator.replay;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** {@code replay TRACE [OPTIONS]}: what each policy makes of a trace, as a table. */
public final class Main {
    private static final String USAGE =
            """
            usage: ./muster replay TRACE [OPTIONS]
              TRACE              Standard Workload Format, or a table of GPU jobs (timestamp,duration,num_gpus,...); .gz as well
              --policy P[,P...]  %s (%s)
              --cpus N           the machine has N CPUs instead of what the trace says; wider jobs are left out
              --jobs N           the first N jobs only
              --load L           submissions moved together or apart until the load is L
              --factor F         time between submissions times F
              --moved S[,SEED]   each submission later by up to S seconds at random; the first policy is replayed without that as well
              --product          through the controller's core and its pass over the queue instead of the fast replay
              --node-cpus N      with --product: CPUs of each node (1); limits are rounded up to minutes there
            Bounded slowdown is (wait + run) / max(run, 10 s), at least 1; waits are in seconds, utilisation is until the last end.
            """.formatted(String.join(",", Policy.names()), String.join(",", Policy.STANDARD));

    private Main() {}

    /** What is asked for. */
    private record Asked(
            Path trace,
            List<String> policies,
            int cpus,
            int jobs,
            double load,
            double factor,
            int movedS,
            long seed,
            boolean product,
            int nodeCpus) {
        static Asked of(String[] args) {
            Path trace = null;
            List<String> policies = Policy.STANDARD;
            int cpus = 0;
            int jobs = Integer.MAX_VALUE;
            double load = 0;
            double factor = 1;
            int movedS = 0;
            long seed = 1;
            boolean product = false;
            int nodeCpus = 1;
            for (int i = 0; i < args.length; i++) {
                switch (args[i]) {
                    case "--policy" -> policies = List.of(value(args, ++i).split(","));
                    case "--cpus" -> cpus = Integer.parseInt(value(args, ++i));
                    case "--jobs" -> jobs = Integer.parseInt(value(args, ++i));
                    case "--load" -> load = Double.parseDouble(value(args, ++i));
                    case "--factor" -> factor = Double.parseDouble(value(args, ++i));
                    case "--moved" -> {
                        String[] words = value(args, ++i).split(",", 2);
                        movedS = Integer.parseInt(words[0]);
                        seed = words.length > 1 ? Long.parseLong(words[1]) : seed;
                    }
                    case "--product" -> product = true;
                    case "--node-cpus" -> nodeCpus = Integer.parseInt(value(args, ++i));
                    default -> {
                        if (args[i].startsWith("-") || trace != null) {
                            throw new IllegalArgumentException("what is " + args[i] + "?");
                        }
                        trace = Path.of(args[i]);
                    }
                }
            }
            if (trace == null || cpus < 0 || jobs < 1 || load < 0 || factor <= 0 || movedS < 0 || nodeCpus < 1) {
                throw new IllegalArgumentException(trace == null ? "a trace is needed" : "a number is out of range");
            }
            return new Asked(trace, policies, cpus, jobs, load, factor, movedS, seed, product, nodeCpus);
        }

        private static String value(String[] args, int i) {
            if (i >= args.length) {
                throw new IllegalArgumentException(args[i - 1] + " needs a value");
            }
            return args[i];
        }
    }

    public static void main(String[] args) throws IOException {
        Asked asked;
        List<Policy> policies = new ArrayList<>();
        Trace trace;
        try {
            asked = Asked.of(args);
            asked.policies.forEach(p -> policies.add(Policy.of(p)));
            if (asked.product && policies.contains(Policy.CONSERVATIVE)) {
                throw new IllegalArgumentException("conservative is for the fast replay: the product has no such word");
            }
            trace = Trace.read(asked.trace);
        } catch (IllegalArgumentException | IOException e) {
            System.err.println("replay: "
                    + (e instanceof java.nio.file.NoSuchFileException
                            ? e.getMessage() + ": no such file"
                            : e.getMessage()));
            System.err.print(USAGE);
            System.exit(2);
            return;
        }
        trace = asked.cpus > 0 ? trace.on(asked.cpus) : trace;
        trace = trace.first(asked.jobs);
        trace = asked.load > 0 ? trace.atLoad(asked.load) : trace;
        trace = trace.faster(asked.factor);
        trace = asked.product ? trace.wholeMinutes() : trace;
        System.out.printf(
                Locale.ROOT,
                "%s: %d jobs, %d CPUs, load %.3f%s%n",
                asked.trace.getFileName(),
                trace.jobs().size(),
                trace.cpus(),
                trace.load(),
                asked.product ? ", through the product on nodes of " + asked.nodeCpus + " CPUs" : "");
        System.out.println(ReplayResult.HEAD);
        ReplayResult first = null;
        if (asked.movedS > 0) {
            first = replay(trace, policies.getFirst(), asked.product, asked.nodeCpus);
            System.out.println(first.line("not moved"));
            trace = trace.jittered(asked.movedS, asked.seed);
        }
        for (Policy policy : policies) {
            ReplayResult r = replay(trace, policy, asked.product, asked.nodeCpus);
            System.out.println(r.line(policy.word())
                    + (first == null
                            ? ""
                            : String.format(
                                    Locale.ROOT,
                                    "  %.3f x the first, longest wait %.2f x",
                                    r.mean() / first.mean(),
                                    r.maxWaitS() / Math.max(1, first.maxWaitS()))));
            first = policy == policies.getFirst() ? r : first;
        }
    }

    static ReplayResult replay(Trace trace, Policy policy, boolean product, int nodeCpus) {
        if (product) {
            CoreReplay p = new CoreReplay(trace, nodeCpus, policy);
            return ReplayResult.of(trace, p.replay(), p.deepest());
        }
        FastReplay kernel = new FastReplay(trace, policy);
        return ReplayResult.of(trace, kernel.replay(), kernel.deepest());
    }
}
