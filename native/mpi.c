/*
 * The step's mpi-helper (mpi/helper.h): one process, run as the user, between stepd and the tasks of a step that asked
 * for PMI. stepd starts it before the tasks, waits until it is ready, takes from it what is to be in their
 * environments, and lets it go when they are done.
 */
#define _GNU_SOURCE
#include "step.h"
#include "log.h"
#include "procs.h"

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

int mpi_control(struct step *step) { return step->mpi.control; }
bool mpi_is_aborted(struct step *step) { return step->mpi.is_aborted; }
bool mpi_is_there(struct step *step) { return step->mpi.helper > 0; }

static int close_on_exec(int fd, bool on) { return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0); }

static bool listen_for_slurmd(struct step *step)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!step->spec.mpi_socket)
        return true;
    if (strlen(step->spec.mpi_socket) >= sizeof address.sun_path)
        return errno = ENAMETOOLONG, false;
    strcpy(address.sun_path, step->spec.mpi_socket);
    step->mpi.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(step->spec.mpi_socket);
    mode_t old = umask(0177);
    bool good = step->mpi.listener >= 0 && bind(step->mpi.listener, (struct sockaddr *)&address, sizeof address) == 0
             && listen(step->mpi.listener, 64) == 0;
    umask(old);
    return good;
}

static bool has_pmi_sockets(struct step *step)
{
    for (size_t i = 0; i < step->spec.mpi.count; i++)
        if (!strcmp(step->spec.mpi.items[i], "kind pmi2"))
            return true;
    return false;
}

/* Settings as the helper reads them: those of the specification, and which descriptors it has. */
static int make_settings(struct step *step, int control_fd, const int *pmi_sockets)
{
    int fd = memfd_create("mpi-settings", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < step->spec.mpi.count; i++)
        dprintf(fd, "%s\n", step->spec.mpi.items[i]);
    dprintf(fd, "control %d\nlistener %d\n", control_fd, step->mpi.listener);
    for (size_t i = 0; i < step->spec.task_count; i++)
        dprintf(fd, "task %u %d\n", step->spec.tasks[i].id, pmi_sockets[i]);
    return lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

static void become_helper(struct step *step, int control_fd, const int *pmi_sockets)
{
    char *argv[] = {"mpi-helper", NULL}, *envp[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL}, error[300] = "";
    int given = make_settings(step, control_fd, pmi_sockets);
    sigset_t none;
    setsid();
    for (size_t i = 0; i < step->spec.cgroups.count && !*error; i++)
        procs_join_cgroup(step->spec.cgroups.items[i], getpid(), error, sizeof error);
    task_become_user(step);
    umask(077);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    bool good = given >= 0 && !*error && dup2(given, 0) == 0 && close_on_exec(control_fd, false) == 0
             && (step->mpi.listener < 0 || close_on_exec(step->mpi.listener, false) == 0);
    for (size_t i = 0; i < step->spec.task_count && good; i++)
        good = pmi_sockets[i] < 0 || close_on_exec(pmi_sockets[i], false) == 0;
    if (good && chdir("/") == 0)
        execve(step->spec.mpi_helper, argv, envp);
    dprintf(control_fd, "error cannot execute %s: %s\n", step->spec.mpi_helper, *error ? error : strerror(errno));
    _exit(1);
}

static struct task *task_of(struct step *step, const char *rank, char **rest)
{
    unsigned long id = strtoul(rank, rest, 10);
    for (size_t i = 0; i < step->spec.task_count; i++)
        if (step->spec.tasks[i].id == id && **rest == ' ')
            return &step->spec.tasks[i];
    return NULL;
}

static void abort_step(struct step *step) { step->mpi.is_aborted = true; }

static void log_helper_line(struct step *step, const char *text)
{
    if (step->mpi.logged_lines++ < LOG_LINES_MAX)
        log_line(step, "%s", text);
}

static void handle_line(struct step *step, char *text)
{
    char *rest;
    if (!strcmp(text, "ready")) {
        step->mpi.is_ready = true;
    } else if (!strcmp(text, "abort")) {
        abort_step(step);
    } else if (!strncmp(text, "env ", 4)) { /* env RANK NAME=VALUE */
        struct task *task = task_of(step, text + 4, &rest);
        char *entry = task && !step->mpi.is_ready && task->env.count < ENTRIES_MAX ? strdup(rest + 1) : NULL;
        if (entry)
            strings_add(&task->env, entry);
    } else if (!strncmp(text, "log ", 4)) {
        log_helper_line(step, text + 4);
    } else if (!strncmp(text, "error ", 6)) {
        snprintf(step->mpi.failure, sizeof step->mpi.failure, "%s", text + 6);
        log_helper_line(step, text + 6);
        if (step->mpi.is_ready)
            io_say(step, text + 6, strlen(text + 6));
    }
}

/* False: the helper is gone. */
static bool read_lines(struct step *step, int flags)
{
    if (!step->mpi.partial_line && !(step->mpi.partial_line = malloc(LINE_BYTES)))
        abort();
    ssize_t n = recv(step->mpi.control, step->mpi.partial_line + step->mpi.partial_length,
                     LINE_BYTES - 1 - step->mpi.partial_length, flags);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    step->mpi.partial_length += (size_t)n;
    char *at = step->mpi.partial_line, *end = step->mpi.partial_line + step->mpi.partial_length, *newline;
    while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
        *newline = 0;
        handle_line(step, at);
        at = newline + 1;
    }
    step->mpi.partial_length = (size_t)(end - at);
    memmove(step->mpi.partial_line, at, step->mpi.partial_length);
    return step->mpi.partial_length < LINE_BYTES - 1;
}

