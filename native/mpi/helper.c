/*
 * mpi-helper [--list | --has KIND]: what there is of MPI on this machine.
 * mpi-helper, started by stepd: settings as lines "name value" on standard input, up to its end; then it serves the
 * step's tasks.
 */
#define _GNU_SOURCE
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Without a newline in it: a line is one word and one text. */
void send_stepd_line(struct helper *helper, const char *word, const char *text)
{
    struct bytes b = {0};
    bytes_put_text(&b, word);
    if (*text)
        bytes_put(&b, " ", 1);
    bytes_put_text(&b, text);
    bytes_put(&b, "\n", 1);
    while (helper->control >= 0 && b.have > b.done) {
        ssize_t n = send(helper->control, b.at + b.done, b.have - b.done, MSG_NOSIGNAL);
        if (n > 0)
            bytes_drop(&b, (size_t)n);
        else if (n == 0 || errno != EINTR)
            break;
    }
    bytes_free(&b);
}

void step_abort(struct helper *helper) { send_stepd_line(helper, "abort", ""); }

void fatal(struct helper *helper, const char *format, ...)
{
    char text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_stepd_line(helper, "error", text);
    step_abort(helper);
    _exit(1);
}

void debug_line(struct helper *helper, const char *format, ...)
{
    char text[500];
    va_list arguments;
    if (!helper->debug)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_stepd_line(helper, "log", text);
}

/* ---- settings ---- */

static uint32_t parse_number(struct helper *helper, const char *text, uint32_t most)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || (*end && *end != ' ') || n > most)
        fatal(helper, "mpi: bad number in a setting: %s", text);
    return (uint32_t)n;
}

/* "0-3,8" */
static void read_ranks(struct helper *helper, struct node *node, const char *list)
{
    for (const char *at = list; *at; at += *at == ',') {
        char *end;
        unsigned long low = strtoul(at, &end, 10), high = low;
        if (end == at)
            fatal(helper, "mpi: bad list of ranks: %s", list);
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        if (high < low || high >= helper->size)
            fatal(helper, "mpi: bad list of ranks: %s", list);
        node->ranks = realloc(node->ranks, (node->rank_count + high - low + 1) * sizeof *node->ranks);
        if (!node->ranks)
            abort();
        for (unsigned long r = low; r <= high; r++)
            node->ranks[node->rank_count++] = (uint32_t)r;
        at = end;
    }
}

static void add_node(struct helper *helper, char *text)
{
    char *space = strchr(text, ' ');
    if (!space || helper->node_count >= NODES_MAX)
        fatal(helper, "mpi: bad node: %s", text);
    *space = 0;
    helper->nodes = realloc(helper->nodes, (helper->node_count + 1) * sizeof *helper->nodes);
    if (!helper->nodes)
        abort();
    struct node *node = &helper->nodes[helper->node_count++];
    *node = (struct node){.name = text};
    read_ranks(helper, node, space + 1);
    for (uint32_t i = 0; i < node->rank_count; i++)
        helper->node_of[node->ranks[i]] = helper->node_count - 1;
}

static void add_local(struct helper *helper, const char *text)
{
    char *space = strchr(text, ' ');
    helper->locals = realloc(helper->locals, (helper->local_count + 1) * sizeof *helper->locals);
    if (!helper->locals || !space)
        abort();
    helper->locals[helper->local_count++] = (struct local){parse_number(helper, text, TASKS_MAX), atoi(space + 1)};
}

static void add_variable(struct helper *helper, char *entry)
{
    helper->environment = realloc(helper->environment, (helper->environment_count + 1) * sizeof *helper->environment);
    if (!helper->environment)
        abort();
    helper->environment[helper->environment_count++] = entry;
}

