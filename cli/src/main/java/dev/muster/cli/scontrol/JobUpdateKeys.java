package dev.muster.cli.scontrol;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Keys of {@code scontrol update jobid=...}. An abbreviation stands for the first key that it begins, if it has as many
 * letters as that key requires. {@link ScontrolUpdate} refuses other keys before it asks the controller.
 */
final class JobUpdateKeys {
    /** @param least number of letters that an abbreviation needs */
    private record Key(String name, int least) {}

    /** All keys in the order in which an abbreviation is looked up, each with the number of letters that it needs. */
    private static final List<Key> KEYS =
            table("account 1 admincomment 6 arraytaskthrottle 10 burstbuffer 1 clusterfeatures 8 clusters 8 "
                    + "comment 3 contiguous 3 corespec 4 cpuspertask 9 dependency 1 deadline 3 delayboot 5 "
                    + "eligibletime 2 endtime 2 excnodelist 3 extra 3 "
                    + "features 1 gres 2 jobid 3 jobname 3 licenses 1 mailtype 5 mailuser 5 mcslabel 4 mincpusnode 4 "
                    + "minmemorycpu 10 minmemorynode 10 "
                    + "mintmpdisknode 5 name 2 nice 2 nodelist 8 numcpus 6 numnodes 8 numtasks 8 oversubscribe 2 "
                    + "partition 2 priority 2 prefer 3 qos 2 "
                    + "reboot 3 reqcores 4 reqnodelist 8 reqnodes 8 reqprocs 8 reqsockets 4 reqthreads 4 requeue 4 "
                    + "reservationname 3 resetaccruetime 5 "
                    + "shared 2 sitefactor 5 starttime 2 stderr 6 stdin 5 stdout 6 switches 5 taskspernode 2 "
                    + "threadspec 4 timelimit 5 timemin 5 tresbind 5 "
                    + "tresperjob 8 trespernode 8 trespersocket 8 trespertask 8 userid 3 wckey 1 workdir 2 "
                    + "wait-for-switch 5");

    private JobUpdateKeys() {}

    private static List<Key> table(String text) {
        String[] words = text.split(" ");
        List<Key> out = new ArrayList<>();
        for (int i = 0; i < words.length; i += 2) {
            out.add(new Key(words[i], Integer.parseInt(words[i + 1])));
        }
        return List.copyOf(out);
    }

    /**
     * Resolves a key as typed, in lower case. ResetAccrueTime takes no value, the others need one; only Nice has a
     * default.
     */
    static Optional<String> resolve(String typed, boolean valued) {
        return KEYS.stream()
                .filter(k -> typed.length() >= k.least && k.name.startsWith(typed))
                .map(Key::name)
                .findFirst()
                .filter(k -> !(valued && k.equals("resetaccruetime")));
    }
}
