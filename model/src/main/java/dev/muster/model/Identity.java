package dev.muster.model;

import java.util.List;

/**
 * The owner of a job. The controller's edge resolves it once, so that nodes look up no user.
 *
 * @param gids all supplementary groups, the primary one included
 */
public record Identity(int uid, int gid, String user, String group, List<Integer> gids, String home, String shell) {}
