/*
 * slurmstepd SPEC: starts the step described in the file, answers when its tasks are on their way, and stays behind as
 * their parent until the last process is gone, the statuses are on disk, and the kept output is acknowledged.
 * slurmstepd --serve: does so for every specification that comes on standard input (serve.c).
 */
#define _GNU_SOURCE
#include "step.h"
#include "container.h"
#include "environment.h"
#include "hooks.h"
#include "log.h"
#include "namespace.h"
#include "pam.h"
#include "procs.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL_RETRY_FIRST_MS 20
#define KILL_RETRY_MOST_MS 1000
#define DESCRIPTORS_WITHOUT_CLOSE_RANGE 65536 /* kernels before 5.11 */
#define LINGER_CHECK_MS 500  /* interval of checks for the end of processes that are no children of stepd */
#define MPI_FINISH_MS 6000   /* the helper itself waits less for its neighbours */
#define ORPHAN_CHECK_MS 5000 /* how often a finished step looks whether anybody can still come for its output */

bool step_tasks_ended(struct step *step) { return step->ended; }
bool step_is_terminated(struct step *step) { return step->terminated; }
bool step_complete(struct step *step) { return step->complete; }
bool step_is_lingering(struct step *step) { return step->lingering_told; }
void step_warned(struct step *step) { step->warned = true; }
const char *step_reason(struct step *step) { return step->reason; }

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void step_finish(struct step *step, unsigned linger_ms)
{
    step->finish_asked = true;
    step->finish_at_ms = now_ms() + linger_ms;
}

/* Kills everything of the step, now and until it is gone; an external step ends by this. */
void step_terminate(struct step *step)
{
    step->terminated = true;
    step->kill_at_ms = 0;
    step->kill_retry_ms = KILL_RETRY_FIRST_MS;
}

static void give_up(struct step *step, const char *why)
{
    if (!*step->reason) {
        snprintf(step->reason, sizeof step->reason, "%s", why);
        log_line(step, "launch failed: %s", why);
    }
    step_terminate(step);
}

/* Before a task runs: the status of a killed stepd tells whether one can have. */
static bool tell_begun(struct step *step)
{
    bool told = step->begun;
    step->begun = true;
    return told || status_write(step, false);
}

