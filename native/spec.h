/*
 * The launch specification: what slurmd says of a step on this node (README.md lists the entries).
 * Called by: stepd.c, serve.c. Calls: string_list.c.
 */
#ifndef MUSTER_SPEC_H
#define MUSTER_SPEC_H

#include "task.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define SPEC_BYTES_MAX (64u * 1024u * 1024u)
#define TASKS_MAX 65536

struct limit {
    int resource;
    const char *name;
    rlim_t soft, hard;
    bool has_hard;
};

struct spec {
    const char *job, *step, *attempt, *node, *user, *directory, *socket_path, *log_time, *oom_events, *namespace,
        *debug_says;
    const char *mpi_helper, *mpi_socket;
    const char *channel; /* of the fabric between nodes, as MAJOR:NUMBER of its device; NULL for none */
    uid_t uid, allowed_uid;
    gid_t gid;
    gid_t *groups;
    size_t group_count;
    const char *cwd;
    mode_t umask;
    int nice, oom_score_adj;
    bool has_nice, has_oom, external, is_batch, oom_kill_step, pam, by_group, wait_children, await_caller,
        kill_on_bad_exit, lingers;
    int debug; /* what the step tells of itself on its standard error: 4 verbose, 5 debug */
    int rows, columns;
    struct limit limits[32];
    size_t limit_count;
    struct strings argv, env, cgroups, own_cgroups, kill_cgroups, prologs, epilogs, user_prologs, user_epilogs, mpi,
        mpi_directories;
    struct task *tasks;
    size_t task_count;
};

bool spec_read(struct step *step, const char *path, char *error, size_t error_room);
bool spec_parse(struct step *step, char *text, size_t length, char *error, size_t error_room);

#endif
