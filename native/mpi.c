/*
 * The step's mpi-helper (mpi/helper.h): one process, run as the user, between stepd and the tasks of a step that asked
 * for PMI. stepd starts it before the tasks, waits until it is ready, takes from it what is to be in their
 * environments, and lets it go when they are done.
 */
#define _GNU_SOURCE
#include "stepd.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_WAIT_MS 30000
#define LINE_BYTES 65536
#define LOG_LINES_MAX 10000 /* the helper is the user's: it must not fill the disk */
#define ENTRIES_MAX 4096
#define CLEAN_SECONDS 10

static pid_t helper;
static int control = -1, listener = -1;
static bool ready, aborted, finishing;
static char *line; /* what has come of a line */
static size_t line_length;

int mpi_control(void) { return control; }
bool mpi_is_aborted(void) { return aborted; }
bool mpi_is_there(void) { return helper > 0; }

static int close_on_exec(int fd, bool on) { return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0); }

static bool listen_for_slurmd(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!spec.mpi_socket)
        return true;
    if (strlen(spec.mpi_socket) >= sizeof address.sun_path)
        return errno = ENAMETOOLONG, false;
    strcpy(address.sun_path, spec.mpi_socket);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(spec.mpi_socket);
    mode_t old = umask(0177);
    bool good =
        listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 64) == 0;
    umask(old);
    return good;
}

static bool is_pmi2(void)
{
    for (size_t i = 0; i < spec.mpi.count; i++)
        if (!strcmp(spec.mpi.items[i], "kind pmi2"))
            return true;
    return false;
}

/* Settings as the helper reads them: those of the specification, and which descriptors it has. */
static int settings(int control_fd, const int *pmi_sockets)
{
    int fd = memfd_create("mpi-settings", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < spec.mpi.count; i++)
        dprintf(fd, "%s\n", spec.mpi.items[i]);
    dprintf(fd, "control %d\nlistener %d\n", control_fd, listener);
    for (size_t i = 0; i < spec.task_count; i++)
        dprintf(fd, "task %u %d\n", spec.tasks[i].id, pmi_sockets[i]);
    return lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

static void become_helper(int control_fd, const int *pmi_sockets)
{
    char *argv[] = {"mpi-helper", NULL}, *envp[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL}, error[300] = "";
    int given = settings(control_fd, pmi_sockets);
    sigset_t none;
    setsid();
    for (size_t i = 0; i < spec.cgroups.count && !*error; i++)
        procs_join_cgroup(spec.cgroups.items[i], getpid(), error, sizeof error);
    task_become_user();
    umask(077);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    bool good = given >= 0 && !*error && dup2(given, 0) == 0 && close_on_exec(control_fd, false) == 0
             && (listener < 0 || close_on_exec(listener, false) == 0);
    for (size_t i = 0; i < spec.task_count && good; i++)
        good = pmi_sockets[i] < 0 || close_on_exec(pmi_sockets[i], false) == 0;
    if (good && chdir("/") == 0)
        execve(spec.mpi_helper, argv, envp);
    dprintf(control_fd, "error cannot execute %s: %s\n", spec.mpi_helper, *error ? error : strerror(errno));
    _exit(1);
}

static struct task *task_of(const char *rank, char **rest)
{
    unsigned long id = strtoul(rank, rest, 10);
    for (size_t i = 0; i < spec.task_count; i++)
        if (spec.tasks[i].id == id && **rest == ' ')
            return &spec.tasks[i];
    return NULL;
}

static char failure[300];

static void abort_step(void) { aborted = true; }

static void note(const char *text)
{
    static int lines;
    if (lines++ < LOG_LINES_MAX)
        log_line("%s", text);
}

static void obey(char *text)
{
    char *rest;
    if (!strcmp(text, "ready")) {
        ready = true;
    } else if (!strcmp(text, "abort")) {
        abort_step();
    } else if (!strncmp(text, "env ", 4)) { /* env RANK NAME=VALUE */
        struct task *task = task_of(text + 4, &rest);
        char *entry = task && !ready && task->env.count < ENTRIES_MAX ? strdup(rest + 1) : NULL;
        if (entry)
            strings_add(&task->env, entry);
    } else if (!strncmp(text, "log ", 4)) {
        note(text + 4);
    } else if (!strncmp(text, "error ", 6)) {
        snprintf(failure, sizeof failure, "%s", text + 6);
        note(text + 6);
        if (ready)
            io_say(text + 6, strlen(text + 6));
    }
}

/* False: the helper is gone. */
static bool hear(int flags)
{
    if (!line && !(line = malloc(LINE_BYTES)))
        abort();
    ssize_t n = recv(control, line + line_length, LINE_BYTES - 1 - line_length, flags);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    line_length += (size_t)n;
    char *at = line, *end = line + line_length, *newline;
    while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
        *newline = 0;
        obey(at);
        at = newline + 1;
    }
    line_length = (size_t)(end - at);
    memmove(line, at, line_length);
    return line_length < LINE_BYTES - 1;
}

