/*
 * slurmstepd --namespace make FILE private|slave[,pid][,user[=SCRIPT]] DIRECTORY=SOURCE...   a job's view of the file
 * system, kept at FILE slurmstepd --namespace drop FILE                                     lets go of it With pid the
 * job has processes of its own, kept at FILE-pid, with user a user namespace, at FILE-user. FILE is where the kernel
 * keeps the namespace (a file of its own under a directory that nothing is propagated from); each DIRECTORY shows
 * SOURCE, or a fresh file system in memory where SOURCE is empty.
 */
#define _GNU_SOURCE
#include "namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int print_failure(const char *action, const char *path)
{
    fprintf(stderr, "%s %s: %s\n", action, path, strerror(errno));
    return 1;
}

static int put_in_place(const char *directory, const char *source)
{
    if (!*source)
        return mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0
                 ? print_failure("cannot mount", directory)
                 : 0;
    return mount(source, directory, NULL, MS_BIND, NULL) < 0 ? print_failure("cannot mount", directory) : 0;
}

struct kinds {
    bool slave, pid, user;
    const char *user_script;
};

/* The first process of a job's own processes: takes in orphans, and ends when it is killed, and all others with it. */
static void first_process(int answer_fd)
{
    int nowhere = open("/dev/null", O_RDWR);
    char error = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? 'e' : 'r';
    if (error == 'e')
        print_failure("cannot mount", "/proc");
    for (int fd = 0; fd < 3; fd++)
        dup2(nowhere, fd);
    setsid();
    ssize_t ignored = chdir("/");
    prctl(PR_SET_NAME, "job-processes");
    ignored = write(answer_fd, &error, 1);
    (void)ignored;
    if (error == 'e')
        _exit(1);
    syscall(SYS_close_range, 3u, ~0u, 0);
    for (;;)
        if (waitpid(-1, NULL, 0) < 0)
            usleep(200000);
}

static bool request_byte(int answer_fd, char action, int request_fd)
{
    char byte;
    return write(answer_fd, &action, 1) == 1 && read(request_fd, &byte, 1) == 1;
}

/*
 * The process that has the namespaces first: makes mount namespaces until one is kept, puts everything in place, says
 * so, and waits until the others are kept.
 */
static int make_inside(int answer_fd, int request_fd, const struct kinds *kinds, int count, char **pairs)
{
    pid_t first = 0;
    char byte = 'r';
    if (kinds->user
        && (unshare(CLONE_NEWUSER) < 0 || !request_byte(answer_fd, 'u', request_fd) || setresgid(0, 0, 0) < 0
            || setresuid(0, 0, 0) < 0))
        return print_failure("cannot make", "a user namespace");
    if (kinds->pid && unshare(CLONE_NEWPID) < 0)
        return print_failure("cannot make", "a namespace of processes");
    do {
        if (unshare(CLONE_NEWNS) < 0)
            return print_failure("cannot make", "a namespace");
        if (write(answer_fd, "n", 1) != 1 || read(request_fd, &byte, 1) != 1)
            return 1;
    } while (byte == 'a');
    if (mount(NULL, "/", NULL, MS_REC | (kinds->slave ? MS_SLAVE : MS_PRIVATE), NULL) < 0)
        return print_failure("cannot detach", "/");
    for (int i = 0; i < count; i++) {
        char *equals = strchr(pairs[i], '=');
        if (!equals)
            return fprintf(stderr, "no source: %s\n", pairs[i]), 1;
        *equals = 0;
        int rc = put_in_place(pairs[i], equals + 1);
        if (rc)
            return rc;
    }
    if (kinds->pid) {
        int ready[2];
        if (pipe2(ready, O_CLOEXEC) < 0 || (first = fork()) < 0)
            return print_failure("cannot start", "the first process");
        if (first == 0)
            first_process(ready[1]);
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1 || byte != 'r')
            return 1;
    }
    if (write(answer_fd, "r", 1) != 1 || write(answer_fd, &first, sizeof first) != sizeof first)
        return 1;
    ssize_t ignored = read(request_fd, &byte, 1);
    (void)ignored;
    return 0;
}

