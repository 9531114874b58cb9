/*
 * Everything a step left behind: stepd is the subreaper, so every descendant that still lives hangs below it, however
 * often it forked or made itself a session. With `pgid` only those in the process groups of its tasks count. Control
 * groups, where given, catch what a killed stepd would lose.
 */
#define _GNU_SOURCE
#include "procs.h"
#include "step.h"
#include "namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
    pid_t pid, parent, group;
    bool below;
};

static bool read_parent(pid_t pid, struct process *process)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    char state, *after = strrchr(text, ')'); /* the name may hold anything, also ')' */
    int parent, group;
    if (!after || sscanf(after + 1, " %c %d %d", &state, &parent, &group) != 3 || state == 'Z' || state == 'X')
        return false;
    *process = (struct process){pid, (pid_t)parent, (pid_t)group, false};
    return true;
}

/*
 * Among a job's own processes an orphan goes to the first of these and is no descendant of stepd any more: what it has
 * in its environment says whose it is.
 */
static bool is_stray(struct step *step, pid_t pid)
{
    char path[40], job_entry[40], step_entry[48];
    static char text[65536];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    snprintf(job_entry, sizeof job_entry, "SLURM_JOB_ID=%s", step->spec.job);
    snprintf(step_entry, sizeof step_entry, "SLURM_STEP_ID=%s", step->spec.step);
    if (!namespace_has(step->spec.namespace, pid))
        return false;
    ssize_t n = 0;
    for (int tries = 0; n <= 0 && tries < 20; tries++) { /* of a process that is just executing a program it is empty */
        if (tries)
            usleep(500);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return false;
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    if (n <= 0)
        return false;
    text[n] = 0;
    bool of_job = false, of_step = false, in_step = false;
    for (char *at = text; at < text + n; at += strlen(at) + 1) {
        of_job |= !strcmp(at, job_entry);
        of_step |= !strcmp(at, step_entry);
        in_step |= !strncmp(at, "SLURM_STEP_ID=", 14);
    }
    return of_job && (step->spec.is_batch ? !in_step : of_step);
}

static size_t list_processes(struct process **into)
{
    size_t count = 0, room = 256;
    struct process *list = malloc(room * sizeof *list);
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (list && proc && (entry = readdir(proc))) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (count == room) {
            struct process *grown = realloc(list, (room *= 2) * sizeof *list);
            if (!grown)
                break;
            list = grown;
        }
        if (pid > 0 && read_parent(pid, &list[count]))
            count++;
    }
    if (proc)
        closedir(proc);
    *into = list;
    return count;
}

static void mark_below(struct step *step, struct process *list, size_t count, pid_t top)
{
    bool more = true;
    /* asked once: reading every environment costs */
    bool strays = step->spec.namespace && namespace_has_processes(step->spec.namespace);
    for (; more; strays = false) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            if (list[i].below)
                continue;
            bool below = list[i].parent == top || (strays && is_stray(step, list[i].pid));
            for (size_t j = 0; j < count && !below; j++)
                below = list[j].below && list[j].pid == list[i].parent;
            if (below)
                more = list[i].below = true;
        }
    }
}

/* Each task and each epilog leads a group. While one has not executed its program nobody has left: its prolog is the
 * step's. */
static bool is_tracked(struct step *step, const struct process *process)
{
    if (!process->below || !step->spec.by_group)
        return process->below;
    for (size_t i = 0; i < step->spec.task_count; i++) {
        const struct task *task = &step->spec.tasks[i];
        if ((task->phase == TASK_RUNNING && !task->executed) || task->pid == process->group
            || (task->phase == TASK_EPILOG && task->epilog_pid == process->group))
            return true;
    }
    return false;
}

/* Has a handler of its own for the signal. */
static bool catches(pid_t pid, int signal)
{
    char path[64], line[256];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (in)
        fclose(in);
    return (caught >> (signal - 1)) & 1;
}

static bool is_srun(pid_t pid)
{
    char path[40], name[16] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(path, "re");
    bool is = in && fgets(name, sizeof name, in) && !strcmp(name, "srun\n");
    if (in)
        fclose(in);
    return is;
}