/* What it says while tasks run. Without it none of them gets further in MPI: the step is aborted. */
void mpi_hear(void)
{
    if (hear(MSG_DONTWAIT))
        return;
    close(control);
    control = -1;
    if (!finishing && !step_tasks_ended() && !step_is_terminated()) {
        log_line("mpi-helper is gone");
        io_say("mpi: the helper of this step is gone", 36);
        abort_step();
    }
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    remove(path);
    return 0;
}

/* What a killed helper left: the user's files are removed as the user, who might have put links there. */
void mpi_clean(void)
{
    if (!spec.mpi_directories.count)
        return;
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        alarm(CLEAN_SECONDS);
        task_become_user();
        for (size_t i = 0; i < spec.mpi_directories.count; i++)
            nftw(spec.mpi_directories.items[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    rmdir(spec.mpi_directories.items[0]);
    spec.mpi_directories.count = 0;
}

/* True if that process was the helper. */
bool mpi_reaped(pid_t pid)
{
    if (helper <= 0 || pid != helper)
        return false;
    helper = 0;
    return true;
}

/* A helper that does not read misses it: it notices by itself whom it has lost. */
void mpi_task_ended(const struct task *task)
{
    char text[32];
    int n = snprintf(text, sizeof text, "exit %u\n", task->id);
    if (control >= 0 && send(control, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_line("mpi-helper does not listen: %s", strerror(errno));
}

/* The tasks are done: it goes when other nodes have what they need of it. */
void mpi_finish(void)
{
    if (finishing || control < 0)
        return;
    finishing = true;
    ssize_t ignored = send(control, "finish\n", 7, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored;
}

void mpi_kill(void)
{
    if (helper > 0)
        kill(helper, SIGKILL);
}

static bool await_ready(void)
{
    struct pollfd p = {control, POLLIN, 0};
    while (!ready)
        if (poll(&p, 1, READY_WAIT_MS) <= 0 || !hear(0))
            return false;
    return true;
}

/* Each task of PMI-1 and PMI-2 has a socket to the helper. */
static bool make_pmi_sockets(int *pmi_sockets, bool wanted)
{
    for (size_t i = 0; i < spec.task_count; i++) {
        int pair[2] = {-1, -1};
        if (wanted && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
            return false;
        pmi_sockets[i] = pair[0];
        spec.tasks[i].pmi_fd = pair[1];
    }
    return true;
}

/* The first is the user's own where he could not make it himself; the helper makes the others. */
static bool make_directory(void)
{
    const char *first = spec.mpi_directories.count ? spec.mpi_directories.items[0] : NULL;
    return !first || (mkdir(first, 0700) == 0 && (geteuid() != 0 || chown(first, spec.uid, spec.gid) == 0));
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Forks the helper. stepd keeps its end of the control socket and the tasks' ends of theirs; of a helper that did not
 * start nothing is left open. */
static bool start_helper(void)
{
    int pair[2] = {-1, -1}, *pmi_sockets = malloc((spec.task_count + 1) * sizeof *pmi_sockets);
    for (size_t i = 0; pmi_sockets && i < spec.task_count; i++)
        pmi_sockets[i] = -1;
    bool good = pmi_sockets && listen_for_slurmd() && make_directory()
             && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0
             && make_pmi_sockets(pmi_sockets, is_pmi2()) && (helper = fork()) >= 0;
    int error = errno;
    if (good && helper == 0)
        become_helper(pair[1], pmi_sockets);
    close_if_open(pair[1]);
    close_if_open(listener);
    listener = -1;
    for (size_t i = 0; pmi_sockets && i < spec.task_count; i++) {
        close_if_open(pmi_sockets[i]);
        if (!good) {
            close_if_open(spec.tasks[i].pmi_fd);
            spec.tasks[i].pmi_fd = -1;
        }
    }
    free(pmi_sockets);
    if (!good)
        close_if_open(pair[0]);
    control = good ? pair[0] : -1;
    errno = error;
    return good;
}

bool mpi_begin(char *error, size_t room)
{
    if (!spec.mpi.count)
        return true;
    if (!start_helper()) {
        snprintf(error, room, "cannot set up mpi: %s", strerror(errno));
        return false;
    }
    if (await_ready())
        return true;
    snprintf(error, room, "mpi: %s", *failure ? failure : "the helper does not start");
    mpi_kill();
    return false;
}
