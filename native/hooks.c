/*
 * TaskProlog and TaskEpilog: run as the user with the task's environment. The lines a prolog prints change the task:
 * "export NAME=value", "unset NAME", and "print text" for the task's standard output.
 */
#define _GNU_SOURCE
#include "stepd.h"
#include "environment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a task epilog says as an error is passed on up to here. */
#define EPILOG_BYTES_MAX 16384

static void obey(char *line)
{
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, "export ", 7)) {
        char *entry = line + 7 + strspn(line + 7, " \t");
        size_t name = strcspn(entry, "= \t");
        char *equals = entry + name + strspn(entry + name, " \t");
        char *copy = NULL;
        if (name && *equals == '=' && asprintf(&copy, "%.*s%s", (int)name, entry, equals) > 0)
            environment_set(copy);
    } else if (!strncmp(line, "unset ", 6)) {
        char *name = line + 6 + strspn(line + 6, " \t");
        size_t length = strlen(name);
        while (length && (name[length - 1] == ' ' || name[length - 1] == '\t'))
            name[--length] = 0;
        environment_unset(name);
    } else if (!strncmp(line, "print ", 6)) {
        dprintf(1, "%s\n", line + 6 + strspn(line + 6, " \t"));
    }
}

static void run_hook(const char *path, const char *directory)
{
    char *argv[] = {(char *)path, NULL};
    environment_set(directory ? "SLURM_SCRIPT_CONTEXT=epilog_task" : "SLURM_SCRIPT_CONTEXT=prolog_task");
    if (directory && chdir(directory) < 0 && chdir("/") < 0)
        _exit(1);
    execve(path, argv, environment_list());
    dprintf(2, "%s: error: execve(): %s: %s\n", spec.log_name, path, strerror(errno));
    _exit(127);
}

static void run_prolog(const char *path)
{
    int lines[2];
    if (pipe(lines) < 0)
        _exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        // TaskProlog's "print" lines go to the job's output, its stderr does not
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nothing >= 0)
            dup2(nothing, 2);
        dup2(lines[1], 1);
        close(lines[0]);
        close(lines[1]);
        run_hook(path, NULL);
    }
    close(lines[1]);
    FILE *in = pid > 0 ? fdopen(lines[0], "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    while (in && getline(&line, &room, in) > 0)
        obey(line);
    free(line);
    if (in)
        fclose(in);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status) {
        dprintf(2, "%s: error: TaskProlog failed status=%d\n", spec.log_name, WIFEXITED(status) ? WEXITSTATUS(status)
            : 1);
        _exit(status && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
}

/* In the task's child, after the switch to the user and just before exec. */
void hooks_run_prologs(void)
{
    for (size_t i = 0; i < spec.prologs.count; i++)
        run_prolog(spec.prologs.items[i]);
}

void hooks_epilog_ended(struct task *task)
{
    char text[EPILOG_BYTES_MAX];
    ssize_t n = task->epilog_said < 0 ? 0 : pread(task->epilog_said, text, sizeof text, 0);
    if (n > 0)
        task_line(task, text, (size_t)n);
    if (task->epilog_said >= 0)
        close(task->epilog_said);
    task->epilog_said = -1;
}

/* A child of stepd that runs every task epilog in turn as the user; 0 when there is none. What it says as an error is kept for the task's. */
pid_t hooks_start_epilog(struct task *task)
{
    if (!spec.epilogs.count)
        return 0;
    task->epilog_said = memfd_create("epilog", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid != 0)
        return pid < 0 ? 0 : pid;
    if (task->epilog_said >= 0)
        dup2(task->epilog_said, 2);
    setsid();
    if (spec.namespace && !namespace_join(spec.namespace))
        _exit(1);
    task_become_user();
    environment_make(task);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < spec.epilogs.count; i++) {
        pid_t one = fork();
        if (one == 0)
            run_hook(spec.epilogs.items[i], spec.cwd);
        int status = -1;
        if (one > 0)
            waitpid(one, &status, 0);
        if (status)
            dprintf(2, "%s: error: TaskEpilog failed status=%d\n", spec.log_name, WIFEXITED(status) ? WEXITSTATUS(status)
                : status);
    }
    _exit(0);
}
