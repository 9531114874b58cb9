/*
 * mpi-helper: one process per step and node that speaks PMI-1, PMI-2 or PMIx with the step's tasks. stepd starts it as
 * the job's user;
 * ../README.md describes its settings, its lines and what travels between the helpers of a step.
 *   helper.c      settings, the poll loop, the lines to and from stepd
 *   bytes.c       growing buffers
 *   links.c       the reliable streams to the parent and the children in the tree of nodes
 *   collective.c  what all nodes of a step bring together, and names that a step publishes
 *   pmi.c         PMI-1 and PMI-2 of one task
 *   store.c       keys and values
 *   pmix.c        the PMIx server: libpmix, loaded when it is wanted
 */
#ifndef MUSTER_MPI_HELPER_H
#define MUSTER_MPI_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES_MAX 65536u
#define TASKS_MAX 4000000u
#define MESSAGE_BYTES_MAX                                                                                              \
    (256u * 1024u * 1024u) /* one message between helpers: what all tasks of a step put before a fence */
#define QUEUE_BYTES_MAX (1024u * 1024u * 1024u) /* kept for one neighbour that does not acknowledge */
#define CHUNK_BYTES 65536u
#define COLLECTIVES_MAX 4096u
#define NAMES_MAX 4096u
#define LINE_BYTES_MAX (1024u * 1024u) /* one request of a task */
#define KEY_BYTES_MAX 64u
#define VALUE_BYTES_MAX 1024u
#define FLUSH_MS 5000 /* how long neighbours may take to have everything when the tasks are done */
#define NOBODY UINT32_MAX

/* bytes.c */
struct bytes {
    char *at;
    size_t room, have, done;
};
void bytes_put(struct bytes *b, const void *from, size_t n);
void bytes_put8(struct bytes *b, uint8_t value);
void bytes_put32(struct bytes *b, uint32_t value);
void bytes_put64(struct bytes *b, uint64_t value);
void bytes_put_text(struct bytes *b, const char *text);
void bytes_put_block(struct bytes *b, const void *from, size_t n);
void bytes_drop(struct bytes *b, size_t n);
void bytes_free(struct bytes *b);
void *claim(size_t count, size_t size);
char *claim_text(const char *text, size_t n);
/* Reading: false where there is not so much. */
struct reader {
    const char *at;
    size_t left;
};
struct reader bytes_reader(const struct bytes *b);
bool read8(struct reader *r, uint8_t *value);
bool read32(struct reader *r, uint32_t *value);
bool read64(struct reader *r, uint64_t *value);
bool read_block(struct reader *r, const char **at, size_t *n);

/* helper.c: the step as the settings describe it */
struct node {
    char *name;
    uint32_t *ranks;
    uint32_t rank_count;
};
struct local {
    uint32_t rank;
    int fd;
}; /* a task of this node; fd: its PMI socket, -1 none */
struct step {
    const char *kind, *job, *number, *id, *name_space, *ports, *directory, *client_directory, *shared_directory;
    uint32_t uid, gid, index, width, size, node_count, local_count;
    long timeout_s, debug;
    struct node *nodes;
    uint32_t *node_of; /* rank → node */
    struct local *locals;
    int control, listener;
    char **environment;
    size_t environment_count;
};
extern struct step step;
long long now_ms(void);
void tell(const char *word, const char *text); /* a line for stepd */
void step_abort(void);                         /* everything of the step is to end */
void fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void debug_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *step_mapping(void);

/* links.c */
enum message { CONTRIBUTION = 1, RESULT, NAME_REQUEST, NAME_ANSWER, MODEX_REQUEST, MODEX_ANSWER };
void links_open(void);
size_t links_watch(void *pollfds, size_t room);
void links_serve(void *pollfds, size_t count);
bool links_flushed(void);
void send_to(uint32_t node, enum message type, uint32_t id, const struct bytes *body);
void send_to_children(enum message type, uint32_t id, const char *body, size_t n);
void received(enum message type, uint32_t from, uint32_t id, struct reader body);

/* collective.c */
typedef void (*collected)(void *context, int status, const char *data, size_t n);
void collect(const char *key, size_t key_length, uint32_t nodes, const struct bytes *data, long timeout_s,
             collected done, void *context);
long long collective_deadline_ms(void);
void collective_expire(void);
typedef void (*named)(void *context, bool good, const char *port);
enum name_request { NAME_PUBLISH, NAME_UNPUBLISH, NAME_LOOKUP };
void name_ask(enum name_request what, const char *name, const char *port, named done, void *context);

/* store.c */
struct store;
struct store *store_new(void);
void store_put(struct store *s, const char *key, const char *value);
const char *store_get(const struct store *s, const char *key);
bool store_remove(struct store *s, const char *key);
size_t store_count(const struct store *s);
bool store_at(const struct store *s, size_t index, const char **key, const char **value);
void store_clear(struct store *s);

/* pmi.c */
void pmi_open(void);
size_t pmi_watch(void *pollfds, size_t room);
void pmi_serve(void *pollfds, size_t count);

/* pmix.c */
bool pmix_load(char *error, size_t room);
const char *pmix_version(void);
void pmix_open(void);
int pmix_wake_fd(void);
void pmix_serve(void);
void pmix_modex_asked(uint32_t from, uint32_t id, struct reader body);
void pmix_modex_answered(uint32_t id, struct reader body);
long long pmix_deadline_ms(void);
void pmix_expire(void);
void pmix_task_ended(uint32_t rank);
void pmix_close(void);

#endif
