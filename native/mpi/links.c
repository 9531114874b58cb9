/*
 * The helpers of a step form a tree: the parent of node i is (i - 1) / width. slurmd makes the connections and passes
 * bytes; when it is restarted, or a line is lost, it makes them anew. So each link is a stream with positions: what the
 * neighbour has not acknowledged is kept, and a new connection begins with how far each side has received.
 *
 * A connection: from slurmd the line "parent" or "child N"; then both ways u64 received, and chunks: u8 'D', u32
 * length, bytes of the stream, or u8 'A', u64 received. Messages in the stream: u32 length of what follows, u8 type,
 * u32 from, u32 to, u32 id, body.
 */
#define _GNU_SOURCE
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_BYTES 13u

struct link {
    uint32_t node;
    int fd;            /* -1: no connection at present */
    bool greeted;      /* the neighbour has said how far it has received */
    struct bytes kept; /* of the stream: [base, base + length) */
    uint64_t base, sent, received, acknowledged_to;
    struct bytes out, in; /* of the connection */
    struct bytes message; /* received of the stream, not yet taken */
};

static uint32_t parent_of(struct helper *helper, uint32_t node) { return (node - 1) / helper->width; }

void links_open(struct helper *helper)
{
    uint64_t first = (uint64_t)helper->index * helper->width + 1;
    helper->links.all = claim(helper->width + 1, sizeof *helper->links.all);
    if (helper->index > 0)
        helper->links.all[helper->links.count++] = (struct link){.node = parent_of(helper, helper->index), .fd = -1};
    for (uint64_t child = first; child < first + helper->width && child < helper->node_count; child++)
        helper->links.all[helper->links.count++] = (struct link){.node = (uint32_t)child, .fd = -1};
}

static struct link *link_to(struct helper *helper, uint32_t node)
{
    for (size_t i = 0; i < helper->links.count; i++)
        if (helper->links.all[i].node == node)
            return &helper->links.all[i];
    return NULL;
}

/* The neighbour by which a node is reached. */
static struct link *next_hop(struct helper *helper, uint32_t node)
{
    uint32_t at = node;
    while (at > helper->index && parent_of(helper, at) != helper->index)
        at = parent_of(helper, at);
    return at > helper->index ? link_to(helper, at) : link_to(helper, parent_of(helper, helper->index));
}

static void enqueue(struct helper *helper, struct link *l, enum message type, uint32_t from, uint32_t to, uint32_t id,
                    const char *body, size_t n)
{
    if (n > MESSAGE_BYTES_MAX - HEAD_BYTES || l->kept.have - l->kept.done + n > QUEUE_BYTES_MAX)
        fatal(helper, "mpi: more than can be exchanged with node %s", helper->nodes[l->node].name);
    bytes_put32(&l->kept, (uint32_t)(HEAD_BYTES + n));
    bytes_put8(&l->kept, (uint8_t)type);
    bytes_put32(&l->kept, from);
    bytes_put32(&l->kept, to);
    bytes_put32(&l->kept, id);
    bytes_put(&l->kept, body, n);
}

void send_to(struct helper *helper, uint32_t node, enum message type, uint32_t id, const struct bytes *body)
{
    struct reader r = bytes_reader(body);
    if (node == helper->index)
        return received(helper, type, helper->index, id, r);
    struct link *l = node < helper->node_count ? next_hop(helper, node) : NULL;
    if (l)
        enqueue(helper, l, type, helper->index, node, id, r.at, r.left);
}

void send_to_children(struct helper *helper, enum message type, uint32_t id, const char *body, size_t n)
{
    for (size_t i = 0; i < helper->links.count; i++)
        if (helper->links.all[i].node > helper->index)
            enqueue(helper, &helper->links.all[i], type, helper->index, helper->links.all[i].node, id, body, n);
}

/* Everything that neighbours are to have has reached them. */
bool links_flushed(struct helper *helper)
{
    for (size_t i = 0; i < helper->links.count; i++)
        if (helper->links.all[i].kept.have > helper->links.all[i].kept.done)
            return false;
    return true;
}

