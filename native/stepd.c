/*
 * slurmstepd SPEC: starts the step described in the file, answers when its tasks are on their way, and stays behind as
 * their parent until the last process is gone, the statuses are on disk, and the kept output is acknowledged.
 * slurmstepd --serve: does so for every specification that comes on standard input (serve.c).
 */
#define _GNU_SOURCE
#include "stepd.h"
#include "environment.h"

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

static int gate[2] = {-1, -1}; /* there if any of the tasks could fail alone before it runs */
static int signal_fd = -1;
static bool gate_open, terminated, warned, ended, complete, changed;
static bool lingering, lingering_told;
static char reason[300];
static bool finish_asked, mpi_waited;
static long long finish_at_ms, kill_at_ms;
static int kill_retry_ms = KILL_RETRY_FIRST_MS;

bool step_tasks_ended(void) { return ended; }
bool step_is_terminated(void) { return terminated; }
bool step_complete(void) { return complete; }
bool step_is_lingering(void) { return lingering_told; }
void step_warned(void) { warned = true; }
const char *step_reason(void) { return reason; }

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Most steps have nothing to remark: the file is made with the first line. */
static void write_log(const char *text)
{
    static int log = -1;
    if (log < 0)
        log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t ignored = write(log < 0 ? 2 : log, text, strlen(text));
    (void)ignored;
}

void log_line(const char *format, ...)
{
    char text[600];
    struct timespec t;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &local);
    size_t n = strftime(text, sizeof text, "[%Y-%m-%dT%H:%M:%S", &local);
    n += (size_t)snprintf(text + n, sizeof text - n, ".%03ld] [%s.%s] ", t.tv_nsec / 1000000, spec.job, spec.step);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + n, sizeof text - n - 1, format, arguments);
    va_end(arguments);
    strcat(text, "\n");
    write_log(text);
}

void step_finish(unsigned linger_ms)
{
    finish_asked = true;
    finish_at_ms = now_ms() + linger_ms;
}

/* Kills everything of the step, now and until it is gone; an external step ends by this. */
void step_terminate(void)
{
    terminated = true;
    kill_at_ms = 0;
    kill_retry_ms = KILL_RETRY_FIRST_MS;
}

static void give_up(const char *why)
{
    if (!*reason) {
        snprintf(reason, sizeof reason, "%s", why);
        log_line("launch failed: %s", why);
    }
    step_terminate();
}

