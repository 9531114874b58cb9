/*
 * slurmstepd --namespace make FILE private|slave DIRECTORY=SOURCE...   a job's view of the file system, kept at FILE
 * slurmstepd --namespace drop FILE                                     lets go of it
 * FILE is where the kernel keeps the namespace (a file of its own under a directory that nothing is propagated from); each
 * DIRECTORY shows SOURCE, or a fresh file system in memory where SOURCE is empty.
 */
#define _GNU_SOURCE
#include "stepd.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong(const char *what, const char *path)
{
    fprintf(stderr, "%s %s: %s\n", what, path, strerror(errno));
    return 1;
}

static int put_in_place(const char *directory, const char *source)
{
    if (!*source)
        return mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0 ? wrong("cannot mount", directory) : 0;
    return mount(source, directory, NULL, MS_BIND, NULL) < 0 ? wrong("cannot mount", directory) : 0;
}

/* The process that has the namespace first: puts everything in place, says so, and waits until the namespace is kept. */
static int inside(int say, int wait_for, bool slave, int count, char **pairs)
{
    char byte = 'r';
    if (unshare(CLONE_NEWNS) < 0)
        return wrong("cannot make", "a mount namespace");
    if (mount(NULL, "/", NULL, MS_REC | (slave ? MS_SLAVE : MS_PRIVATE), NULL) < 0)
        return wrong("cannot detach", "/");
    for (int i = 0; i < count; i++) {
        char *equals = strchr(pairs[i], '=');
        if (!equals)
            return fprintf(stderr, "no source: %s\n", pairs[i]), 1;
        *equals = 0;
        int rc = put_in_place(pairs[i], equals + 1);
        if (rc)
            return rc;
    }
    ssize_t ignored = write(say, &byte, 1);
    ignored = read(wait_for, &byte, 1);
    (void)ignored;
    return 0;
}

/* A namespace can be kept only where mounts do not spread: the directory above becomes a mount of its own. */
static bool keep_place(const char *file)
{
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", file);
    char *above = dirname(copy);
    int fd = open(file, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && mount(above, above, NULL, MS_BIND, NULL) == 0 && mount(NULL, above, NULL, MS_PRIVATE, NULL) == 0;
}

static int make(int argc, char **argv)
{
    int ready[2], go[2], status = 1;
    char byte, self[64];
    if (!keep_place(argv[0]))
        return wrong("cannot keep a namespace at", argv[0]);
    if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
        return wrong("cannot make", "a pipe");
    pid_t child = fork();
    if (child == 0) {
        close(ready[0]);
        close(go[1]);
        _exit(inside(ready[1], go[0], !strcmp(argv[1], "slave"), argc - 2, argv + 2));
    }
    close(ready[1]);
    close(go[0]);
    bool good = child > 0 && read(ready[0], &byte, 1) == 1;
    if (good) {
        snprintf(self, sizeof self, "/proc/%d/ns/mnt", (int)child);
        good = mount(self, argv[0], NULL, MS_BIND, NULL) == 0;
        if (!good)
            wrong("cannot keep a namespace at", argv[0]);
    }
    close(go[1]);
    if (child > 0)
        waitpid(child, &status, 0);
    return good ? 0 : 1;
}

static int drop(char *file)
{
    if (umount2(file, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
        return wrong("cannot let go of", file);
    char *above = dirname(file);
    return umount2(above, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT ? wrong("cannot let go of", above) : 0;
}

int namespace_main(int argc, char **argv)
{
    if (argc >= 3 && !strcmp(argv[0], "make"))
        return make(argc - 1, argv + 1);
    if (argc == 2 && !strcmp(argv[0], "drop"))
        return drop(argv[1]);
    fprintf(stderr, "usage: slurmstepd --namespace make FILE private|slave [DIRECTORY=SOURCE]... | drop FILE\n");
    return 2;
}

/* From here on this process, which must have one thread, sees what the job sees. */
bool namespace_join(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && setns(fd, CLONE_NEWNS) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return good;
}
