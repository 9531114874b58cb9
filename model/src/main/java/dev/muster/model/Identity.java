package dev.muster.model;

import java.util.List;

/**
 * Who a job belongs to, resolved once by the controller's edge: nodes need no user look-up.
 *
 * @param gids all supplementary groups, the primary one included
 */
public record Identity(int uid, int gid, String user, String group, List<Integer> gids, String home, String shell) {}
