/*
 * What a child does between fork and exec. It fails closed: whatever cannot be set up as asked is reported through the
 * ready pipe and the task never runs. Files are opened only after the switch to the user.
 */
#define _GNU_SOURCE
#include "step.h"
#include "environment.h"
#include "hooks.h"
#include "log.h"
#include "namespace.h"
#include "procs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

struct pipes {
    int child[3], parent[3], master, slave;
};

static void fail(struct step *step, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
static void remark(struct step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct step *step, const char *format, ...)
{
    char text[300] = "E";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 1, sizeof text - 1, format, arguments);
    va_end(arguments);
    ssize_t ignored = write(step->launch.ready_fd, text, strlen(text));
    (void)ignored;
    _exit(1);
}

static void remark(struct step *step, const char *format, ...)
{
    size_t have = strlen(step->launch.remarks);
    va_list arguments;
    va_start(arguments, format);
    size_t n =
        log_prefix(step->spec.log_time, step->launch.remarks + have, sizeof step->launch.remarks - have, "error: ");
    vsnprintf(step->launch.remarks + have + n, sizeof step->launch.remarks - have - n, format, arguments);
    va_end(arguments);
}

/* The lines of --cpu-bind=verbose and --mem-bind=verbose: no errors, and only now is the process id known. */
static void add_remarks(struct step *step, const struct task *task)
{
    for (size_t i = 0; i + 1 < task->binding_lines.count; i += 2) {
        size_t have = strlen(step->launch.remarks);
        snprintf(step->launch.remarks + have, sizeof step->launch.remarks - have, "%s%d%s\n",
                 task->binding_lines.items[i], (int)getpid(), task->binding_lines.items[i + 1]);
    }
    for (size_t i = 0; i < task->remarks.count; i++) {
        size_t have = strlen(step->launch.remarks);
        snprintf(step->launch.remarks + have, sizeof step->launch.remarks - have, "%s\n", task->remarks.items[i]);
    }
    for (size_t i = 0; i < task->failing.count; i++)
        remark(step, "%s\n", task->failing.items[i]);
}

/* Memory comes from the NUMA nodes that "bind 0,1" or "prefer 0" name. */
static void bind_memory(struct step *step, const char *policy)
{
    enum { PREFERRED = 1, BIND = 2 };
    unsigned long mask[16] = {0};
    const char *at = strchr(policy, ' ');
    if (!at)
        return;
    for (char *end; *at; at = end) {
        unsigned long node = strtoul(at + 1, &end, 10);
        if (end == at + 1 || node >= sizeof mask * 8)
            fail(step, "bad memory policy %s", policy);
        mask[node / (8 * sizeof *mask)] |= 1ul << node % (8 * sizeof *mask);
    }
    if (syscall(SYS_set_mempolicy, *policy == 'b' ? BIND : PREFERRED, mask, sizeof mask * 8) < 0)
        remark(step, "set_mempolicy(%s): %s\n", policy, strerror(errno));
}

static void write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        length -= (size_t)n;
    }
}

static void bind_cpus(struct step *step, const char *list)
{
    if (!*list)
        return;
    const long most = 8192;
    cpu_set_t *set = CPU_ALLOC((size_t)most);
    size_t size = CPU_ALLOC_SIZE((size_t)most);
    CPU_ZERO_S(size, set);
    for (const char *at = list; *at;) {
        char *end;
        long low = strtol(at, &end, 10), high = low;
        if (end == at)
            fail(step, "bad cpu list %s", list);
        if (*end == '-') {
            at = end + 1;
            high = strtol(at, &end, 10);
        }
        if (low < 0 || high < low || high >= most || (*end && *end != ','))
            fail(step, "bad cpu list %s", list);
        for (long c = low; c <= high; c++)
            CPU_SET_S((size_t)c, size, set);
        at = *end ? end + 1 : end;
    }
    if (sched_setaffinity(0, size, set) < 0)
        remark(step, "sched_setaffinity(%s): %s\n", list, strerror(errno));
}