static void watch_launch(struct step *step)
{
    if (step->gate_open || step->terminated || !step->spec.task_count)
        return;
    bool all = true;
    for (size_t i = 0; i < step->spec.task_count; i++) {
        struct task *task = &step->spec.tasks[i];
        if (*task->reason)
            return give_up(step, task->reason);
        all &= task->ready;
    }
    if (!all || (step->spec.await_caller && !io_caller_came(step)))
        return;
    if (!tell_begun(step))
        return give_up(step, "the status file cannot be written");
    step->gate_open = true;
    step_debug(step, STEP_DEBUG_VERBOSE, "%s", step->spec.debug_says ? step->spec.debug_says : "");
    step_debug(step, STEP_DEBUG_VERBOSE, "starting %zu tasks", step->spec.task_count);
    char started[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%S", localtime_r(&now, &local));
    for (size_t i = 0; i < step->spec.task_count; i++) {
        step_debug(step, STEP_DEBUG_VERBOSE, "task %u (%d) started %s", step->spec.tasks[i].id,
                   (int)step->spec.tasks[i].pid, started);
        step_debug(step, STEP_DEBUG_VERBOSE + 1, "task %u: cpus %s", step->spec.tasks[i].id,
                   *step->spec.tasks[i].cpus ? step->spec.tasks[i].cpus : "as slurmd's");
    }
    for (size_t i = 0; i < step->spec.task_count && step->gate[1] >= 0; i++)
        if (write(step->gate[1], "g", 1) != 1)
            return give_up(step, "the tasks could not be released");
}

/* As Slurm says it, once per step. */
void step_watch_memory(struct step *step, struct task *task)
{
    char text[200];
    long kills = *step->reason ? 0 : procs_oom_kills(step);
    if (kills <= 0)
        return;
    snprintf(step->reason, sizeof step->reason, "OutOfMemory");
    int n = snprintf(text, sizeof text,
                     "Detected %ld oom_kill event%s in StepId=%s.%s. Some of the step tasks have been OOM Killed.",
                     kills, kills > 1 ? "s" : "", step->spec.job, step->spec.step);
    task_message(step, task, text, (size_t)n);
    if (step->spec.oom_kill_step)
        step_terminate(step);
}

bool step_is_aborted(struct step *step) { return step->bad_exit || mpi_is_aborted(step); }

static void task_ended(struct step *step, struct task *task, int status, const struct rusage *usage)
{
    task_read_ready(task);
    task->status = step->gate_open && task->ready ? status : STATUS_LAUNCH_FAILED;
    task->usage = *usage;
    clock_gettime(CLOCK_REALTIME, &task->ended);
    if (WIFSIGNALED(status))
        step_debug(step, STEP_DEBUG_VERBOSE, "task %u (%d) exited. Killed by signal %d.", task->id, (int)task->pid,
                   WTERMSIG(status));
    else
        step_debug(step, STEP_DEBUG_VERBOSE, "task %u (%d) exited with exit code %d.", task->id, (int)task->pid,
                   WEXITSTATUS(status));
    if (task->ready_fd >= 0)
        close(task->ready_fd);
    task->ready_fd = -1;
    io_close_input(task);
    mpi_task_ended(step, task);
    step_watch_memory(step, task);
    if (step->gate_open && !strcmp(step->reason, "OutOfMemory"))
        task->status = STATUS_OUT_OF_MEMORY;
    step->bad_exit |= step->spec.kill_on_bad_exit && step->gate_open && task->status != 0;
    task->epilog_pid = task->executed ? hooks_start_epilog(step, task) : 0;
    task->phase = task->epilog_pid ? TASK_EPILOG : TASK_DONE;
    io_told(step);
    step->changed = true;
    if (!step->gate_open)
        give_up(step, *task->reason ? task->reason : "a task ended before it could start");
}

static bool step_tasks_done(struct step *step)
{
    bool all = step->spec.task_count > 0;
    for (size_t i = 0; i < step->spec.task_count && all; i++)
        all = step->spec.tasks[i].phase == TASK_DONE;
    return all;
}

/* Which is no process of the job's. */
static bool only_helper_is_left(struct step *step)
{
    return mpi_is_there(step) && procs_signal_children_tree(step, 0) <= (step->spec.by_group ? 0 : 1);
}

static void reap(struct step *step)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0) {
            if (step->spec.wait_children && step_tasks_done(step) && (pid < 0 || only_helper_is_left(step)))
                step->ended = true;
            /* who has left its group does not hold the step */
            if ((pid < 0 || step->spec.by_group) && step->ended && !step->complete && !mpi_is_there(step)
                && !procs_are_left(step))
                step->complete = step->changed = true;
            return;
        }
        if (mpi_reaped(step, pid) || step->lingering)
            step->kill_at_ms = 0;
        for (size_t i = 0; i < step->spec.task_count; i++) {
            struct task *task = &step->spec.tasks[i];
            if (task->phase == TASK_RUNNING && task->pid == pid) {
                task_ended(step, task, status, &usage);
            } else if (task->phase == TASK_EPILOG && task->epilog_pid == pid) {
                hooks_epilog_ended(task);
                task->phase = TASK_DONE;
                io_told(step);
                step->changed = true;
            }
        }
        step->ended |= step_tasks_done(step) && !step->spec.wait_children;
    }
}