/* What it says while tasks run. Without it none of them gets further in MPI: the step is aborted. */
void mpi_hear(struct step *step)
{
    if (read_lines(step, MSG_DONTWAIT))
        return;
    close(step->mpi.control);
    step->mpi.control = -1;
    if (!step->mpi.is_finishing && !step_tasks_ended(step) && !step_is_terminated(step)) {
        log_line(step, "mpi-helper is gone");
        io_say(step, "mpi: the helper of this step is gone", 36);
        abort_step(step);
    }
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    remove(path);
    return 0;
}

/* What a killed helper left: the user's files are removed as the user, who might have put links there. */
void mpi_clean(struct step *step)
{
    if (!step->spec.mpi_directories.count)
        return;
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        alarm(CLEAN_SECONDS);
        task_become_user(step);
        for (size_t i = 0; i < step->spec.mpi_directories.count; i++)
            nftw(step->spec.mpi_directories.items[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    rmdir(step->spec.mpi_directories.items[0]);
    step->spec.mpi_directories.count = 0;
}

/* True if that process was the helper. */
bool mpi_reaped(struct step *step, pid_t pid)
{
    if (step->mpi.helper <= 0 || pid != step->mpi.helper)
        return false;
    step->mpi.helper = 0;
    return true;
}

/* A helper that does not read misses it: it notices by itself whom it has lost. */
void mpi_task_ended(struct step *step, const struct task *task)
{
    char text[32];
    int n = snprintf(text, sizeof text, "exit %u\n", task->id);
    if (step->mpi.control >= 0 && send(step->mpi.control, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_line(step, "mpi-helper does not listen: %s", strerror(errno));
}

/* The tasks are done: it goes when other nodes have what they need of it. */
void mpi_finish(struct step *step)
{
    if (step->mpi.is_finishing || step->mpi.control < 0)
        return;
    step->mpi.is_finishing = true;
    ssize_t ignored = send(step->mpi.control, "finish\n", 7, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored;
}

void mpi_kill(struct step *step)
{
    if (step->mpi.helper > 0)
        kill(step->mpi.helper, SIGKILL);
}

static bool await_ready(struct step *step)
{
    struct pollfd p = {step->mpi.control, POLLIN, 0};
    while (!step->mpi.is_ready)
        if (poll(&p, 1, READY_WAIT_MS) <= 0 || !read_lines(step, 0))
            return false;
    return true;
}

/* Each task of PMI-1 and PMI-2 has a socket to the helper. */
static bool make_pmi_sockets(struct step *step, int *pmi_sockets, bool wanted)
{
    for (size_t i = 0; i < step->spec.task_count; i++) {
        int pair[2] = {-1, -1};
        if (wanted && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
            return false;
        pmi_sockets[i] = pair[0];
        step->spec.tasks[i].pmi_fd = pair[1];
    }
    return true;
}

/* The first is the user's own where he could not make it himself; the helper makes the others. */
static bool make_directory(struct step *step)
{
    const char *first = step->spec.mpi_directories.count ? step->spec.mpi_directories.items[0] : NULL;
    return !first || (mkdir(first, 0700) == 0 && (geteuid() != 0 || chown(first, step->spec.uid, step->spec.gid) == 0));
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Forks the helper. stepd keeps its end of the control socket and the tasks' ends of theirs; of a helper that did not
 * start nothing is left open. */
static bool start_helper(struct step *step)
{
    int pair[2] = {-1, -1}, *pmi_sockets = malloc((step->spec.task_count + 1) * sizeof *pmi_sockets);
    for (size_t i = 0; pmi_sockets && i < step->spec.task_count; i++)
        pmi_sockets[i] = -1;
    bool good = pmi_sockets && listen_for_slurmd(step) && make_directory(step)
             && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0
             && make_pmi_sockets(step, pmi_sockets, has_pmi_sockets(step)) && (step->mpi.helper = fork()) >= 0;
    int error = errno;
    if (good && step->mpi.helper == 0)
        become_helper(step, pair[1], pmi_sockets);
    close_if_open(pair[1]);
    close_if_open(step->mpi.listener);
    step->mpi.listener = -1;
    for (size_t i = 0; pmi_sockets && i < step->spec.task_count; i++) {
        close_if_open(pmi_sockets[i]);
        if (!good) {
            close_if_open(step->spec.tasks[i].pmi_fd);
            step->spec.tasks[i].pmi_fd = -1;
        }
    }
    free(pmi_sockets);
    if (!good)
        close_if_open(pair[0]);
    step->mpi.control = good ? pair[0] : -1;
    errno = error;
    return good;
}

bool mpi_begin(struct step *step, char *error, size_t room)
{
    if (!step->spec.mpi.count)
        return true;
    if (!start_helper(step)) {
        snprintf(error, room, "cannot set up mpi: %s", strerror(errno));
        return false;
    }
    if (await_ready(step))
        return true;
    snprintf(error, room, "mpi: %s", *step->mpi.failure ? step->mpi.failure : "the helper does not start");
    mpi_kill(step);
    return false;
}