/* Keeps `value`, or frees it. */
static void apply_setting(struct helper *helper, const char *name, char *value)
{
    const struct {
        const char *name;
        const char **where;
    } texts[] = {
        {"kind", &helper->kind},
        {"job", &helper->job},
        {"step", &helper->number},
        {"id", &helper->id},
        {"namespace", &helper->name_space},
        {"ports", &helper->ports},
        {"directory", &helper->directory},
        {"client_directory", &helper->client_directory},
        {"shared_directory", &helper->shared_directory},
    };
    const struct {
        const char *name;
        uint32_t *where;
        uint32_t most;
    } numbers[] = {
        {"uid", &helper->uid, UINT32_MAX},    {"gid", &helper->gid, UINT32_MAX},  {"index", &helper->index, NODES_MAX},
        {"width", &helper->width, NODES_MAX}, {"size", &helper->size, TASKS_MAX},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!strcmp(name, texts[i].name)) {
            *texts[i].where = value;
            return;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strcmp(name, numbers[i].name)) {
            *numbers[i].where = parse_number(helper, value, numbers[i].most);
            free(value);
            if (!strcmp(name, "size"))
                helper->node_of = claim(helper->size, sizeof *helper->node_of);
            return;
        }
    if (!strcmp(name, "node"))
        return add_node(helper, value);
    if (!strcmp(name, "env"))
        return add_variable(helper, value);
    if (!strcmp(name, "control"))
        helper->control = atoi(value);
    else if (!strcmp(name, "listener"))
        helper->listener = atoi(value);
    else if (!strcmp(name, "timeout"))
        helper->timeout_s = atol(value);
    else if (!strcmp(name, "debug"))
        helper->debug = atol(value);
    else if (!strcmp(name, "task"))
        add_local(helper, value);
    else
        fatal(helper, "mpi: unknown setting %s", name);
    free(value);
}

static void read_settings(struct helper *helper)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0) {
        if (line[n - 1] == '\n')
            line[--n] = 0;
        char *space = strchr(line, ' ');
        if (!space)
            fatal(helper, "mpi: bad setting");
        *space = 0;
        apply_setting(helper, line, claim_text(space + 1, (size_t)(line + n - space - 1)));
    }
    free(line);
    if (!helper->kind || !helper->id || !helper->node_of || helper->index >= helper->node_count || !helper->width
        || !helper->local_count || helper->local_count > helper->nodes[helper->index].rank_count)
        fatal(helper, "mpi: the settings are not complete");
}

/* ---- the mapping of ranks to nodes, as PMI gives it ---- */

struct run {
    uint32_t node, nodes, each;
};

/* Runs of nodes in a row with equally many ranks each; the shortest part that, repeated, makes the whole. */
char *step_mapping(struct helper *helper)
{
    struct run *runs = claim(helper->size, sizeof *runs);
    size_t count = 0, period = 1;
    for (uint32_t r = 0; r < helper->size;) {
        uint32_t node = helper->node_of[r], each = 0;
        for (; r < helper->size && helper->node_of[r] == node; r++)
            each++;
        struct run *last = count ? &runs[count - 1] : NULL;
        if (last && last->each == each && last->node + last->nodes == node)
            last->nodes++;
        else
            runs[count++] = (struct run){node, 1, each};
    }
    for (bool fits = false; !fits && period < count; period += !fits) {
        fits = count % period == 0;
        for (size_t i = period; i < count && fits; i++)
            fits = !memcmp(&runs[i], &runs[i - period], sizeof *runs);
    }
    struct bytes text = {0};
    bytes_put_text(&text, "(vector");
    for (size_t i = 0; i < period; i++) {
        char one[48];
        snprintf(one, sizeof one, ",(%u,%u,%u)", runs[i].node, runs[i].nodes, runs[i].each);
        bytes_put_text(&text, one);
    }
    bytes_put(&text, ")", 2);
    free(runs);
    if (text.have <= VALUE_BYTES_MAX)
        return text.at;
    bytes_free(&text);
    return NULL;
}

/* ---- the loop ---- */

static void handle_stepd_line(struct helper *helper, const char *text)
{
    if (!strncmp(text, "exit ", 5)) {
        pmix_task_ended(helper, parse_number(helper, text + 5, TASKS_MAX));
    } else if (!strcmp(text, "finish") && !helper->finishing) {
        helper->finishing = true;
        helper->finish_at_ms = now_ms() + FLUSH_MS;
    }
}