/*
 * Returns whether processes linger after the end of a batch script: an srun whose step writes through it within
 * KillWait, or a process that handles SIGTERM. All other processes stay with the srun, which may write into a pipe.
 */
bool procs_linger(struct step *step, bool warned)
{
    struct process *list = NULL;
    size_t count = list_processes(&list);
    bool lingers = false;
    mark_below(step, list, count, getpid());
    for (size_t i = 0; i < count && !lingers; i++)
        lingers = is_tracked(step, &list[i]) && (is_srun(list[i].pid) || (warned && catches(list[i].pid, SIGTERM)));
    free(list);
    return lingers;
}

/* Signals every living process of the step; a second signal in place of the first where none of them has a handler for
 * that. */
static int signal_tree(struct step *step, int signal, int uncaught)
{
    struct process *list = NULL;
    size_t count = list_processes(&list);
    int sent = 0;
    mark_below(step, list, count, getpid());
    bool caught = signal == uncaught;
    for (size_t i = 0; i < count && !caught; i++)
        caught = is_tracked(step, &list[i]) && catches(list[i].pid, signal);
    for (size_t i = 0; i < count; i++)
        if (is_tracked(step, &list[i]) && kill(list[i].pid, caught ? signal : uncaught) == 0)
            sent++;
    free(list);
    return sent;
}

int procs_signal_children_tree(struct step *step, int signal) { return signal_tree(step, signal, signal); }

/*
 * Where somebody makes ready for it all go on meanwhile: a shell runs its handler when the program that it waits for is
 * over. Where nobody does all are stopped: what SIGTSTP does by itself to who has no handler, the kernel leaves undone
 * in a group whose parents are elsewhere.
 */
int procs_suspend(struct step *step) { return signal_tree(step, SIGTSTP, SIGSTOP); }

/* Of a step whose children are all gone: among a job's own processes there may be others. */
bool procs_are_left(struct step *step)
{
    if (step->spec.by_group)
        return procs_signal_children_tree(step, SIGKILL) > 0;
    return step->spec.namespace && namespace_has_processes(step->spec.namespace)
        && procs_signal_children_tree(step, SIGKILL) > 0;
}

/* Signals only the tasks themselves (for a batch step: only the shell). */
int procs_signal_tasks(struct step *step, int signal)
{
    int sent = 0;
    for (size_t i = 0; i < step->spec.task_count; i++) {
        const struct task *task = &step->spec.tasks[i];
        if (task->phase == TASK_RUNNING && task->pid > 0 && kill(task->pid, signal) == 0)
            sent++;
    }
    return sent;
}

void procs_join_cgroup(const char *directory, pid_t pid, char *error, size_t error_room)
{
    char path[4200], text[16];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    int fd = open(path, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof text, "%d", (int)pid);
    if (fd < 0 || write(fd, text, (size_t)n) != n)
        snprintf(error, error_room, "cannot join control group %s: %s", directory, strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void kill_listed(const char *directory)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    FILE *in = fopen(path, "re");
    int pid;
    while (in && fscanf(in, "%d", &pid) == 1)
        if (pid > 0 && pid != getpid())
            kill(pid, SIGKILL);
    if (in)
        fclose(in);
}

/* How often the kernel killed for want of memory in the step's group, as the file named in the specification counts. */
long procs_oom_kills(struct step *step)
{
    char line[128];
    long kills = 0;
    FILE *in = step->spec.oom_events ? fopen(step->spec.oom_events, "re") : NULL;
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "oom_kill %ld", &kills) == 1)
            break;
    if (in)
        fclose(in);
    return kills;
}

/* Kills what is in the step's groups, also what no longer is a descendant. */
void procs_kill_cgroups(struct step *step)
{
    for (size_t i = 0; i < step->spec.kill_cgroups.count; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/cgroup.kill", step->spec.kill_cgroups.items[i]);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, "1", 1) != 1)
            kill_listed(step->spec.kill_cgroups.items[i]);
        if (fd >= 0)
            close(fd);
    }
}
