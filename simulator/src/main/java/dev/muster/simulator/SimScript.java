package dev.muster.simulator;

import dev.muster.model.job.ExitStatus;

/**
 * What a simulated script does.
 *
 * @param exit when it ends by itself
 * @param ignoresTerm dies of SIGKILL only
 */
record SimScript(long runMs, ExitStatus exit, boolean ignoresTerm) {
    /** Nothing that ends by itself: an external step. */
    static final SimScript FOREVER = new SimScript(Long.MAX_VALUE / 4, ExitStatus.NONE, false);

    String text(String name) {
        return "#!/bin/sim " + name + " " + runMs + " " + exit.code() + " " + exit.signal() + " " + ignoresTerm;
    }

    static SimScript of(String text) {
        String[] words = text.split(" ");
        return new SimScript(
                Long.parseLong(words[2]),
                new ExitStatus(Integer.parseInt(words[3]), Integer.parseInt(words[4]), false),
                Boolean.parseBoolean(words[5]));
    }
}