static void watch_launch(void)
{
    if (gate_open || terminated || !spec.task_count)
        return;
    bool all = true;
    for (size_t i = 0; i < spec.task_count; i++) {
        struct task *task = &spec.tasks[i];
        if (*task->reason)
            return give_up(task->reason);
        all &= task->ready;
    }
    if (!all || (spec.await_caller && !io_caller_came()))
        return;
    gate_open = true;
    step_debug(STEP_DEBUG_VERBOSE, "%s", spec.debug_says ? spec.debug_says : "");
    step_debug(STEP_DEBUG_VERBOSE, "starting %zu tasks", spec.task_count);
    char started[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%S", localtime_r(&now, &local));
    for (size_t i = 0; i < spec.task_count; i++) {
        step_debug(STEP_DEBUG_VERBOSE, "task %u (%d) started %s", spec.tasks[i].id, (int)spec.tasks[i].pid, started);
        step_debug(STEP_DEBUG_VERBOSE + 1, "task %u: cpus %s", spec.tasks[i].id,
                   *spec.tasks[i].cpus ? spec.tasks[i].cpus : "as slurmd's");
    }
    for (size_t i = 0; i < spec.task_count && gate[1] >= 0; i++)
        if (write(gate[1], "g", 1) != 1)
            return give_up("the tasks could not be released");
}

/* As Slurm says it, once per step. */
void step_watch_memory(struct task *task)
{
    char text[200];
    long kills = *reason ? 0 : procs_oom_kills();
    if (kills <= 0)
        return;
    snprintf(reason, sizeof reason, "OutOfMemory");
    int n = snprintf(text, sizeof text,
                     "Detected %ld oom_kill event%s in StepId=%s.%s. Some of the step tasks have been OOM Killed.",
                     kills, kills > 1 ? "s" : "", spec.job, spec.step);
    task_message(task, text, (size_t)n);
    if (spec.oom_kill_step)
        step_terminate();
}

static bool bad_exit;

bool step_is_aborted(void) { return bad_exit || mpi_is_aborted(); }

static void task_ended(struct task *task, int status, const struct rusage *usage)
{
    task_read_ready(task);
    task->status = gate_open && task->ready ? status : STATUS_LAUNCH_FAILED;
    task->usage = *usage;
    clock_gettime(CLOCK_REALTIME, &task->ended);
    if (WIFSIGNALED(status))
        step_debug(STEP_DEBUG_VERBOSE, "task %u (%d) exited. Killed by signal %d.", task->id, (int)task->pid,
                   WTERMSIG(status));
    else
        step_debug(STEP_DEBUG_VERBOSE, "task %u (%d) exited with exit code %d.", task->id, (int)task->pid,
                   WEXITSTATUS(status));
    if (task->ready_fd >= 0)
        close(task->ready_fd);
    task->ready_fd = -1;
    io_close_input(task);
    mpi_task_ended(task);
    step_watch_memory(task);
    if (gate_open && !strcmp(reason, "OutOfMemory"))
        task->status = STATUS_OUT_OF_MEMORY;
    bad_exit |= spec.kill_on_bad_exit && gate_open && task->status != 0;
    task->epilog_pid = task->executed ? hooks_start_epilog(task) : 0;
    task->phase = task->epilog_pid ? TASK_EPILOG : TASK_DONE;
    io_told();
    changed = true;
    if (!gate_open)
        give_up(*task->reason ? task->reason : "a task ended before it could start");
}

static bool step_tasks_done(void)
{
    bool all = spec.task_count > 0;
    for (size_t i = 0; i < spec.task_count && all; i++)
        all = spec.tasks[i].phase == TASK_DONE;
    return all;
}

/* Which is no process of the job's. */
static bool only_helper_is_left(void)
{
    return mpi_is_there() && procs_signal_children_tree(0) <= (spec.by_group ? 0 : 1);
}

static void reap(void)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0) {
            if (spec.wait_children && step_tasks_done() && (pid < 0 || only_helper_is_left()))
                ended = true;
            /* who has left its group does not hold the step */
            if ((pid < 0 || spec.by_group) && ended && !complete && !mpi_is_there() && !procs_are_left())
                complete = changed = true;
            return;
        }
        if (mpi_reaped(pid) || lingering)
            kill_at_ms = 0;
        for (size_t i = 0; i < spec.task_count; i++) {
            struct task *task = &spec.tasks[i];
            if (task->phase == TASK_RUNNING && task->pid == pid) {
                task_ended(task, status, &usage);
            } else if (task->phase == TASK_EPILOG && task->epilog_pid == pid) {
                hooks_epilog_ended(task);
                task->phase = TASK_DONE;
                io_told();
                changed = true;
            }
        }
        ended |= step_tasks_done() && !spec.wait_children;
    }
}