static void disconnect(struct link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    l->greeted = false;
    bytes_free(&l->out);
    bytes_free(&l->in);
}

static void deliver(struct helper *helper, struct link *l, struct reader r)
{
    uint8_t type;
    uint32_t from, to, id;
    if (!read8(&r, &type) || !read32(&r, &from) || !read32(&r, &to) || !read32(&r, &id) || to >= helper->node_count
        || from >= helper->node_count)
        fatal(helper, "mpi: node %s sent what is no message", helper->nodes[l->node].name);
    if (to == helper->index)
        return received(helper, (enum message)type, from, id, r);
    struct link *on = next_hop(helper, to);
    if (on && on != l)
        enqueue(helper, on, (enum message)type, from, to, id, r.at, r.left);
}

static void take_messages(struct helper *helper, struct link *l)
{
    for (;;) {
        struct reader r = bytes_reader(&l->message);
        uint32_t length;
        if (!read32(&r, &length))
            return;
        if (length < HEAD_BYTES || length > MESSAGE_BYTES_MAX)
            fatal(helper, "mpi: node %s sent a message of %u bytes", helper->nodes[l->node].name, length);
        if (r.left < length)
            return;
        deliver(helper, l, (struct reader){r.at, length});
        bytes_drop(&l->message, 4 + (size_t)length);
    }
}

static bool acknowledged(struct link *l, uint64_t position)
{
    if (position < l->base || position > l->base + (l->kept.have - l->kept.done))
        return false;
    bytes_drop(&l->kept, (size_t)(position - l->base));
    l->base = position;
    return true;
}

/* One chunk; 0: more is needed; -1: this is no chunk. */
static int take_chunk(struct link *l)
{
    struct reader r = bytes_reader(&l->in);
    size_t before = r.left;
    uint8_t type;
    uint64_t position;
    const char *at;
    size_t n;
    if (!l->greeted) {
        if (!read64(&r, &position))
            return 0;
        if (!acknowledged(l, position))
            return -1;
        l->sent = position;
        l->greeted = true;
    } else if (!read8(&r, &type)) {
        return 0;
    } else if (type == 'A') {
        if (!read64(&r, &position))
            return 0;
        if (position > l->sent || !acknowledged(l, position))
            return -1;
    } else if (type == 'D') {
        uint32_t length = 0;
        struct reader look = r;
        if (read32(&look, &length) && length > CHUNK_BYTES)
            return -1;
        if (!read_block(&r, &at, &n))
            return 0;
        bytes_put(&l->message, at, n);
        l->received += n;
    } else {
        return -1;
    }
    bytes_drop(&l->in, before - r.left);
    return 1;
}

static void take_chunks(struct helper *helper, struct link *l)
{
    int got;
    while ((got = take_chunk(l)) > 0)
        continue;
    if (got < 0) {
        debug_line(helper, "mpi: node %s broke the protocol of links", helper->nodes[l->node].name);
        disconnect(l);
    }
    take_messages(helper, l);
}