/* Everybody is who he is outside, unless the site's script says otherwise. */
static bool map_users(pid_t child, const char *script)
{
    char path[64], pid[24];
    int status = 1;
    if (script && *script) {
        snprintf(pid, sizeof pid, "%d", (int)child);
        pid_t runs = fork();
        if (runs == 0) {
            setenv("SLURM_NS_PID", pid, 1);
            execl(script, script, NULL);
            _exit(127);
        }
        if (runs < 0 || waitpid(runs, &status, 0) < 0 || status)
            return fprintf(stderr, "user namespace script %s failed\n", script), false;
        return true;
    }
    const char *const files[] = {"uid_map", "gid_map"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)child, files[i]);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool good = fd >= 0 && write(fd, "0 0 4294967295\n", 15) == 15;
        if (fd >= 0)
            close(fd);
        if (!good)
            return print_failure("cannot write", path), false;
    }
    return true;
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

static const struct {
    const char *kind, *suffix;
    int flag;
} KEPT[] = {{"user", "-user", CLONE_NEWUSER}, {"pid", "-pid", CLONE_NEWPID}, {"mnt", "", CLONE_NEWNS}};

static void kept_at(char *into, size_t room, const char *file, int which)
{
    snprintf(into, room, "%s%s", file, KEPT[which].suffix);
}

