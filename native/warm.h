/*
 * The short path of commands: a request to the command service of this machine. Called by: launcher.c, natives.c.
 * Calls: service.c.
 */
#ifndef MUSTER_WARM_H
#define MUSTER_WARM_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launcher;

struct bytes {
    char *at;
    size_t have, room;
};

struct position {
    uint32_t task;
    uint8_t stream;
    uint64_t offset;
};

/* The conversation with the service. */
struct warm {
    int service; /* its connection */
    int signals; /* where srun's signals are read; -1: they are not */
    sigset_t callers_mask;
    bool has_output;
    bool follows_step;              /* srun */
    struct bytes taken_input;       /* read from standard input for the service: the long path must get it as well */
    unsigned long long taken_bytes; /* of standard input in all; a step's is kept to its last part only */
    size_t input_asked;             /* bytes of standard input that the service wants; 0: none */
    long long heard_ms;
    struct bytes checkpoint;    /* what a long path of srun needs to go on with the step */
    struct position *positions; /* how far each stream of the step has come */
    size_t position_count, position_room;
    char directory[PATH_MAX]; /* the working directory, once it was asked for */
};

/* True when the command was carried out there; then *rc is its exit code. */
bool warm_run(struct launcher *launcher, int *rc);
bool warm_unfinished(struct launcher *launcher, const char **state, size_t *state_bytes, char **progress,
                     const char **input, size_t *input_bytes);

#endif