static void apply_limits(struct step *step)
{
    for (size_t i = 0; i < step->spec.limit_count; i++) {
        const struct limit *limit = &step->spec.limits[i];
        struct rlimit now;
        getrlimit((__rlimit_resource_t)limit->resource, &now);
        rlim_t hard_before = now.rlim_max;
        now.rlim_cur = limit->soft;
        if (limit->has_hard)
            now.rlim_max = limit->hard;
        if (now.rlim_max != RLIM_INFINITY && (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > now.rlim_max)
            && geteuid() == 0)
            now.rlim_max = now.rlim_cur;
        if (setrlimit((__rlimit_resource_t)limit->resource, &now) == 0)
            continue;
        now.rlim_max = hard_before;
        now.rlim_cur = limit->soft > hard_before ? hard_before : limit->soft;
        if (setrlimit((__rlimit_resource_t)limit->resource, &now) == 0 && limit->soft != RLIM_INFINITY)
            remark(step, "Can't propagate RLIMIT_%s of %llu from submit host: %s\n", limit->name,
                   (unsigned long long)limit->soft, strerror(EPERM));
    }
}

static void write_number(struct step *step, const char *path, int value)
{
    char text[16];
    int fd = open(path, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof text, "%d", value);
    if (fd < 0)
        return;
    if (write(fd, text, (size_t)n) < 0 && errno != EACCES && errno != EPERM)
        remark(step, "%s: %s\n", path, strerror(errno));
    close(fd);
}

/* Root becomes the user, and reads the ids back: nothing of the user's runs if any of them is not as asked. */
void task_become_user(struct step *step)
{
    if (geteuid() == 0) {
        if (setgroups(step->spec.group_count, step->spec.groups) < 0)
            fail(step, "setgroups: %s", strerror(errno));
        if (setresgid(step->spec.gid, step->spec.gid, step->spec.gid) < 0)
            fail(step, "setresgid(%u): %s", (unsigned)step->spec.gid, strerror(errno));
        if (setresuid(step->spec.uid, step->spec.uid, step->spec.uid) < 0)
            fail(step, "setresuid(%u): %s", (unsigned)step->spec.uid, strerror(errno));
        if (getgroups(0, NULL) != (int)step->spec.group_count)
            fail(step, "the supplementary groups are not as asked");
        gid_t rg, eg, sg;
        if (getresgid(&rg, &eg, &sg) < 0 || rg != step->spec.gid || eg != step->spec.gid || sg != step->spec.gid)
            fail(step, "the group id is not as asked");
    }
    uid_t ru, eu, su;
    if (getresuid(&ru, &eu, &su) < 0 || ru != step->spec.uid || eu != step->spec.uid || su != step->spec.uid)
        fail(step, "the user id is not as asked");
    if (step->spec.uid != 0 && setuid(0) == 0)
        fail(step, "the user id could be taken back");
}

/* Programs find TMPDIR set and there: the directory that the job names is made, /tmp stands in where it names none or
 * none can be made. */
static void make_tmpdir(struct step *step)
{
    static char otherwise[] = "TMPDIR=/tmp";
    struct stat st;
    const char *path = environment_value(step, "TMPDIR");
    bool exists = path && mkdir(path, 0700) < 0 && errno == EEXIST;
    int error = errno;
    if (path && (exists ? stat(path, &st) == 0 && S_ISDIR(st.st_mode) : access(path, F_OK) == 0))
        return;
    if (exists)
        remark(step, "TMPDIR [%s] is not a directory\n", path);
    else if (path)
        remark(step, "Unable to create TMPDIR [%s]: %s\n", path, strerror(error));
    if (path)
        remark(step, "Setting TMPDIR to /tmp\n");
    environment_set(step, otherwise);
}

static const char *const STREAM_NAMES[] = {"stdin", "stdout", "stderr"};

/* The directories that a file is to be in, as far as there are none. What cannot be made shows when the file is opened.
 */
static void make_directories(const char *path)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return;
        *slash = '/';
    }
}

