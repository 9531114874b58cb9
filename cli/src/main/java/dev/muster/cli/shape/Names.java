package dev.muster.cli.shape;

import java.util.function.IntFunction;

/**
 * What shapes need to know of where they are made.
 *
 * @param cluster "" where none is configured
 * @param users   names by uid
 */
public record Names(String cluster, IntFunction<String> users) {
    String user(int uid) {
        return users.apply(uid);
    }
}
