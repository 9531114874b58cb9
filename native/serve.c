/*
 * slurmstepd --serve: a small process that slurmd keeps. For each request on standard input it forks a step's process:
 * that costs a tenth of starting a program, and nothing is left of it for slurmd to wait for.
 * Request "ID DIRECTORY_LENGTH SPECIFICATION_LENGTH\n", directory, specification. Answers, one line each, on standard
 * output: "ID ok PID" or "ID sentence" from the step's process, and "ID ended" after its end, for one that never spoke.
 * A batch step whose script is over while its processes linger sends "ID lingers" before "ID ended".
 * It ends with its standard input. The steps do not: they only lose a parent that did nothing for them.
 */
#define _GNU_SOURCE
#include "serve.h"
#include "step.h"
#include "spec.h"

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

/* The processes of steps that run. */
struct starter {
    struct child *children;
    size_t child_count, child_room;
    int wake; /* where signals are read: a child has ended, or lingers */
};

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

static void answer_for(struct starter *starter, pid_t pid, const char *text)
{
    for (size_t i = 0; i < starter->child_count; i++)
        if (starter->children[i].pid == pid)
            answer(starter->children[i].id, text);
}

/* By a signal: a step's process that kept the answers' pipe open would hide the server's end from slurmd. */
void serve_tell_lingering(struct step *step)
{
    if (step->server > 0 && getppid() == step->server)
        sigqueue(step->server, SIGRTMIN, (union sigval){0});
}

static void reap(struct starter *starter)
{
    struct signalfd_siginfo info;
    while (read(starter->wake, &info, sizeof info) == sizeof info)
        if (info.ssi_signo == (uint32_t)SIGRTMIN)
            answer_for(starter, (pid_t)info.ssi_pid, "lingers");
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        for (size_t i = 0; i < starter->child_count; i++)
            if (starter->children[i].pid == pid) {
                answer(starter->children[i].id, "ended");
                starter->children[i] = starter->children[--starter->child_count];
                break;
            }
}

static void add_child(struct starter *starter, pid_t pid, unsigned long long id)
{
    if (starter->child_count == starter->child_room) {
        starter->child_room = starter->child_room ? starter->child_room * 2 : 64;
        starter->children = realloc(starter->children, starter->child_room * sizeof *starter->children);
        if (!starter->children)
            abort();
    }
    starter->children[starter->child_count++] = (struct child){pid, id};
}

/* The step's process, from here on its own. */
static void run_step(struct step *step, struct starter *starter, unsigned long long id, const char *directory,
                     char *text, size_t length)
{
    char error[400], prefix[32], title[128];
    int out = dup(1);
    close(starter->wake);
    setsid();
    umask(077);
    prctl(PR_SET_NAME, "slurmstepd");
    snprintf(prefix, sizeof prefix, "%llu ", id);
    if (out < 0 || fcntl(out, F_SETFD, FD_CLOEXEC) < 0)
        _exit(1);
    if (chdir(directory) < 0)
        snprintf(error, sizeof error, "%s: %s", directory, strerror(errno));
    else if (spec_parse(step, text, length, error, sizeof error)) {
        snprintf(title, sizeof title, "slurmstepd: [%s.%s]", step->spec.job, step->spec.step);
        step_title(step, title);
        step_main(step, out, prefix);
    }
    dprintf(out, "%s%s\n", prefix, error);
    _exit(1);
}

static bool take_request(struct step *step, struct starter *starter)
{
    char head[HEAD_BYTES], directory[DIRECTORY_BYTES_MAX + 1];
    unsigned long long id;
    size_t name, length;
    if (!read_line(head, sizeof head) || sscanf(head, "%llu %zu %zu", &id, &name, &length) != 3
        || name > DIRECTORY_BYTES_MAX || length > SPEC_BYTES_MAX)
        return false;
    char *text = malloc(length + 1);
    if (!text || !read_exactly(directory, name) || !read_exactly(text, length)) {
        free(text);
        return false;
    }
    directory[name] = 0;
    pid_t pid = fork();
    if (pid == 0) {
        step->server = getppid();
        run_step(step, starter, id, directory, text, length);
    }
    free(text);
    if (pid > 0)
        add_child(starter, pid, id);
    else
        answer(id, "cannot fork");
    return true;
}

int serve_requests(struct step *step)
{
    struct starter state = {.wake = -1}, *starter = &state;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGRTMIN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* of a terminal that slurmd -D runs in */
    signal(SIGHUP, SIG_IGN);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    starter->wake = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    prctl(PR_SET_NAME, "stepstarter"); /* not a step: who counts slurmstepd must not count this */
    step_title(step, "slurmd: step starter");
    struct pollfd p[2] = {{0, POLLIN, 0}, {starter->wake, POLLIN, 0}};
    bool has_input = starter->wake >= 0, has_failed = !has_input;
    while (has_input && !has_failed) {
        has_failed = poll(p, 2, -1) < 0 && errno != EINTR;
        if (!has_failed && p[1].revents)
            reap(starter);
        if (!has_failed && p[0].revents)
            has_input = take_request(step, starter);
    }
    free(starter->children);
    return has_failed ? 1 : 0;
}
