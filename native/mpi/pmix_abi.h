/*
 * What this uses of the PMIx standard's interface for servers (version 3 and later, as libpmix.so.2 has it): types,
 * numbers and names as the standard gives them, so that nothing of PMIx is needed to build.
 */
#ifndef MUSTER_PMIX_ABI_H
#define MUSTER_PMIX_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NAME_ROOM 256
#define KEY_ROOM 512
#define RANK_ALL (UINT32_MAX - 1)

enum { OK = 0, FAILED = -1, TIMED_OUT = -24, NOT_FOUND = -46, NOT_SUPPORTED = -47 };
enum { PROC_ABORTED = -7, LOST_CONNECTION = -61, LOST_CLIENT = -103, ENDED_EARLY = -200, KILLED_BY_SIGNAL = -402 };
enum {
    TYPE_BOOL = 1,
    TYPE_STRING = 3,
    TYPE_UINT16 = 13,
    TYPE_UINT32 = 14,
    TYPE_INFO = 24,
    TYPE_ARRAY = 39,
    TYPE_RANK = 40
};

struct proc {
    char name_space[NAME_ROOM];
    uint32_t rank;
};
struct array {
    uint16_t type;
    size_t size;
    void *at;
};
struct value {
    uint16_t type;
    union {
        bool flag;
        char *string;
        uint16_t u16;
        uint32_t u32;
        struct array *array;
        struct {
            char *name, *value;
            char separator;
        } largest;
    } is;
};
struct info {
    char key[KEY_ROOM];
    uint32_t flags;
    struct value value;
};

typedef void (*release_call)(void *data);
typedef void (*done_call)(int status, void *data);
typedef void (*modex_call)(int status, const char *bytes, size_t n, void *data, release_call release,
                           void *release_data);
typedef void (*direct_call)(int status, char *bytes, size_t n, void *data);
typedef void (*handled_call)(int status, struct info *results, size_t n, done_call done, void *done_data, void *data);
typedef void (*event_call)(size_t handler, int status, const struct proc *source, struct info *info, size_t info_count,
                           struct info *results, size_t result_count, handled_call handled, void *data);
typedef void (*registered_call)(int status, size_t handler, void *data);

/* The server's upcalls in their order; those that are not here are not offered. */
struct upcalls {
    int (*client_connected)(const struct proc *who, void *object, done_call done, void *data);
    int (*client_finalized)(const struct proc *who, void *object, done_call done, void *data);
    int (*abort)(const struct proc *who, void *object, int status, const char *text, struct proc *which, size_t n,
                 done_call done, void *data);
    int (*fence)(const struct proc *who, size_t n, const struct info *info, size_t info_count, char *bytes,
                 size_t byte_count, modex_call done, void *data);
    int (*direct_modex)(const struct proc *who, const struct info *info, size_t info_count, modex_call done,
                        void *data);
    void *others[48];
};

struct library {
    int (*init)(struct upcalls *upcalls, struct info *info, size_t n);
    int (*finalize)(void);
    const char *(*version)(void);
    int (*regex)(const char *nodes, char **out);
    int (*ppn)(const char *ranks, char **out);
    int (*register_space)(const char *name, int local, struct info *info, size_t n, done_call done, void *data);
    int (*register_client)(const struct proc *who, uid_t uid, gid_t gid, void *object, done_call done, void *data);
    int (*setup_fork)(const struct proc *who, char ***environment);
    int (*direct_request)(const struct proc *who, direct_call done, void *data);
    int (*register_handler)(int *codes, size_t n, struct info *info, size_t info_count, event_call call,
                            registered_call done, void *data);
};

#endif