static void on_signal(struct step *step)
{
    struct signalfd_siginfo info;
    while (read(step->signal_fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGPIPE)
            log_line(step, "ignored signal %u from process %u of uid %u", info.ssi_signo, info.ssi_pid, info.ssi_uid);
    reap(step);
}

/* After the last task (or on demand) whatever is left is killed, again and again until nothing is. */
static void kill_leftovers(struct step *step)
{
    if ((!step->ended && !step->terminated) || step->complete || now_ms() < step->kill_at_ms)
        return;
    if (step->spec.external && !step->spec.task_count && step->terminated)
        step->ended = true;
    if (!step->terminated && mpi_is_there(step) && !step->mpi_waited) {
        step->mpi_waited = true;
        mpi_finish(step);
        step->kill_at_ms = now_ms() + MPI_FINISH_MS;
        return;
    }
    if (step->spec.lingers && !step->terminated && procs_linger(step, step->warned)) {
        step->lingering = true;
        step->kill_at_ms = now_ms() + LINGER_CHECK_MS;
        return;
    }
    if (mpi_is_there(step))
        procs_signal_tasks(step, SIGKILL); /* first, or they would say that they have lost it */
    mpi_kill(step);
    procs_signal_children_tree(step, SIGKILL);
    procs_kill_cgroups(step);
    step->kill_at_ms = now_ms() + step->kill_retry_ms;
    step->kill_retry_ms = step->kill_retry_ms * 2 > KILL_RETRY_MOST_MS ? KILL_RETRY_MOST_MS : step->kill_retry_ms * 2;
    reap(step);
}

static int timeout_ms(struct step *step)
{
    long long now = now_ms(), at = -1;
    if ((step->ended || step->terminated) && !step->complete)
        at = step->kill_at_ms;
    if (step->complete)
        at = step->finish_asked ? step->finish_at_ms : now + ORPHAN_CHECK_MS;
    if (at < 0)
        return -1;
    return at <= now ? 0 : (int)(at - now);
}

/* Without its directory no slurmd will ever find this step again. */
static bool is_orphaned(void)
{
    struct stat st;
    return stat(".", &st) < 0 || st.st_nlink == 0;
}

static bool may_leave(struct step *step)
{
    return step->complete
        && (io_all_delivered(step) || (step->finish_asked && now_ms() >= step->finish_at_ms) || is_orphaned());
}

static void run_loop(struct step *step)
{
    while (!may_leave(step)) {
        io_serve(step, timeout_ms(step), step->signal_fd, on_signal);
        watch_launch(step);
        kill_leftovers(step);
        if (step->complete)
            pam_finish(step);
        if (step->complete)
            mpi_clean(step);
        if (step->complete && step->spec.by_group)
            io_leave_outputs(step);
        if (step->changed) {
            step->changed = false;
            status_write(step, true);
        }
        if (step->lingering && !step->lingering_told) {
            step->lingering_told = true;
            serve_tell_lingering(step);
        }
    }
    io_last_words(step);
}

/* A file that several targets name is truncated once and appended to by all. */
static void share_files(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count * 2 && step->spec.task_count <= 4096; i++) {
        struct target *later = &step->spec.tasks[i / 2].target[1 + i % 2];
        for (size_t j = 0; j < i && later->kind == TARGET_FILE; j++) {
            struct target *first = &step->spec.tasks[j / 2].target[1 + j % 2];
            if (first->kind != TARGET_FILE || strcmp(first->path, later->path))
                continue;
            first->flags |= O_APPEND;
            later->flags = (later->flags & ~O_TRUNC) | O_APPEND;
            break;
        }
    }
}

static bool start_tasks(struct step *step)
{
    bool plain = task_all_plain(step), enters = true;
    if (!plain && pipe2(step->gate, O_CLOEXEC) < 0)
        return false;
    share_files(step);
    environment_prepare(step);
    if (step->spec.namespace && step->spec.task_count && !namespace_adopt(step->spec.namespace)) {
        snprintf(step->spec.tasks[0].reason, sizeof step->spec.tasks[0].reason, "cannot enter the job's processes: %s",
                 strerror(errno));
        enters = false;
    }
    if (plain && !tell_begun(step))
        return false;
    for (size_t i = 0; i < step->spec.task_count; i++) {
        struct task *task = &step->spec.tasks[i];
        if (enters && task_start(step, task, plain ? NULL : step->gate))
            continue;
        for (size_t j = i; j < step->spec.task_count; j++) {
            struct task *never = &step->spec.tasks[j];
            never->phase = TASK_DONE;
            never->status = STATUS_LAUNCH_FAILED;
            never->out[0].eof = never->out[1].eof = true;
        }
        step->ended = i == 0;
        step->changed = true;
        give_up(step, task->reason);
        break;
    }
    for (size_t i = 0; i < step->spec.task_count && plain; i++)
        task_read_ready(&step->spec.tasks[i]);
    if (plain)
        watch_launch(step);
    return true;
}

static void redirect(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close(null);
}

static bool take_signals(struct step *step)
{
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < 5; i++) /* a fault of stepd's own must end it */
        sigdelset(&all, (int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}[i]);
    sigprocmask(SIG_SETMASK, &all, NULL);
    /* once for all tasks; by the system call itself, since the C library hides two signals, which a caller may have
     * left ignored */
    static const unsigned long all_default[8];
    for (int s = 1; s <= 64; s++)
        syscall(SYS_rt_sigaction, s, all_default, NULL, (size_t)8);
    step->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    return step->signal_fd >= 0;
}

/* Says on `answer`, behind `prefix`, that the step stands or why it does not. One write: others may answer there too.
 */
