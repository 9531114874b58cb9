package dev.muster.rest.contract;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The plugins that slurmrestd -s may name. */
public final class OpenApiPlugins {
    /** The tags of their operations. */
    public static final Map<String, String> TAGS = tags();

    private OpenApiPlugins() {}

    private static Map<String, String> tags() {
        Map<String, String> out = new LinkedHashMap<>();
        out.put("slurmctld", "slurm");
        out.put("slurmdbd", "slurmdb");
        out.put("util", "util");
        return Collections.unmodifiableMap(out);
    }
}
