package dev.muster.cli.shape;

import java.util.function.IntFunction;

/**
 * Names that shapes need: the cluster's, and users' by uid.
 *
 * @param cluster "" where none is configured
 * @param users names by uid
 */
public record Names(String cluster, IntFunction<String> users) {
    String user(int uid) {
        return users.apply(uid);
    }
}