/* A script's output file makes the directories that it is to be in: the working directory may be one of them. */
static void enter_directory(struct step *step, const struct task *task)
{
    if (chdir(step->spec.cwd) == 0)
        return;
    for (int i = 1; i < 3 && step->spec.is_batch && errno == ENOENT; i++)
        if (task->target[i].kind == TARGET_FILE && (make_directories(task->target[i].path), chdir(step->spec.cwd)) == 0)
            return;
    remark(step, "couldn't chdir to `%s': %s: going to /tmp instead\n", step->spec.cwd, strerror(errno));
    if (chdir("/tmp") < 0)
        fail(step, "couldn't chdir to /tmp: %s", strerror(errno));
}

static int open_file(struct step *step, const struct target *target, int stream)
{
    const char *path = target->kind == TARGET_NULL ? "/dev/null" : target->path;
    int flags = target->kind == TARGET_NULL ? (stream ? O_WRONLY : O_RDONLY) : target->flags;
    int fd = open(path, flags | O_NOCTTY, 0666);
    if (fd < 0 && errno == ENOENT && flags & O_CREAT) {
        make_directories(path);
        fd = open(path, flags | O_NOCTTY, 0666);
    }
    if (fd < 0)
        fail(step, "Could not open %s file %s: %s", STREAM_NAMES[stream], path, strerror(errno));
    return fd;
}

static int open_target(struct step *step, const struct target *target, int stream, int child_fd)
{
    if (target->kind == TARGET_STREAM || target->kind == TARGET_PTY || target->labelled)
        return child_fd;
    return open_file(step, target, stream);
}