static bool keep(const char *file, pid_t of, int which)
{
    char self[64], place[4200];
    kept_at(place, sizeof place, file, which);
    snprintf(self, sizeof self, "/proc/%d/ns/%s", (int)of, KEPT[which].kind);
    int fd = open(place, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && mount(self, place, NULL, MS_BIND, NULL) == 0;
}

/* Undoes what keep and keep_place did. */
static bool release(char *file)
{
    char place[4200];
    for (int i = 0; i < 3; i++) {
        kept_at(place, sizeof place, file, i);
        if (umount2(place, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
            return print_failure("cannot let go of", place), false;
    }
    char *above = dirname(file);
    if (umount2(above, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
        return print_failure("cannot let go of", above), false;
    return true;
}

/*
 * Linux keeps a mount namespace only in an older one, and from 6.18 on tells their ages by numbers that each processor
 * takes in batches: a namespace made on another processor than the one around it (as a service with PrivateTmp has one)
 * may look older than it. Making another takes the next number, until the batch is used up.
 */
enum { AGES = 4096 };

static bool keep_mounts(const char *file, pid_t child, int answer_fd, int request_fd)
{
    for (int i = 0; i < AGES; i++) {
        if (keep(file, child, 2))
            return write(answer_fd, "k", 1) == 1;
        char byte;
        if (errno != EINVAL || write(answer_fd, "a", 1) != 1 || read(request_fd, &byte, 1) != 1)
            return false;
    }
    return false;
}

/* private|slave, then pid and user or user=SCRIPT, with commas. */
static struct kinds parse_kinds(char *text)
{
    struct kinds kinds = {0};
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        kinds.slave |= !strcmp(word, "slave");
        kinds.pid |= !strcmp(word, "pid");
        if (!strncmp(word, "user", 4)) {
            kinds.user = true;
            kinds.user_script = word[4] == '=' ? word + 5 : NULL;
        }
    }
    return kinds;
}

static int make(int argc, char **argv)
{
    int ready[2], go[2], status = 1;
    pid_t first = 0;
    char byte = 0;
    struct kinds kinds = parse_kinds(argv[1]);
    if (!keep_place(argv[0]))
        return print_failure("cannot keep a namespace at", argv[0]);
    if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
        return print_failure("cannot make", "a pipe");
    pid_t child = fork();
    if (child == 0) {
        close(ready[0]);
        close(go[1]);
        _exit(make_inside(ready[1], go[0], &kinds, argc - 2, argv + 2));
    }
    close(ready[1]);
    close(go[0]);
    bool good = child > 0 && read(ready[0], &byte, 1) == 1;
    if (good && byte == 'u')
        good = map_users(child, kinds.user_script) && write(go[1], "m", 1) == 1 && read(ready[0], &byte, 1) == 1;
    if (good && !keep_mounts(argv[0], child, go[1], ready[0]))
        good = !print_failure("cannot keep a namespace at", argv[0]);
    good = good && read(ready[0], &byte, 1) == 1 && byte == 'r' && read(ready[0], &first, sizeof first) == sizeof first;
    pid_t of = first ? first : child;
    if (good && !((!kinds.user || keep(argv[0], of, 0)) && (!kinds.pid || keep(argv[0], of, 1))))
        good = !print_failure("cannot keep namespaces beside", argv[0]);
    if (!good && first > 0)
        kill(first, SIGKILL);
    close(go[1]);
    if (child > 0)
        waitpid(child, &status, 0);
    if (!good)
        release(argv[0]);
    return good ? 0 : 1;
}

/* Kills the first process of the kept namespace, and so all in it. */
static void end_processes(const char *file)
{
    char place[4200], link[300];
    struct stat kept, process_status;
    kept_at(place, sizeof place, file, 1);
    DIR *proc = stat(place, &kept) == 0 ? opendir("/proc") : NULL;
    struct dirent *entry;
    while (proc && (entry = readdir(proc))) {
        if (*entry->d_name < '0' || *entry->d_name > '9')
            continue;
        snprintf(link, sizeof link, "/proc/%s/ns/pid", entry->d_name);
        if (stat(link, &process_status) == 0 && process_status.st_ino == kept.st_ino
            && process_status.st_dev == kept.st_dev)
            kill((pid_t)atoi(entry->d_name), SIGKILL);
    }
    if (proc)
        closedir(proc);
}

static int drop(char *file)
{
    end_processes(file);
    return release(file) ? 0 : 1;
}

int namespace_main(int argc, char **argv)
{
    if (argc >= 3 && !strcmp(argv[0], "make"))
        return make(argc - 1, argv + 1);
    if (argc == 2 && !strcmp(argv[0], "drop"))
        return drop(argv[1]);
    fprintf(stderr, "usage: slurmstepd --namespace make FILE private|slave[,pid][,user[=SCRIPT]] [DIRECTORY=SOURCE]... "
                    "| drop FILE\n");
    return 2;
}

static bool join(const char *file, int which, bool must)
{
    char place[4200];
    kept_at(place, sizeof place, file, which);
    int fd = open(place, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return !must && errno == ENOENT;
    bool good = setns(fd, KEPT[which].flag) == 0;
    int error = errno;
    close(fd);
    errno = error;
    return good;
}

/* From here on this process, which must have one thread, sees what the job sees. */
bool namespace_join(const char *file) { return join(file, 0, false) && join(file, 2, true); }

/* The children of this process from now on are among the job's own processes, where it has such. */
bool namespace_adopt(const char *file) { return join(file, 1, false); }

/* Whether it is one of the job's own processes. */
bool namespace_has(const char *file, pid_t pid)
{
    char place[4200], link[64];
    struct stat kept, process_status;
    kept_at(place, sizeof place, file, 1);
    snprintf(link, sizeof link, "/proc/%d/ns/pid", (int)pid);
    return stat(place, &kept) == 0 && stat(link, &process_status) == 0 && process_status.st_ino == kept.st_ino
        && process_status.st_dev == kept.st_dev;
}

bool namespace_has_processes(const char *file)
{
    char place[4200];
    struct stat kept;
    kept_at(place, sizeof place, file, 1);
    return stat(place, &kept) == 0;
}

/*
 * From here on this process sees one channel of the NVIDIA IMEX domain, its own, and none of other jobs on the node:
 * where their devices lie it has a file system in memory with that one device.
 */
bool namespace_channel(const char *device, uid_t uid, gid_t gid)
{
    static const char directory[] = "/dev/nvidia-caps-imex-channels";
    char file[sizeof directory + 32];
    unsigned major, number;
    if (sscanf(device, "%u:%u", &major, &number) != 2) {
        errno = EINVAL;
        return false;
    }
    snprintf(file, sizeof file, "%s/channel%u", directory, number);
    return (mkdir(directory, 0755) == 0 || errno == EEXIST) && unshare(CLONE_NEWNS) == 0
        && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0
        && mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k") == 0
        && mknod(file, S_IFCHR | 0600, makedev(major, number)) == 0 && chown(file, uid, gid) == 0;
}