static void on_signal(void)
{
    struct signalfd_siginfo info;
    while (read(signal_fd, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGPIPE)
            log_line("ignored signal %u from process %u of uid %u", info.ssi_signo, info.ssi_pid, info.ssi_uid);
    reap();
}

/* After the last task (or on demand) whatever is left is killed, again and again until nothing is. */
static void kill_leftovers(void)
{
    if ((!ended && !terminated) || complete || now_ms() < kill_at_ms)
        return;
    if (spec.external && !spec.task_count && terminated)
        ended = true;
    if (!terminated && mpi_is_there() && !mpi_waited) {
        mpi_waited = true;
        mpi_finish();
        kill_at_ms = now_ms() + MPI_FINISH_MS;
        return;
    }
    if (spec.lingers && !terminated && procs_linger(warned)) {
        lingering = true;
        kill_at_ms = now_ms() + LINGER_CHECK_MS;
        return;
    }
    if (mpi_is_there())
        procs_signal_tasks(SIGKILL); /* first, or they would say that they have lost it */
    mpi_kill();
    procs_signal_children_tree(SIGKILL);
    procs_kill_cgroups();
    kill_at_ms = now_ms() + kill_retry_ms;
    kill_retry_ms = kill_retry_ms * 2 > KILL_RETRY_MOST_MS ? KILL_RETRY_MOST_MS : kill_retry_ms * 2;
    reap();
}

static int timeout_ms(void)
{
    long long now = now_ms(), at = -1;
    if ((ended || terminated) && !complete)
        at = kill_at_ms;
    if (complete)
        at = finish_asked ? finish_at_ms : now + ORPHAN_CHECK_MS;
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

static bool over(void)
{
    return complete && (io_all_delivered() || (finish_asked && now_ms() >= finish_at_ms) || is_orphaned());
}

static void serve(void)
{
    while (!over()) {
        io_serve(timeout_ms(), signal_fd, on_signal);
        watch_launch();
        kill_leftovers();
        if (complete)
            pam_finish();
        if (complete)
            mpi_clean();
        if (complete && spec.by_group)
            io_leave_outputs();
        if (changed) {
            changed = false;
            status_write(true);
        }
        if (lingering && !lingering_told) {
            lingering_told = true;
            serve_tell_lingering();
        }
    }
    io_last_words();
}

/* A file that several targets name is truncated once and appended to by all. */
static void share_files(void)
{
    for (size_t i = 0; i < spec.task_count * 2 && spec.task_count <= 4096; i++) {
        struct target *later = &spec.tasks[i / 2].target[1 + i % 2];
        for (size_t j = 0; j < i && later->kind == TARGET_FILE; j++) {
            struct target *first = &spec.tasks[j / 2].target[1 + j % 2];
            if (first->kind != TARGET_FILE || strcmp(first->path, later->path))
                continue;
            first->flags |= O_APPEND;
            later->flags = (later->flags & ~O_TRUNC) | O_APPEND;
            break;
        }
    }
}

static bool start_tasks(void)
{
    bool plain = task_all_plain(), enters = true;
    if (!plain && pipe2(gate, O_CLOEXEC) < 0)
        return false;
    share_files();
    environment_prepare();
    if (spec.namespace && spec.task_count && !namespace_adopt(spec.namespace)) {
        snprintf(spec.tasks[0].reason, sizeof spec.tasks[0].reason, "cannot enter the job's processes: %s",
                 strerror(errno));
        enters = false;
    }
    for (size_t i = 0; i < spec.task_count; i++) {
        struct task *task = &spec.tasks[i];
        if (enters && task_start(task, plain ? NULL : gate))
            continue;
        for (size_t j = i; j < spec.task_count; j++) {
            struct task *never = &spec.tasks[j];
            never->phase = TASK_DONE;
            never->status = STATUS_LAUNCH_FAILED;
            never->out[0].eof = never->out[1].eof = true;
        }
        ended = i == 0;
        changed = true;
        give_up(task->reason);
        break;
    }
    for (size_t i = 0; i < spec.task_count && plain; i++)
        task_read_ready(&spec.tasks[i]);
    if (plain)
        watch_launch();
    return true;
}

static void redirect(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close(null);
}

static bool take_signals(void)
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
    signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    return signal_fd >= 0;
}

int step_answer = -1;

/* Says on `answer`, behind `prefix`, that the step stands or why it does not. One write: others may answer there too.
 */
static void say(int answer, const char *prefix, const char *text)
{
    char line[500];
    int n = snprintf(line, sizeof line, "%s%s\n", prefix, text);
    ssize_t ignored = write(answer, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
    (void)ignored;
    close(answer);
}

/* The step's process, in the step's spool directory with its specification taken: runs the step to its end. */
void step_main(int answer, const char *prefix)
{
    char error[300] = "", good[32];
    const char *socket_path = spec.socket_path ? spec.socket_path : "socket";
    redirect();
    step_answer = answer;
    for (size_t i = 0; i < spec.own_cgroups.count && !*error; i++)
        procs_join_cgroup(spec.own_cgroups.items[i], getpid(), error, sizeof error);
    if (!*error && !pam_begin(error, sizeof error) && !*error)
        snprintf(error, sizeof error, "UsePAM: no session");
    /* the first status names this process before any task is there */
    if (!*error && (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || !take_signals() || !status_write(false)))
        snprintf(error, sizeof error, "cannot set up: %s", strerror(errno));
    if (!*error && !io_open(socket_path))
        snprintf(error, sizeof error, "cannot listen on %s: %s", socket_path, strerror(errno));
    if (!*error)
        mpi_begin(error, sizeof error);
    if (!*error && !start_tasks())
        snprintf(error, sizeof error, "cannot start the tasks: %s", strerror(errno));
    if (*error) {
        pam_finish();
        log_line("%s", error);
        say(answer, prefix, error);
        _exit(1);
    }
    status_write(false);
    snprintf(good, sizeof good, "ok %d", (int)getpid());
    say(answer, prefix, good);
    serve();
    unlink(socket_path);
    _exit(0);
}

static char *title_at;
static size_t title_room;

/* What ps shows, as far as the original arguments leave room. */
void step_title(const char *title)
{
    size_t n = strlen(title);
    if (n < title_room) {
        memset(title_at, 0, title_room);
        memcpy(title_at, title, n);
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

int main(int argc, char **argv)
{
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
    tzset(); /* before a task has another root directory, and with it another /etc/localtime */
    title_at = argv[0];
    title_room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
    close_inherited();
    if (!strncmp(argv[1], "--serve", 7))
        return serve_requests();
    if (!spec_read(argv[1], error, sizeof error)) {
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
        snprintf(title, sizeof title, "slurmstepd: [%s.%s]", spec.job, spec.step);
        step_title(title);
        step_main(answer[1], "");
    }
    close(answer[1]);
    if (first > 0)
        waitpid(first, NULL, 0);
    return await_answer(answer[0]);
}
