/*
 * slurmstepd: one process per step per node, the parent of the step's tasks.
 * README.md describes the launch specification and the frames; this header ties the parts together:
 *   spec.c    reads the launch specification
 *   task.c    what a child does between fork and exec
 *   hooks.c   task prolog and task epilog, run as the user
 *   io.c      output kept by offset, standard input, clients of the socket
 *   status.c  the durable record of what became of every task
 *   procs.c   finding and killing everything a step left behind
 *   namespace.c  the file system as a job sees it
 *   container.c  a task whose container has to be created and started
 *   pam.c        a PAM session around the step
 *   mpi.c        the process that speaks PMI with the tasks
 *   serve.c   starts steps on request, without a new program for each
 *   stepd.c   start, the event loop, the end
 */
#ifndef MUSTER_STEPD_H
#define MUSTER_STEPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#define OUTPUT_KEPT_BYTES (1024u * 1024u) /* unacknowledged output of one task; then its pipes are left alone */
#define STDIN_WINDOW_BYTES (256u * 1024u) /* standard input taken ahead of what the task has read */
#define FRAME_DATA_BYTES (32u * 1024u)    /* data in one frame to a client */
#define FRAME_IN_BYTES (256u * 1024u)     /* longest frame taken from a client */
#define LABELLED_LINE_BYTES 65536u        /* a longer line of a labelled file is broken */
#define GATHER_TASKS 16                   /* from so many on, a round that brought little is followed by a short wait */
#define GATHER_FIRST_US 300
#define GATHER_MOST_US 20000
#define LAST_READS 8      /* from a task that writes no more, in one round */
#define FLOOD_BYTES 16384 /* read at once from one task: no time to wait */
#define CLIENTS_MAX 64
#define SPEC_BYTES_MAX (64u * 1024u * 1024u)
#define TASKS_MAX 65536
#define CGROUPS_MAX 24
#define LINGER_MS_DEFAULT 2000   /* how long unread output may keep a finished step after 'finish' */
#define STATUS_OUT_OF_MEMORY 125 /* as 0:125: the kernel killed something of the step for its memory */
#define STATUS_LAUNCH_FAILED 53  /* raw wait status: Slurm shows 0:53 when a task could not be set up */

enum target_kind { TARGET_NULL, TARGET_STREAM, TARGET_FILE, TARGET_PTY, TARGET_SAME };

struct target {
    enum target_kind kind;
    int flags;     /* of open(2), for TARGET_FILE */
    bool labelled; /* a file whose lines stepd writes, behind the task's label */
    const char *path;
};

struct strings {
    char **items;
    size_t count, room;
};

enum task_phase { TASK_WAITING, TASK_RUNNING, TASK_EPILOG, TASK_DONE };

/* Output of one task on one stream: bytes [base, end) are here, those before `acked` may go. */
struct stream {
    int fd;      /* -1: closed */
    bool wanted; /* the target is a stream or pty: somebody reads it here */
    bool eof;
    uint64_t base, end, acked;
    char *kept;
    size_t room;
    int sink;      /* -1, or the file that stepd writes the labelled lines to: then no client sees them */
    bool labelled; /* what stepd adds of its own (io_append) stands there without the label */
    char *line;    /* of a labelled stream: what has come of a line that has not ended */
    size_t line_length;
    size_t after_end; /* bytes read since the step was over */
};

struct input {
    int fd; /* -1: the task has no open standard input here */
    bool wanted, eof, closed;
    uint64_t written, taken; /* bytes the task's pipe accepted; bytes taken from clients */
    uint64_t injected;       /* of those taken, the ones that no primary sent: not in its offsets */
    uint64_t limit;          /* the primary's offset up to which it was allowed to send; never falls */
    char *held;              /* [written, taken) */
    size_t room;
};

struct task {
    uint32_t id; /* global rank in the step */
    struct strings argv, env, cgroups;
    const char *program;    /* what to execute when it is not argv[0] looked up in PATH */
    const char *label;      /* what stands before each line in labelled files */
    const char *cpus;       /* list, "" when not bound */
    const char *memory;     /* "bind 0,1" or "prefer 0": NUMA nodes; "" when not bound */
    struct strings said;    /* lines about that, each in two halves around the process id */
    struct strings remarks; /* further lines for its stderr, as they are */
    struct strings failing; /* why it cannot run although the step does: it says so and exits with 1 */
    struct target target[3];
    int pmi_fd; /* its end of the socket to the helper; -1: none */
    enum task_phase phase;
    pid_t pid, epilog_pid;
    int ready_fd; /* the child tells here that it is ready, or why it is not */
    bool ready, executed;
    int epilog_said; /* the error output of its epilog while that runs */
    int message_fd;  /* the file that is the task's stderr, to say why it is ended; -1: none */
    int status;      /* raw, as wait4 gives it */
    char reason[256];
    struct rusage usage;
    struct timespec started, ended;
    struct input in;
    struct stream out[2];
};