static void read_link(struct helper *helper, struct link *l)
{
    char bytes[CHUNK_BYTES];
    ssize_t n = recv(l->fd, bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        return disconnect(l);
    bytes_put(&l->in, bytes, (size_t)n);
    take_chunks(helper, l);
}

/* Puts what there is to say into the connection's buffer, as far as that is short. */
static void fill_connection(struct link *l)
{
    if (l->fd < 0 || !l->greeted)
        return;
    if (l->acknowledged_to < l->received) {
        l->acknowledged_to = l->received;
        bytes_put8(&l->out, 'A');
        bytes_put64(&l->out, l->received);
    }
    uint64_t end = l->base + (l->kept.have - l->kept.done);
    while (l->sent < end && l->out.have - l->out.done < 4 * CHUNK_BYTES) {
        size_t n = end - l->sent > CHUNK_BYTES ? CHUNK_BYTES : (size_t)(end - l->sent);
        bytes_put8(&l->out, 'D');
        bytes_put_block(&l->out, l->kept.at + l->kept.done + (l->sent - l->base), n);
        l->sent += n;
    }
}

static void write_link(struct link *l)
{
    ssize_t n = send(l->fd, l->out.at + l->out.done, l->out.have - l->out.done, MSG_NOSIGNAL);
    if (n > 0)
        bytes_drop(&l->out, (size_t)n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        disconnect(l);
}

/* A new connection takes the place of the one before. */
static void adopt(struct helper *helper, int fd, uint32_t node, const char *rest, size_t n)
{
    struct link *l = link_to(helper, node);
    if (!l || node == helper->index) {
        close(fd);
        return;
    }
    disconnect(l);
    l->fd = fd;
    l->acknowledged_to = l->received;
    bytes_put64(&l->out, l->received);
    bytes_put(&l->in, rest, n);
    take_chunks(helper, l);
}

static bool introduced(struct helper *helper, struct caller *c)
{
    ssize_t n = recv(c->fd, c->text + c->have, sizeof c->text - 1 - c->have, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    c->have += n > 0 ? (size_t)n : 0;
    c->text[c->have] = 0;
    char *end = memchr(c->text, '\n', c->have);
    if (!end && n > 0 && c->have < sizeof c->text - 1)
        return false;
    char *number = NULL;
    if (end)
        *end = 0;
    if (end && !strcmp(c->text, "parent") && helper->index > 0)
        adopt(helper, c->fd, parent_of(helper, helper->index), end + 1, (size_t)(c->text + c->have - end - 1));
    else if (end && !strncmp(c->text, "child ", 6))
        adopt(helper, c->fd, (uint32_t)strtoul(c->text + 6, &number, 10), end + 1,
              (size_t)(c->text + c->have - end - 1));
    else
        close(c->fd);
    return true;
}

/* The peer is slurmd: the socket lies in a directory that nobody else can enter. */
static void accept_caller(struct helper *helper)
{
    int fd = accept4(helper->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && helper->links.caller_count < CALLERS_MAX)
        helper->links.callers[helper->links.caller_count++] = (struct caller){.fd = fd};
    else if (fd >= 0)
        close(fd);
}

size_t links_watch(struct helper *helper, void *pollfds, size_t room)
{
    struct pollfd *p = pollfds;
    size_t n = 0;
    if (helper->listener >= 0 && n < room)
        p[n++] = (struct pollfd){helper->listener, POLLIN, 0};
    for (size_t i = 0; i < helper->links.caller_count && n < room; i++)
        p[n++] = (struct pollfd){helper->links.callers[i].fd, POLLIN, 0};
    for (size_t i = 0; i < helper->links.count && n < room; i++) {
        fill_connection(&helper->links.all[i]);
        if (helper->links.all[i].fd >= 0)
            p[n++] = (struct pollfd){
                helper->links.all[i].fd,
                (short)(POLLIN | (helper->links.all[i].out.have > helper->links.all[i].out.done ? POLLOUT : 0)), 0};
    }
    return n;
}

static void serve_fd(struct helper *helper, int fd, short events)
{
    if (fd == helper->listener)
        return accept_caller(helper);
    for (size_t i = 0; i < helper->links.caller_count; i++)
        if (helper->links.callers[i].fd == fd) {
            if (introduced(helper, &helper->links.callers[i]))
                helper->links.callers[i] = helper->links.callers[--helper->links.caller_count];
            return;
        }
    for (size_t i = 0; i < helper->links.count; i++) {
        if (helper->links.all[i].fd != fd)
            continue;
        if (events & (POLLIN | POLLHUP | POLLERR))
            read_link(helper, &helper->links.all[i]);
        if (helper->links.all[i].fd == fd && events & POLLOUT)
            write_link(&helper->links.all[i]);
        return;
    }
}

void links_serve(struct helper *helper, void *pollfds, size_t count)
{
    struct pollfd *p = pollfds;
    for (size_t i = count;
         i-- > 0;) /* the listener, which is first, last: a descriptor that it opens is not one of these */
        if (p[i].revents)
            serve_fd(helper, p[i].fd, p[i].revents);
}
