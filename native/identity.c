/* See identity.h. The C library changes the ids of all threads. */
#define _GNU_SOURCE
#include "identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 16

/* The groups of the user, and gid; without a user no group but the primary one. */
int identity_set_groups(const char *user, gid_t gid)
{
    return (user ? initgroups(user, gid) : setgroups(0, NULL)) < 0 ? errno : 0;
}

int identity_set_gid(gid_t gid) { return setresgid(gid, gid, gid) < 0 ? errno : 0; }

/* For good: the saved id goes as well. */
int identity_set_uid(uid_t uid)
{
    if (setresuid(uid, uid, uid) < 0)
        return errno;
    if (uid != 0 && setuid(0) == 0)
        return EPERM;
    return 0;
}

/* The kernel shuts a process that has changed its user: no core file, and /proc/PID is root's. This opens it for its
 * user, as if that user had started it. */
int identity_open(void) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? errno : 0; }

static int hand_over_below(int at, const char *name, dev_t device, int depth, struct hand_over *to);

static int hand_over_entries(int directory, dev_t device, int depth, struct hand_over *to)
{
    int rc = 0;
    struct dirent *entry;
    DIR *all = fdopendir(directory);
    if (!all) {
        rc = errno;
        close(directory);
        return rc;
    }
    while (!rc && (entry = readdir(all)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            rc = hand_over_below(dirfd(all), entry->d_name, device, depth, to);
    closedir(all);
    return rc;
}

/* It checks and changes the same open descriptor, which no rename can turn into another file. A
 * directory comes after what is in it, so that an interrupted walk begins again. */
static int hand_over_below(int at, const char *name, dev_t device, int depth, struct hand_over *to)
{
    struct stat st;
    int rc = 0, fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    if (fstat(fd, &st) < 0)
        rc = errno;
    bool directory = !rc && S_ISDIR(st.st_mode) && depth < DEPTH_MAX && (!device || st.st_dev == device);
    bool file = !rc && S_ISREG(st.st_mode) && st.st_nlink == 1 && (!device || st.st_dev == device);
    if (directory) {
        int inside = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        rc = inside < 0 ? errno : hand_over_entries(inside, st.st_dev, depth + 1, to);
    }
    if (!rc && st.st_uid == 0 && to->uid != 0) {
        if (!directory && !file)
            to->left++;
        else if (fchownat(fd, "", to->uid, to->gid, AT_EMPTY_PATH) == 0)
            to->own++;
        else
            rc = errno;
    }
    close(fd);
    return rc;
}

/*
 * Gives the name in the directory, with all below it, to another user where it is root's: plain files that have one
 * name, and directories, of one file system. Links are not followed below the directory. With the name "." the
 * directory alone is given, without what is in it.
 */
int identity_hand_over(const char *directory, const char *name, struct hand_over *to)
{
    struct stat st;
    int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return errno;
    int rc = 0;
    if (strcmp(name, "."))
        rc = strchr(name, '/') || !strcmp(name, "..") ? EINVAL : hand_over_below(at, name, 0, 0, to);
    else if (fstat(at, &st) == 0 && st.st_uid == 0 && to->uid != 0) {
        rc = fchown(at, to->uid, to->gid) < 0 ? errno : 0;
        to->own += rc == 0;
    }
    close(at);
    return rc;
}