struct limit {
    int resource;
    const char *name;
    rlim_t soft, hard;
    bool has_hard;
};

struct spec {
    const char *job, *step, *attempt, *node, *user, *directory, *socket_path, *log_time, *oom_events, *namespace,
        *debug_says;
    const char *mpi_helper, *mpi_socket;
    const char *channel; /* of the fabric between nodes, as MAJOR:NUMBER of its device; NULL for none */
    uid_t uid, allowed_uid;
    gid_t gid;
    gid_t *groups;
    size_t group_count;
    const char *cwd;
    mode_t umask;
    int nice, oom_score_adj;
    bool has_nice, has_oom, external, is_batch, oom_kill_step, pam, by_group, wait_children, await_caller,
        kill_on_bad_exit, lingers;
    int debug; /* what the step tells of itself on its standard error: 4 verbose, 5 debug */
    int rows, columns;
    struct limit limits[32];
    size_t limit_count;
    struct strings argv, env, cgroups, own_cgroups, kill_cgroups, prologs, epilogs, user_prologs, user_epilogs, mpi,
        mpi_directories;
    struct task *tasks;
    size_t task_count;
};

extern struct spec spec;

/* stepd.c */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool step_tasks_ended(void);
bool step_complete(void);
bool step_is_terminated(void);
void step_finish(unsigned linger_ms);
void step_terminate(void);
/* Every process of the step has SIGTERM: those with a handler for it may run that to its end. */
void step_warned(void);
/* The tasks are over and on disk; processes that relay other steps, or handle SIGTERM, are left for now. */
bool step_is_lingering(void);
const char *step_reason(void);
void step_main(int answer, const char *prefix) __attribute__((noreturn));
void step_title(const char *title);

/* serve.c */
int serve_requests(void);
void serve_tell_lingering(void);

/* namespace.c */
int namespace_main(int argc, char **argv);
bool namespace_join(const char *file);
bool namespace_adopt(const char *file);
bool namespace_has(const char *file, pid_t pid);
bool namespace_has_processes(const char *file);
bool namespace_channel(const char *device, uid_t uid, gid_t gid);

/* container.c */
int container_main(char **argv);

/* mpi.c */
bool mpi_begin(char *error, size_t room);
int mpi_control(void);
void mpi_hear(void);
bool mpi_is_aborted(void);
/* A task asks, by MPI or by its exit status where the step is so, that the whole step is ended. */
bool step_is_aborted(void);
bool mpi_is_there(void);
bool mpi_reaped(pid_t pid);
void mpi_task_ended(const struct task *task);
void mpi_finish(void);
void mpi_kill(void);
void mpi_clean(void);

/* pam.c */
bool pam_load(char *error, size_t room);
bool pam_begin(char *error, size_t room);
void pam_finish(void);

/* spec.c */
bool spec_read(const char *path, char *error, size_t error_room);
bool spec_parse(char *text, size_t length, char *error, size_t error_room);
void strings_add(struct strings *list, char *item);

/* task.c */
bool task_all_plain(void);
bool task_start(struct task *task, const int *gate);
extern int step_answer; /* where it is said that the step stands; -1: said */
void task_become_user(void);
void task_read_ready(struct task *task);
void step_watch_memory(struct task *task);
void task_line(struct task *task, const char *line, size_t length);
/* The longest beginning of a message: "[TIME] LEVEL" in the longest LogTimeFormat. */
#define LOG_PREFIX_BYTES_MAX 128
size_t log_prefix(char *line, size_t room, const char *level);
void task_message(struct task *task, const char *text, size_t length);
#define STEP_DEBUG_VERBOSE 4
void step_debug(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* hooks.c */
void hooks_run_prologs(void);
pid_t hooks_start_epilog(struct task *task);
void hooks_epilog_ended(struct task *task);

/* io.c */
bool io_open(const char *path);
void io_serve(int timeout_ms, int wake_fd, void (*on_wake)(void));
bool io_all_delivered(void);
void io_close_input(struct task *task);
void io_last_words(void);
void io_leave_outputs(void);
void io_say(const char *text, size_t length);
void io_append(struct task *task, int stream, const char *bytes, size_t n);
void io_told(void);
bool io_caller_came(void);

/* status.c */
bool status_write(bool durable);
size_t status_text(char *into, size_t room);

/* procs.c */
int procs_signal_children_tree(int signal);
int procs_signal_tasks(int signal);
int procs_suspend(void);
bool procs_are_left(void);
bool procs_linger(bool warned);
void procs_join_cgroup(const char *directory, pid_t pid, char *error, size_t error_room);
void procs_kill_cgroups(void);
long procs_oom_kills(void);

#endif