/* Files that stepd writes are opened here all the same: as the user. It gets them before the task is ready. */
static void send_file(struct step *step, char which, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec payload = {.iov_base = &which, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &payload, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    memset(&control, 0, sizeof control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(step->launch.ready_fd, &message, MSG_NOSIGNAL) != 1)
        fail(step, "Could not hand over the %s file: %s", STREAM_NAMES[which - '0'], strerror(errno));
}

static void hand_over_files(struct step *step, const struct task *task)
{
    for (int i = 1; i < 3; i++) {
        if (!task->target[i].labelled)
            continue;
        int fd = open_file(step, &task->target[i], i);
        send_file(step, (char)('0' + i), fd);
        close(fd);
    }
}

/* Opens the three targets as the user, then puts them at 0, 1 and 2 and marks all others close-on-exec. */
static void place_descriptors(struct step *step, struct task *task, const struct pipes *pipes)
{
    int from[3];
    for (int i = 0; i < 3; i++) {
        if (task->target[i].kind == TARGET_SAME)
            from[i] = from[1];
        else
            from[i] = open_target(step, &task->target[i], i, pipes->child[i]);
        /* out of the way of 0-2, so that no later dup2 overwrites it */
        if (task->target[i].kind != TARGET_SAME && (from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 10)) < 0)
            fail(step, "dup: %s", strerror(errno));
    }
    for (int i = 0; i < 3; i++)
        if (dup2(from[i], i) < 0)
            fail(step, "dup2: %s", strerror(errno));
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        for (int fd = 3; fd < 1024; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* The one descriptor beyond those three that the task's program gets. */
static void keep_pmi(struct step *step, const struct task *task)
{
    static char entry[32];
    if (task->pmi_fd < 0)
        return;
    if (fcntl(task->pmi_fd, F_SETFD, 0) < 0)
        fail(step, "PMI: %s", strerror(errno));
    snprintf(entry, sizeof entry, "PMI_FD=%d", task->pmi_fd);
    environment_set(step, entry);
}

/* stepd handles and ignores none: it only blocks them. */
static void unblock_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Says that the task is ready; a file that is its standard error goes along, for stepd's messages. */
static bool send_ready(struct step *step, const struct task *task)
{
    const struct target *target = &task->target[task->target[2].kind == TARGET_SAME ? 1 : 2];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec ready = {.iov_base = "R", .iov_len = 1};
    struct msghdr message = {.msg_iov = &ready, .msg_iovlen = 1};
    if (target->kind == TARGET_FILE && !target->labelled) {
        int fd = 2;
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    return sendmsg(step->launch.ready_fd, &message, MSG_NOSIGNAL) == 1;
}

static void wait_for_gate(struct step *step, const struct task *task, int gate_read)
{
    char go;
    ssize_t n;
    if (!send_ready(step, task))
        _exit(1);
    if (gate_read < 0)
        return;
    while ((n = read(gate_read, &go, 1)) < 0 && errno == EINTR)
        continue;
    if (n != 1)
        _exit(1); /* the step was given up, or stepd is gone: a task must not start without its parent */
}

static void report_exec_failure(struct step *step, const char *program, int error)
{
    char text[PATH_MAX + 400], line[256] = "";
    size_t prefix = log_prefix(step->spec.log_time, text, sizeof text, "error: ");
    int fd = error == ENOENT ? open(program, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    if (n > 2 && line[0] == '#' && line[1] == '!') {
        char *name = line + 2 + strspn(line + 2, " \t");
        name[strcspn(name, " \t\n")] = 0;
        n = snprintf(text + prefix, sizeof text - prefix, "execve(): bad interpreter(%s): %s\n", name, strerror(error));
    } else {
        n = snprintf(text + prefix, sizeof text - prefix, "execve(): %s: %s\n", program, strerror(error));
    }
    n += (ssize_t)prefix;
    write_all(2, text, n < (ssize_t)sizeof text ? (size_t)n : sizeof text - 1);
}

_Noreturn static void child(struct step *step, struct task *task, const struct pipes *pipes, int gate_read)
{
    char error[300] = "";
    step->launch.remarks[0] = 0;
    setsid();
    for (size_t i = 0; i < step->spec.cgroups.count && !*error; i++)
        procs_join_cgroup(step->spec.cgroups.items[i], getpid(), error, sizeof error);
    for (size_t i = 0; i < task->cgroups.count && !*error; i++)
        procs_join_cgroup(task->cgroups.items[i], getpid(), error, sizeof error);
    if (*error)
        fail(step, "%s", error);
    if (pipes->slave >= 0 && ioctl(pipes->slave, TIOCSCTTY, 0) < 0)
        fail(step, "cannot make the terminal the controlling one: %s", strerror(errno));
    if (step->spec.has_oom)
        write_number(step, "/proc/self/oom_score_adj", step->spec.oom_score_adj);
    if (step->spec.has_nice)
        setpriority(PRIO_PROCESS, 0, step->spec.nice);
    bind_cpus(step, task->cpus);
    bind_memory(step, task->memory);
    add_remarks(step, task);
    apply_limits(step);
    /* last of what needs the node's root: in a user namespace that is gone */
    if (step->spec.namespace && !namespace_join(step->spec.namespace))
        fail(step, "cannot enter the job's namespace %s: %s", step->spec.namespace, strerror(errno));
    if (step->spec.channel && !namespace_channel(step->spec.channel, step->spec.uid, step->spec.gid))
        fail(step, "cannot make the device of IMEX channel %s: %s", step->spec.channel, strerror(errno));
    task_become_user(step);
    umask(step->spec.umask);
    enter_directory(step, task);
    hand_over_files(step, task);
    place_descriptors(step, task, pipes);
    environment_make(step, task);
    make_tmpdir(step);
    keep_pmi(step, task);
    write_all(2, step->launch.remarks, strlen(step->launch.remarks));
    unblock_signals();
    wait_for_gate(step, task, gate_read);
    if (task->failing.count)
        _exit(1);
    char pid_entry[40];
    snprintf(pid_entry, sizeof pid_entry, "SLURM_TASK_PID=%d", (int)getpid());
    environment_set(step, pid_entry);
    hooks_run_prologs(step);
    char **argv = task->argv.count ? task->argv.items : step->spec.argv.items;
    char found[PATH_MAX];
    const char *program =
        task->program ? task->program : environment_search(step, argv[0], step->spec.cwd, found, sizeof found);
    if (!task->program)
        argv[0] = (char *)program;
    /* A script just written is "busy" while some process forked in that moment still holds it open: soon over. */
    for (int tries = 0; tries < 200; tries++) {
        execve(program, argv, environment_list(step));
        if (errno != ETXTBSY)
            break;
        usleep(10000);
    }
    int error_number = errno;
    report_exec_failure(step, program, error_number);
    _exit(error_number);
}

static bool make_terminal(struct step *step, struct pipes *pipes)
{
    pipes->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (pipes->master < 0 || unlockpt(pipes->master) < 0)
        return false;
    pipes->slave = ioctl(pipes->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (pipes->slave < 0 || fchown(pipes->slave, step->spec.uid, (gid_t)-1) < 0)
        return false;
    struct winsize size = {.ws_row = (unsigned short)step->spec.rows, .ws_col = (unsigned short)step->spec.columns};
    return ioctl(pipes->master, TIOCSWINSZ, &size) == 0;
}

static bool make_pipes(struct step *step, struct task *task, struct pipes *pipes)
{
    bool terminal = false;
    *pipes = (struct pipes){{-1, -1, -1}, {-1, -1, -1}, -1, -1};
    for (int i = 0; i < 3; i++)
        terminal |= task->target[i].kind == TARGET_PTY;
    if (terminal && !make_terminal(step, pipes))
        return false;
    for (int i = 0; i < 3; i++) {
        int fds[2];
        if (task->target[i].kind == TARGET_PTY) {
            pipes->child[i] = pipes->slave;
            if (i < 2 && (pipes->parent[i] = fcntl(pipes->master, F_DUPFD_CLOEXEC, 3)) < 0)
                return false;
        } else if (task->target[i].kind == TARGET_STREAM || task->target[i].labelled) {
            if (pipe2(fds, O_CLOEXEC) < 0)
                return false;
            pipes->child[i] = fds[i ? 1 : 0];
            pipes->parent[i] = fds[i ? 0 : 1];
            fcntl(pipes->parent[i], F_SETFL, O_NONBLOCK);
        }
    }
    return true;
}

static void close_pipes(const struct pipes *pipes, bool parents_too)
{
    for (int i = 0; i < 3; i++) {
        if (pipes->child[i] >= 0 && pipes->child[i] != pipes->slave)
            close(pipes->child[i]);
        if (parents_too && pipes->parent[i] >= 0)
            close(pipes->parent[i]);
    }
    if (pipes->slave >= 0)
        close(pipes->slave);
    if (pipes->master >= 0)
        close(pipes->master);
}

/*
 * Nothing between the fork and the program may wait or fail for this task alone: the step needs no gate, and stepd need
 * not be copied. That copy, and what both write to afterwards, is a fifth of what a task's start costs.
 */
static bool is_plain(const struct task *task)
{
    for (int i = 0; i < 3; i++)
        if (task->target[i].kind == TARGET_FILE || task->target[i].kind == TARGET_PTY)
            return false;
    return task->pmi_fd < 0;
}

bool task_all_plain(struct step *step)
{
    bool all = !step->spec.namespace && !step->spec.channel && !step->spec.pam && !step->spec.prologs.count
            && !step->spec.user_prologs.count && !step->spec.debug && !step->spec.await_caller;
    for (size_t i = 0; i < step->spec.task_count && all; i++)
        all = is_plain(&step->spec.tasks[i]);
    return all;
}

/* The child of a vfork runs in stepd's memory while stepd stands still: what it changes there (remarks, the
 * environment) is made anew for each. */
static pid_t fork_child(struct step *step, struct task *task, const struct pipes *pipes, const int *ready,
                        const int *gate)
{
    struct strings *argv = task->argv.count ? &task->argv : &step->spec.argv;
    char *first = argv->count ? argv->items[0] : NULL;
    pid_t pid = gate ? fork() : vfork();
    if (pid != 0) {
        if (argv->count)
            argv->items[0] = first; /* the child names the file that it found */
        return pid;
    }
    step->launch.ready_fd = ready[1];
    if (gate) {
        close(ready[0]);
        close(gate[1]);
        if (step->answer >= 0)
            close(step->answer); /* a reader there would wait as long as this task does */
    }
    child(step, task, pipes, gate ? gate[0] : -1);
}

/* Forks the task up to its gate, or without one (task_all_plain) into its program. False: the reason is in the task. */
bool task_start(struct step *step, struct task *task, const int *gate)
{
    struct pipes pipes;
    int ready[2];
    clock_gettime(CLOCK_REALTIME, &task->started);
    if (!make_pipes(step, task, &pipes) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ready) < 0) {
        snprintf(task->reason, sizeof task->reason, "IO setup failed: %s", strerror(errno));
        close_pipes(&pipes, true);
        return false;
    }
    task->pid = fork_child(step, task, &pipes, ready, gate);
    int error = errno;
    close(ready[1]);
    if (task->pmi_fd >= 0)
        close(task->pmi_fd);
    close_pipes(&pipes, task->pid < 0);
    if (task->pid < 0) {
        close(ready[0]);
        task->pid = 0;
        snprintf(task->reason, sizeof task->reason, "fork: %s", strerror(error));
        return false;
    }
    task->phase = TASK_RUNNING;
    task->ready_fd = ready[0];
    fcntl(ready[0], F_SETFL, O_NONBLOCK);
    task->in.fd = pipes.parent[0];
    task->in.wanted = pipes.parent[0] >= 0;
    for (int i = 0; i < 2; i++) {
        task->out[i].fd = pipes.parent[i + 1];
        task->out[i].wanted = pipes.parent[i + 1] >= 0;
        task->out[i].eof = pipes.parent[i + 1] < 0;
        task->out[i].labelled = task->target[i + 1].labelled;
    }
    return true;
}

static ssize_t receive_ready(struct task *task, char *text, size_t room)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec into = {.iov_base = text, .iov_len = room};
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(task->ready_fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return n;
    int *place = *text == '1' ? &task->out[0].sink : *text == '2' ? &task->out[1].sink : &task->message_fd;
    if (*place < 0)
        memcpy(place, CMSG_DATA(head), sizeof(int));
    if (place != &task->message_fd && *place >= 0)
        fcntl(*place, F_SETFL, fcntl(*place, F_GETFL) | O_NONBLOCK);
    return n;
}

/* Takes what the child has said: it is ready, or why not; the connection's end says that it became the program. */
void task_read_ready(struct task *task)
{
    char text[300];
    while (task->ready_fd >= 0) {
        ssize_t n = receive_ready(task, text, sizeof text - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close(task->ready_fd);
            task->ready_fd = -1;
            task->executed = task->ready && !*task->reason;
            return;
        }
        text[n] = 0;
        task->ready |= *text == 'R';
        for (int i = 0; i < 2 && *text == 'R'; i++)
            if (task->out[i].labelled && task->out[i].sink < 0)
                snprintf(task->reason, sizeof task->reason, "Could not take over the %s file", STREAM_NAMES[i + 1]);
        if (*text == 'E')
            snprintf(task->reason, sizeof task->reason, "%.*s", (int)sizeof task->reason - 1, text + 1);
    }
}

/* What is said where the task's stderr goes: only to regular files, which cannot make stepd wait. */
void task_line(struct task *task, const char *line, size_t length)
{
    struct stat st;
    if (task->message_fd >= 0 && fstat(task->message_fd, &st) == 0 && S_ISREG(st.st_mode))
        write_all(task->message_fd, line, length);
    io_append(task, task->out[1].wanted ? 1 : 0, line, length);
}

void task_message(struct step *step, struct task *task, const char *text, size_t length)
{
    char line[1000 + LOG_PREFIX_BYTES_MAX + 2];
    size_t n = log_prefix(step->spec.log_time, line, sizeof line, "error: ");
    n += (size_t)snprintf(line + n, sizeof line - n, "%.*s\n", length > 1000 ? 1000 : (int)length, text);
    task_line(task, line, n);
}

/* What srun --slurmd-debug asks to be told: by the first task. */
void step_debug(struct step *step, int level, const char *format, ...)
{
    char line[1200];
    if (step->spec.debug < level || !step->spec.task_count)
        return;
    size_t n = log_prefix(step->spec.log_time, line, sizeof line, level > STEP_DEBUG_VERBOSE ? "debug:  " : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + n, sizeof line - n - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    task_line(&step->spec.tasks[0], line, strlen(line));
}
