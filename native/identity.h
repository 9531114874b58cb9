/*
 * The user that a daemon becomes, and root's files that it takes along. Called by: natives.c. All answer 0 or errno.
 */
#ifndef MUSTER_IDENTITY_H
#define MUSTER_IDENTITY_H

#include <sys/types.h>

struct hand_over {
    uid_t uid;
    gid_t gid;    /* -1: as it is */
    unsigned own; /* files and directories that have changed their owner */
    unsigned left;
};

int identity_set_groups(const char *user, gid_t gid);
int identity_set_gid(gid_t gid);
int identity_set_uid(uid_t uid);
int identity_open(void);
int identity_hand_over(const char *directory, const char *name, struct hand_over *to);

#endif
