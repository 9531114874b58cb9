package dev.muster.cli.report;

import dev.muster.cli.format.TextTable;
import java.util.ArrayList;
import java.util.List;

/**
 * What options ask for, and what commands of an interactive session change. There are no federations: reports are of the local cluster or of
 * those named, which is all that {@code --local} and {@code --federation} could ask for; and nothing is said that {@code --quiet} would leave out.
 */
final class SreportSwitches {
    UsageUnit unit = UsageUnit.MINUTES;
    boolean header = true;
    boolean bars;
    boolean lastBar;
    boolean allClusters;
    /** As typed; empty for CPUs. */
    String tres = "";
    final List<String> clusters = new ArrayList<>();

    TextTable.Style style() {
        return new TextTable.Style(header, bars, lastBar);
    }

    void bars(boolean shown, boolean last) {
        bars = shown;
        lastBar = last;
    }
}
