/*
 * slurmstepd --container DIRECTORY CREATE START QUERY: a task in a container whose runtime has no "run". The runtime
 * leaves the container's first process to whoever takes in orphans; that is this process, which so learns how it ended
 * and ends the same way.
 */
#define _GNU_SOURCE
#include "container.h"
#include "log.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATE_BYTES_MAX 65536
#define POLL_US 500000

/* Exit code of a command of the runtime; what it prints goes into `said`, where there is one. */
static int run_command(const char *command, char *output, size_t room)
{
    int output_pipe[2] = {-1, -1}, status;
    if (output && pipe(output_pipe) < 0)
        return 255;
    pid_t pid = fork();
    if (pid == 0) {
        if (output)
            dup2(output_pipe[1], 1);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    if (output) {
        size_t have = 0;
        ssize_t n;
        close(output_pipe[1]);
        while (have + 1 < room && (n = read(output_pipe[0], output + have, room - have - 1)) > 0)
            have += (size_t)n;
        output[have] = 0;
        close(output_pipe[0]);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return 255;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Of the state's JSON: "name": value. */
static const char *value(const char *state, const char *name)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    const char *at = strstr(state, quoted);
    at = at ? strchr(at + strlen(quoted), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " \t\n") : "";
}

static bool is_running(const char *query, char *state)
{
    if (run_command(query, state, STATE_BYTES_MAX) != 0)
        return false;
    const char *status = value(state, "status");
    return !strncmp(status, "\"created\"", 9) || !strncmp(status, "\"running\"", 9)
        || !strncmp(status, "\"paused\"", 8);
}

static int end_like(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int container_main(char **argv)
{
    static char state[STATE_BYTES_MAX];
    if (chdir(argv[0]) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
        char prefix[LOG_PREFIX_BYTES_MAX];
        int error = errno;
        log_prefix("", prefix, sizeof prefix, "error: ");
        fprintf(stderr, "%scontainer: %s: %s\n", prefix, argv[0], strerror(error));
        return 1;
    }
    int rc = run_command(argv[1], NULL, 0);
    if (rc)
        return rc;
    pid_t first = run_command(argv[3], state, sizeof state) == 0 ? (pid_t)atol(value(state, "pid")) : 0;
    rc = run_command(argv[2], NULL, 0);
    if (rc)
        return rc;
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, first > 0 ? 0 : WNOHANG);
        if (pid > 0 && pid == first)
            return end_like(status);
        if (pid > 0 || (pid < 0 && errno == EINTR))
            continue;
        /* its first process is somebody else's: how it ends cannot be learnt, only that it does */
        if (!is_running(argv[3], state))
            return 0;
        usleep(POLL_US);
    }
}