static void send_answer(int answer, const char *prefix, const char *text)
{
    char line[500];
    int n = snprintf(line, sizeof line, "%s%s\n", prefix, text);
    ssize_t ignored = write(answer, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
    (void)ignored;
    close(answer);
}

/* The step's process, in the step's spool directory with its specification taken: runs the step to its end. */
void step_main(struct step *step, int answer, const char *prefix)
{
    char error[300] = "", good[32];
    const char *socket_path = step->spec.socket_path ? step->spec.socket_path : "socket";
    redirect();
    step->answer = answer;
    for (size_t i = 0; i < step->spec.own_cgroups.count && !*error; i++)
        procs_join_cgroup(step->spec.own_cgroups.items[i], getpid(), error, sizeof error);
    if (!*error && !pam_begin(step, error, sizeof error) && !*error)
        snprintf(error, sizeof error, "UsePAM: no session");
    /* the first status names this process before any task is there */
    if (!*error && (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || !take_signals(step) || !status_write(step, false)))
        snprintf(error, sizeof error, "cannot set up: %s", strerror(errno));
    if (!*error && !io_open(step, socket_path))
        snprintf(error, sizeof error, "cannot listen on %s: %s", socket_path, strerror(errno));
    if (!*error)
        mpi_begin(step, error, sizeof error);
    if (!*error && !start_tasks(step))
        snprintf(error, sizeof error, "cannot start the tasks: %s", strerror(errno));
    if (*error) {
        pam_finish(step);
        log_line(step, "%s", error);
        send_answer(answer, prefix, error);
        _exit(1);
    }
    status_write(step, false);
    snprintf(good, sizeof good, "ok %d", (int)getpid());
    send_answer(answer, prefix, good);
    run_loop(step);
    unlink(socket_path);
    _exit(0);
}

/* What ps shows, as far as the original arguments leave room. */
void step_title(struct step *step, const char *title)
{
    size_t n = strlen(title);
    if (n < step->title.room) {
        memset(step->title.place, 0, step->title.room);
        memcpy(step->title.place, title, n);
    }
}

static int await_answer(int fd)
{
    char text[400];
    size_t have = 0;
    ssize_t n;
    while (have < sizeof text - 1
           && ((n = read(fd, text + have, sizeof text - 1 - have)) > 0 || (n < 0 && errno == EINTR)))
        have += n > 0 ? (size_t)n : 0;
    text[have] = 0;
    bool good = !strncmp(text, "ok ", 3);
    fprintf(good ? stdout : stderr, "%s", have ? text : "slurmstepd ended while it was starting\n");
    return good ? 0 : 1;
}

/* It outlives its slurmd: with that one's port inherited no later slurmd could listen, and srun would not get back. */
static void close_inherited(void)
{
    if (syscall(SYS_close_range, 3u, ~0u, 0u) < 0)
        for (int fd = 3; fd < DESCRIPTORS_WITHOUT_CLOSE_RANGE; fd++)
            close(fd);
}

/* What is not 0 in a step that has not begun. */
static void step_init(struct step *step)
{
    step->answer = step->log_fd = step->signal_fd = step->gate[0] = step->gate[1] = -1;
    step->io.listener = step->status.fd = step->mpi.control = step->mpi.listener = step->launch.ready_fd = -1;
    step->kill_retry_ms = KILL_RETRY_FIRST_MS;
}

int main(int argc, char **argv)
{
    static struct step state;
    struct step *step = &state;
    char error[400];
    int answer[2];
    if (argc == 2 && !strcmp(argv[1], "-V")) {
        puts("slurm 26.05.3");
        return 0;
    }
    if (argc == 2 && !strcmp(argv[1], "--pam")) {
        bool there = pam_load(error, sizeof error);
        printf("%s\n", there ? "ok" : error);
        return there ? 0 : 1;
    }
    if (argc == 6 && !strcmp(argv[1], "--container"))
        return container_main(argv + 2);
    if (argc > 2 && !strcmp(argv[1], "--namespace"))
        return namespace_main(argc - 2, argv + 2);
    if (argc != 2) {
        fprintf(stderr, "usage: slurmstepd LAUNCH_SPECIFICATION\n");
        return 2;
    }
    step_init(step);
    tzset(); /* before a task has another root directory, and with it another /etc/localtime */
    step->title.place = argv[0];
    step->title.room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
    close_inherited();
    if (!strncmp(argv[1], "--serve", 7))
        return serve_requests(step);
    if (!spec_read(step, argv[1], error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    char *path = strdup(argv[1]);
    bool entered = path && chdir(dirname(path)) == 0 && pipe2(answer, O_CLOEXEC) == 0;
    if (!entered)
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
    free(path);
    if (!entered)
        return 1;
    umask(077);
    pid_t first = fork();
    if (first == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        close(answer[0]);
        char title[128];
        snprintf(title, sizeof title, "slurmstepd: [%s.%s]", step->spec.job, step->spec.step);
        step_title(step, title);
        step_main(step, answer[1], "");
    }
    close(answer[1]);
    if (first > 0)
        waitpid(first, NULL, 0);
    return await_answer(answer[0]);
}
