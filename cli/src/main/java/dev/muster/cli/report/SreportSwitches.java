package dev.muster.cli.report;

import dev.muster.cli.format.TextTable;
import java.util.ArrayList;
import java.util.List;

/**
 * Switches of sreport, which interactive commands may change. Muster has no federations: reports cover the local or the
 * named clusters, so {@code --local} and {@code --federation} change nothing. {@code --quiet} has nothing to suppress.
 */
final class SreportSwitches {
    UsageUnit unit = UsageUnit.MINUTES;
    boolean header = true;
    boolean bars;
    boolean lastBar;
    boolean allClusters;
    /** TRES as typed; empty for CPUs. */
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
