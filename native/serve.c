/*
 * slurmstepd --serve: a small process that slurmd keeps. For each request on standard input it forks a step's process:
 * that costs a tenth of starting a program, and nothing is left of it for slurmd to wait for.
 * Request "ID DIRECTORY_LENGTH SPECIFICATION_LENGTH\n", directory, specification. Answers, one line each, on standard
 * output: "ID ok PID" or "ID sentence" from the step's process, and "ID ended" after its end, for one that never spoke.
 * A batch step whose script is over while its processes linger sends "ID lingers" before "ID ended".
 * It ends with its standard input. The steps do not: they only lose a parent that did nothing for them.
 */
#define _GNU_SOURCE
#include "stepd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD_BYTES 80
#define DIRECTORY_BYTES_MAX 4096

struct child {
    pid_t pid;
    unsigned long long id;
};

static struct child *children;
static size_t child_count, child_room;
static int wake = -1;
/* The server as the step's process knows it; 0 where there is none. */
static pid_t server;

static bool read_exactly(char *into, size_t n)
{
    while (n) {
        ssize_t got = read(0, into, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        into += got;
        n -= (size_t)got;
    }
    return true;
}

static bool read_line(char *into, size_t room)
{
    for (size_t i = 0; i < room; i++) {
        if (!read_exactly(into + i, 1))
            return false;
        if (into[i] == '\n') {
            into[i] = 0;
            return true;
        }
    }
    return false;
}

static void answer(unsigned long long id, const char *text)
{
    char line[100];
    int n = snprintf(line, sizeof line, "%llu %s\n", id, text);
    ssize_t ignored = write(1, line, (size_t)n);
    (void)ignored;
}

static void tell(pid_t pid, const char *text)
{
    for (size_t i = 0; i < child_count; i++)
        if (children[i].pid == pid)
            answer(children[i].id, text);
}

/* By a signal: a step's process that kept the answers' pipe open would hide the server's end from slurmd. */
void serve_tell_lingering(void)
{
    if (server > 0 && getppid() == server)
        sigqueue(server, SIGRTMIN, (union sigval){0});
}

static void reap(void)
{
    struct signalfd_siginfo info;
    while (read(wake, &info, sizeof info) == sizeof info)
        if (info.ssi_signo == (uint32_t)SIGRTMIN)
            tell((pid_t)info.ssi_pid, "lingers");
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        for (size_t i = 0; i < child_count; i++)
            if (children[i].pid == pid) {
                answer(children[i].id, "ended");
                children[i] = children[--child_count];
                break;
            }
}

static void remember(pid_t pid, unsigned long long id)
{
    if (child_count == child_room) {
        child_room = child_room ? child_room * 2 : 64;
        children = realloc(children, child_room * sizeof *children);
        if (!children)
            abort();
    }
    children[child_count++] = (struct child){pid, id};
}

/* The step's process, from here on its own. */
static void step(unsigned long long id, const char *directory, char *text, size_t length)
{
    char error[400], prefix[32], title[128];
    int out = dup(1);
    close(wake);
    setsid();
    umask(077);
    prctl(PR_SET_NAME, "slurmstepd");
    snprintf(prefix, sizeof prefix, "%llu ", id);
    if (out < 0 || fcntl(out, F_SETFD, FD_CLOEXEC) < 0)
        _exit(1);
    if (chdir(directory) < 0)
        snprintf(error, sizeof error, "%s: %s", directory, strerror(errno));
    else if (spec_parse(text, length, error, sizeof error)) {
        snprintf(title, sizeof title, "slurmstepd: [%s.%s]", spec.job, spec.step);
        step_title(title);
        step_main(out, prefix);
    }
    dprintf(out, "%s%s\n", prefix, error);
    _exit(1);
}

static bool request(void)
{
    char head[HEAD_BYTES], directory[DIRECTORY_BYTES_MAX + 1];
    unsigned long long id;
    size_t name, length;
    if (!read_line(head, sizeof head) || sscanf(head, "%llu %zu %zu", &id, &name, &length) != 3
        || name > DIRECTORY_BYTES_MAX || length > SPEC_BYTES_MAX)
        return false;
    char *text = malloc(length + 1);
    if (!text || !read_exactly(directory, name) || !read_exactly(text, length))
        return false;
    directory[name] = 0;
    pid_t pid = fork();
    if (pid == 0) {
        server = getppid();
        step(id, directory, text, length);
    }
    free(text);
    if (pid > 0)
        remember(pid, id);
    else
        answer(id, "cannot fork");
    return true;
}

int serve_requests(void)
{
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, SIGRTMIN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* of a terminal that slurmd -D runs in */
    signal(SIGHUP, SIG_IGN);
    sigprocmask(SIG_BLOCK, &heard, NULL);
    wake = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
    prctl(PR_SET_NAME, "stepstarter"); /* not a step: who counts slurmstepd must not count this */
    step_title("slurmd: step starter");
    struct pollfd p[2] = {{0, POLLIN, 0}, {wake, POLLIN, 0}};
    while (wake >= 0) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return 1;
        if (p[1].revents)
            reap();
        if (p[0].revents && !request())
            return 0;
    }
    return 1;
}
