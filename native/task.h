/*
 * A task of the step: its process from the fork to the program, and its standard streams as stepd holds them.
 * Called by: stepd.c, io.c, hooks.c, mpi.c. Calls: environment.c, hooks.c, namespace.c, procs.c, log.c, io.c.
 */
#ifndef MUSTER_TASK_H
#define MUSTER_TASK_H

#include "string_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#define STATUS_OUT_OF_MEMORY 125 /* as 0:125: the kernel killed something of the step for its memory */
#define STATUS_LAUNCH_FAILED 53  /* raw wait status: Slurm shows 0:53 when a task could not be set up */
#define STEP_DEBUG_VERBOSE 4

struct step;

enum target_kind { TARGET_NULL, TARGET_STREAM, TARGET_FILE, TARGET_PTY, TARGET_SAME };

struct target {
    enum target_kind kind;
    int flags;     /* of open(2), for TARGET_FILE */
    bool labelled; /* a file whose lines stepd writes, behind the task's label */
    const char *path;
};

enum task_phase { TASK_WAITING, TASK_RUNNING, TASK_EPILOG, TASK_DONE };

/* Output of one task on one stream: bytes [base, end) are here, those before `acked` may go. */
struct stream {
    int fd;      /* -1: closed */
    bool wanted; /* the target is a stream or pty: stepd reads it */
    bool eof;
    uint64_t base, end, acked;
    char *kept;
    size_t room;
    int sink;           /* -1, or the file that stepd writes the labelled lines to: then no client sees them */
    bool labelled;      /* what stepd adds of its own (io_append) stands there without the label */
    char *partial_line; /* of a labelled stream: what has come of a line that has not ended */
    size_t partial_length;
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
    const char *program;          /* what to execute when it is not argv[0] looked up in PATH */
    const char *label;            /* what stands before each line in labelled files */
    const char *cpus;             /* list, "" when not bound */
    const char *memory;           /* "bind 0,1" or "prefer 0": NUMA nodes; "" when not bound */
    struct strings binding_lines; /* lines about that, each in two halves around the process id */
    struct strings remarks;       /* further lines for its stderr, as they are */
    struct strings failing;       /* why it cannot run although the step does: it says so and exits with 1 */
    struct target target[3];
    int pmi_fd; /* its end of the socket to the helper; -1: none */
    enum task_phase phase;
    pid_t pid, epilog_pid;
    int ready_fd; /* the child tells here that it is ready, or why it is not */
    bool ready, executed;
    int epilog_output_fd; /* the error output of its epilog while that runs */
    int message_fd;       /* the file that is the task's stderr, to say why it is ended; -1: none */
    int status;           /* raw, as wait4 gives it */
    char reason[256];
    struct rusage usage;
    struct timespec started, ended;
    struct input in;
    struct stream out[2];
};

/* What a child of stepd knows between fork and exec. */
struct launch {
    int ready_fd;       /* there it says that it is ready, or why not */
    char remarks[2048]; /* for the task's standard error, which is not open yet */
};

bool task_all_plain(struct step *step);
bool task_start(struct step *step, struct task *task, const int *gate);
void task_become_user(struct step *step);
void task_read_ready(struct task *task);
void task_line(struct task *task, const char *line, size_t length);
void task_message(struct step *step, struct task *task, const char *text, size_t length);
void step_debug(struct step *step, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