/* Lines: "exit RANK", and "finish" when the tasks are done. stepd's end is the helper's. */
static void read_stepd_lines(struct helper *helper)
{
    char text[4096], *newline;
    ssize_t n = recv(helper->control, text, sizeof text, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        pmix_close(helper);
        _exit(0);
    }
    if (n > 0)
        bytes_put(&helper->stepd_lines, text, (size_t)n);
    while (helper->stepd_lines.have > helper->stepd_lines.done
           && (newline = memchr(helper->stepd_lines.at + helper->stepd_lines.done, '\n',
                                helper->stepd_lines.have - helper->stepd_lines.done))) {
        *newline = 0;
        handle_stepd_line(helper, helper->stepd_lines.at + helper->stepd_lines.done);
        helper->stepd_lines.done = (size_t)(newline + 1 - helper->stepd_lines.at);
    }
}

static int timeout_ms(struct helper *helper)
{
    long long first = helper->finishing ? helper->finish_at_ms : 0,
              others[] = {collective_deadline_ms(helper), pmix_deadline_ms(helper)}, now = now_ms();
    for (size_t i = 0; i < 2; i++)
        if (others[i] && (!first || others[i] < first))
            first = others[i];
    return !first ? -1 : first <= now ? 0 : first - now > 60000 ? 60000 : (int)(first - now);
}

static void run_loop(struct helper *helper)
{
    size_t room = helper->local_count + helper->width + 96;
    struct pollfd *p = claim(room, sizeof *p);
    while (!helper->finishing
           || ((!links_flushed(helper) || pmix_deadline_ms(helper)) && now_ms() < helper->finish_at_ms)) {
        int wake = pmix_wake_fd();
        size_t first = 1 + (wake >= 0), tasks, links;
        p[0] = (struct pollfd){helper->control, POLLIN, 0};
        if (wake >= 0)
            p[1] = (struct pollfd){wake, POLLIN, 0};
        tasks = pmi_watch(helper, p + first, room - first);
        links = links_watch(helper, p + first + tasks, room - first - tasks);
        int events = poll(p, first + tasks + links, timeout_ms(helper));
        if (events < 0 && errno != EINTR)
            fatal(helper, "mpi: poll: %s", strerror(errno));
        if (events > 0) {
            if (p[0].revents)
                read_stepd_lines(helper);
            if (wake >= 0 && p[1].revents)
                pmix_serve(helper);
            pmi_serve(helper, p + first, tasks);
            links_serve(helper, p + first + tasks, links);
        }
        collective_expire(helper);
        pmix_expire(helper);
    }
    free(p);
}

static int list(const char *kind)
{
    char error[300];
    bool has = pmix_load(error, sizeof error);
    if (kind && (!strcmp(kind, "pmi2") || !strcmp(kind, "none")))
        return 0;
    if (kind && has && (!strcmp(kind, "pmix") || !strcmp(kind, pmix_version())))
        return 0;
    if (kind) {
        fprintf(stderr, "%s\n", has ? "not known" : error);
        return 1;
    }
    printf("none\npmi2\n");
    if (has)
        printf("pmix\n%s\n", pmix_version());
    return 0;
}

int main(int argc, char **argv)
{
    static struct helper state = {.control = -1,
                                  .listener = -1,
                                  .width = 16,
                                  .ports = "",
                                  .directory = "",
                                  .client_directory = "",
                                  .shared_directory = ""};
    struct helper *helper = &state;
    if (argc == 2 && !strcmp(argv[1], "--list"))
        return list(NULL);
    if (argc == 3 && !strcmp(argv[1], "--has"))
        return list(argv[2]);
    if (argc != 1) {
        fprintf(stderr, "usage: mpi-helper --list\n");
        return 2;
    }
    for (int s = 1; s <= 64; s++) /* what is sent to the whole step is not meant for it */
        if (s != SIGSEGV && s != SIGBUS && s != SIGFPE && s != SIGILL && s != SIGABRT && s != SIGCHLD)
            signal(s, SIG_IGN);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    read_settings(helper);
    links_open(helper);
    if (!strcmp(helper->kind, "pmi2"))
        pmi_open(helper);
    else
        pmix_open(helper);
    send_stepd_line(helper, "ready", "");
    run_loop(helper);
    pmix_close(helper);
    return 0;
}
