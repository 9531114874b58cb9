/*
 * TaskProlog and TaskEpilog: run as the user with the task's environment. The lines a prolog prints change the task:
 * "export NAME=value", "unset NAME", and "print text" for the task's standard output.
 */
#define _GNU_SOURCE
#include "hooks.h"
#include "step.h"
#include "environment.h"
#include "log.h"
#include "namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a task epilog says as an error is passed on up to here. */
#define EPILOG_BYTES_MAX 16384

static void apply_prolog_line(struct step *step, char *line)
{
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, "export ", 7)) {
        char *entry = line + 7 + strspn(line + 7, " \t");
        size_t name = strcspn(entry, "= \t");
        char *equals = entry + name + strspn(entry + name, " \t");
        char *copy = NULL;
        if (name && *equals == '=' && asprintf(&copy, "%.*s%s", (int)name, entry, equals) > 0)
            environment_set(step, copy);
    } else if (!strncmp(line, "unset ", 6)) {
        char *name = line + 6 + strspn(line + 6, " \t");
        size_t length = strlen(name);
        while (length && (name[length - 1] == ' ' || name[length - 1] == '\t'))
            name[--length] = 0;
        environment_unset(step, name);
    } else if (!strncmp(line, "print ", 6)) {
        dprintf(1, "%s\n", line + 6 + strspn(line + 6, " \t"));
    }
}

/* Writes one message to the task's standard error. */
static void print_error(struct step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print_error(struct step *step, const char *format, ...)
{
    char line[PATH_MAX + 200];
    size_t n = log_prefix(step->spec.log_time, line, sizeof line, "error: ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + n, sizeof line - n, format, arguments);
    va_end(arguments);
    dprintf(2, "%s\n", line);
}

static void run_prolog(struct step *step, const char *path, bool of_user)
{
    const char *kind = of_user ? "user task_prolog" : "slurm task_prolog";
    char *argv[] = {(char *)path, NULL};
    int lines[2], status = 0;
    if (access(path, X_OK) < 0) {
        print_error(step, "run_command: %s can not be executed (%s) %s", kind, path, strerror(errno));
        print_error(step, "%s did not exit normally. reason: Run command failed - configuration error", kind);
        status = 1;
    } else if (pipe(lines) < 0) {
        _exit(1);
    } else {
        pid_t pid = fork();
        if (pid == 0) {
            // TaskProlog's "print" lines go to the job's output, its stderr does not
            int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
            if (nothing >= 0)
                dup2(nothing, 2);
            dup2(lines[1], 1);
            close(lines[0]);
            close(lines[1]);
            environment_set(step, "SLURM_SCRIPT_CONTEXT=prolog_task");
            execve(path, argv, environment_list(step));
            _exit(127);
        }
        close(lines[1]);
        FILE *in = pid > 0 ? fdopen(lines[0], "r") : NULL;
        char *line = NULL;
        size_t room = 0;
        while (in && getline(&line, &room, in) > 0)
            apply_prolog_line(step, line);
        free(line);
        if (in)
            fclose(in);
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
            status = 1;
        else if (WIFEXITED(status))
            status = WEXITSTATUS(status);
        else {
            print_error(step, "%s did not exit normally. reason: ", kind);
            status = 1;
        }
    }
    if (!status)
        return;
    print_error(step, "%s failed status=%d", of_user ? "--task-prolog" : "TaskProlog", status);
    _exit(status);
}

/* In the task's child, after the switch to the user and just before exec: the site's prolog, then the user's. */
void hooks_run_prologs(struct step *step)
{
    for (size_t i = 0; i < step->spec.prologs.count; i++)
        run_prolog(step, step->spec.prologs.items[i], false);
    for (size_t i = 0; i < step->spec.user_prologs.count; i++)
        run_prolog(step, step->spec.user_prologs.items[i], true);
}

static void run_epilog(struct step *step, const char *path, bool of_user)
{
    char *argv[] = {(char *)path, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        environment_set(step, "SLURM_SCRIPT_CONTEXT=epilog_task");
        if (chdir(step->spec.cwd) < 0 && chdir("/") < 0)
            _exit(1);
        execve(path, argv, environment_list(step));
        int error = errno;
        print_error(step, "execve(%s): %s", path, strerror(error));
        if (error == EACCES)
            print_error(step, "Could not run %s task_epilog [%s]: access denied", of_user ? "user" : "slurm", path);
        _exit(127);
    }
    int status = -1;
    if (pid > 0)
        waitpid(pid, &status, 0);
    /* Slurm 26.05 names the two the other way round: the interface is what it prints */
    if (status)
        print_error(step, "%s failed status=%d", of_user ? "TaskEpilog" : "--task-epilog",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

void hooks_epilog_ended(struct task *task)
{
    char text[EPILOG_BYTES_MAX];
    ssize_t n = task->epilog_output_fd < 0 ? 0 : pread(task->epilog_output_fd, text, sizeof text, 0);
    if (n > 0)
        task_line(task, text, (size_t)n);
    if (task->epilog_output_fd >= 0)
        close(task->epilog_output_fd);
    task->epilog_output_fd = -1;
}

/* A child of stepd that runs every task epilog in turn as the user; 0 when there is none. What it says as an error is
 * kept for the task's. */
pid_t hooks_start_epilog(struct step *step, struct task *task)
{
    if (!step->spec.epilogs.count && !step->spec.user_epilogs.count)
        return 0;
    task->epilog_output_fd = memfd_create("epilog", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid != 0)
        return pid < 0 ? 0 : pid;
    if (task->epilog_output_fd >= 0)
        dup2(task->epilog_output_fd, 2);
    setsid();
    if (step->spec.namespace && !namespace_join(step->spec.namespace))
        _exit(1);
    task_become_user(step);
    environment_make(step, task);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < step->spec.user_epilogs.count; i++)
        run_epilog(step, step->spec.user_epilogs.items[i], true);
    for (size_t i = 0; i < step->spec.epilogs.count; i++)
        run_epilog(step, step->spec.epilogs.items[i], false);
    _exit(0);
}
