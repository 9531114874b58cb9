/*
 * The command service's process: `muster-commands users|root`. Root, or the user who installed, makes the socket in a
 * directory of its own; the service of users then becomes the service's user before it listens, so that the kernel
 * names that user to launchers. Java takes the socket as its standard input. Root's own commands have a service that
 * stays root, behind a socket that only root can reach.
 */
#define _GNU_SOURCE
#include "service.h"
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CALLERS_WAITING 128
/* Numbers that stand for nobody in particular: jobs, daemons and network file systems share them. */
#define NOBODY 65534
#define NOBODY_16_BIT 65535

/* A user that only the command service is. */
bool service_uid_fits(long uid) { return uid > 0 && uid != NOBODY && uid != NOBODY_16_BIT && uid < 0xfffffffel; }

static bool print_failure(const char *action, const char *path)
{
    fprintf(stderr, "muster-commands: %s %s: %s\n", action, path, strerror(errno));
    return false;
}

/* What others could rename or replace is no place for a socket that launchers believe. */
static bool is_own_directory(const char *socket_path)
{
    struct stat st;
    char *copy = strdup(socket_path), *directory = copy ? dirname(copy) : NULL;
    bool good =
        directory && lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
    if (!good)
        fprintf(stderr, "muster-commands: %s must be a directory of uid %d that nobody else can write\n",
                directory ? directory : socket_path, (int)geteuid());
    free(copy);
    return good;
}

static bool has_listener(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* One of several that start at a time goes on. -1: it is not this one. */
static int take_lock(const char *socket_path)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s.lock", socket_path);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
        print_failure("cannot lock", path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* The file that was locked names the process that serves. */
static void write_pid(int lock)
{
    char pid[32];
    int n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (ftruncate(lock, 0) < 0 || write(lock, pid, (size_t)n) != n)
        print_failure("cannot write", "the lock");
}

/* Irrevocably, and read back. */
static bool become_user(uid_t uid, gid_t gid)
{
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return print_failure("cannot become", "the service's user");
    return geteuid() == uid && getuid() == uid && getegid() == gid && setuid(0) < 0;
}

/* Its memory holds sessions of many users: nobody looks into it, and nothing of it is left behind. */
static bool make_undumpable(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    return (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
        || print_failure("cannot close", "the process");
}

/* Standard input is the listening socket when this returns true. */
bool service_begin(struct launcher *launcher, bool for_root)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[sizeof address.sun_path];
    bool drops = !for_root && geteuid() == 0;
    if (!*launcher->service || (drops && !service_uid_fits(launcher->service_uid)) || (for_root && geteuid() != 0)
        || (geteuid() != 0 && (long)geteuid() != launcher->service_uid)) {
        fprintf(stderr, "muster-commands: launcher.conf names no user for it, or one that is shared\n");
        return false;
    }
    if (snprintf(path, sizeof path, "%s%s", launcher->service, for_root ? SERVICE_OF_ROOT : "") >= (int)sizeof path)
        return false;
    strcpy(address.sun_path, path);
    int lock = is_own_directory(path) ? take_lock(path) : -1;
    if (lock < 0 || has_listener(&address))
        return false;
    write_pid(lock);
    umask(077);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || chmod(path, for_root ? 0600 : 0666) < 0)
        return print_failure("cannot make", path);
    if (drops
        && !become_user((uid_t)launcher->service_uid,
                        (gid_t)(launcher->service_gid > 0 ? launcher->service_gid : launcher->service_uid)))
        return false;
    if (listen(fd, CALLERS_WAITING) < 0 || dup2(fd, 0) < 0)
        return print_failure("cannot listen on", path);
    if (fd != 0)
        close(fd);
    close(lock);
    return make_undumpable() && chdir("/") == 0;
}
